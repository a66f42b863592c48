// SPDX-License-Identifier: Apache-2.0
//
// Several threads on one database, each with its own column family, generator
// and model: the same checks as model_test, with group commit, shared memtable
// accounting, flushes and compactions in each other's way. Made for TSan.
//
//   concurrent_test --threads=4 --seed=1 --ops=20000      (operations per thread)

#include <atomic>
#include <cstdio>
#include <thread>

#include "support/db_executor.h"
#include "support/flags.h"
#include "support/generator.h"
#include "support/model_executor.h"
#include "support/temp_dir.h"

namespace compassdb_test {
namespace {

Profile OneFamily(uint64_t thread) {
  static const FamilySpec kSpecs[] = {{.merge = MergeKind::kAppend},
                                      {.reverse_order = true},
                                      {.merge = MergeKind::kCommands},
                                      {.filter = true}};
  Profile profile = *FindProfile("simple");
  profile.families = {kSpecs[thread % 4]};
  profile.reopen = 0;
  profile.keys = 500;
  profile.single_delete_share = 8;
  profile.delete_range_share = 1;
  profile.merge_share = 15;
  profile.snapshot = 20;
  return profile;
}

DbExecutor::Config ConfigFor(const std::string& path, const Profile& profile) {
  DbExecutor::Config config;
  config.path = path;
  config.families = profile.families;
  return config;
}

// True when all answers agree.
bool RunThread(const Profile& profile, uint64_t seed, uint64_t ops, rocksdb::DB* db,
               rocksdb::ColumnFamilyHandle* handle, const std::atomic<bool>* stop) {
  Generator generator(profile, seed);
  ModelExecutor model(profile.families);
  DbExecutor executor(ConfigFor("", profile));
  executor.Attach(db, {handle});
  for (uint64_t i = 0; i < ops && !stop->load(); i++) {
    Op op = generator.Next();
    if (i + 1 == ops) {
      op = Op();
      op.kind = OpKind::kScan;
    }
    std::string expected = model.Run(op);
    std::string actual = executor.Run(op);
    if (expected == actual) continue;
    fprintf(stderr, "FAILED: thread seed %llu, operation %llu: %s\n  expected %s\n  actual   %s\n",
            static_cast<unsigned long long>(seed), static_cast<unsigned long long>(i),
            ToString(op).c_str(), expected.c_str(), actual.c_str());
    return false;
  }
  return true;
}

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  uint64_t threads = flags.Number("threads", 4);
  uint64_t seed = flags.Number("seed", 1);
  uint64_t ops = flags.Number("ops", 20000);
  flags.RejectUnknown();
  printf("%llu threads, seed %llu, %llu operations each\n",
         static_cast<unsigned long long>(threads), static_cast<unsigned long long>(seed),
         static_cast<unsigned long long>(ops));
  fflush(stdout);

  TempDir dir("concurrent");
  Tuning tuning;
  tuning.seed = seed;
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options(TunedDbOptions(tuning), TunedFamilyOptions(tuning, FamilySpec(), 0));
  rocksdb::Status s = rocksdb::DB::Open(options, dir.path() + "/db", &opened);
  std::unique_ptr<rocksdb::DB> db(opened);
  std::vector<Profile> profiles;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  for (uint64_t i = 0; s.ok() && i < threads; i++) {
    profiles.push_back(OneFamily(i));
    handles.push_back(nullptr);
    s = db->CreateColumnFamily(
        TunedFamilyOptions(tuning, profiles[i].families[0], static_cast<int>(i)),
        "thread" + std::to_string(i), &handles[i]);
  }
  if (!s.ok()) {
    fprintf(stderr, "FAILED to set up: %s\n", s.ToString().c_str());
    return 1;
  }
  std::atomic<bool> failed = false;
  std::vector<std::thread> running;
  for (uint64_t i = 0; i < threads; i++) {
    running.emplace_back([&, i] {
      if (!RunThread(profiles[i], seed * 1000 + i, ops, db.get(), handles[i], &failed)) {
        failed = true;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
