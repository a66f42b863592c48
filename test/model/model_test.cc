// SPDX-License-Identifier: Apache-2.0
//
// Random operations against a database and an ordered-map model; the answers
// must be equal. Everything follows from --profile and --seed:
//
//   model_test --profile=mixed --seed=1 --ops=100000
//   model_test --profile=all --seed=7 --ops=10000     (each profile in turn)
//   model_test --profile=simple --lose-one-in=200     (a canary: the database does not get
//                                                      some of the writes; must be noticed)
//
// On a difference it prints both answers, the last operations, the first
// differing entries, and the command that repeats the run; the database stays.

#include <cstdio>
#include <deque>

#include "support/db_executor.h"
#include "support/flags.h"
#include "support/generator.h"
#include "support/model_executor.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace compassdb_test {
namespace {

constexpr size_t kRemembered = 40;

class ModelTest {
 public:
  ModelTest(const Profile& profile, uint64_t seed, uint64_t ops, uint64_t lose_one_in,
            bool verbose)
      : profile_(profile), seed_(seed), ops_(ops), lose_one_in_(lose_one_in), verbose_(verbose),
        dir_("model-" + profile.name), generator_(profile, seed), model_(profile.families),
        db_(DbConfig()) {}

  bool Run() {
    rocksdb::Status s = db_.Open();
    if (!s.ok()) return Fail("open", "OK", s.ToString());
    for (done_ = 0; done_ < ops_; done_++) {
      Op op = generator_.Next();
      if (!Step(op)) return false;
    }
    return FinalCheck();
  }

 private:
  DbExecutor::Config DbConfig() {
    DbExecutor::Config config;
    config.path = dir_.path() + "/db";
    config.families = profile_.families;
    config.tuning.seed = seed_ % 4 == 0 ? 0 : seed_;
    config.tuning.may_skip_flush_at_close = !profile_.disable_wal;
    return config;
  }

  bool Step(const Op& op) {
    std::string text = std::to_string(done_) + " " + ToString(op);
    if (verbose_) fprintf(stderr, "%s\n", text.c_str());
    last_.push_back(std::move(text));
    if (last_.size() > kRemembered) last_.pop_front();
    std::string expected = model_.Run(op);
    bool lose = lose_one_in_ != 0 && op.kind == OpKind::kWrite && ++writes_ % lose_one_in_ == 0;
    std::string actual = lose ? "OK" : db_.Run(op);
    if (expected == actual) return true;
    Fail(ToString(op), expected, actual);
    if (op.kind == OpKind::kScan) Explain(op.family, op.snapshot);
    return false;
  }

  // Every family, before and after a reopen.
  bool FinalCheck() {
    for (int round = 0; round < 2; round++) {
      for (size_t family = 0; family < profile_.families.size(); family++) {
        if (!model_.model().HasFamily(static_cast<int>(family))) continue;
        Op scan;
        scan.kind = OpKind::kScan;
        scan.family = static_cast<int>(family);
        if (!Step(scan)) return false;
      }
      Op reopen;
      reopen.kind = OpKind::kReopen;
      reopen.number = seed_ + 1;
      if (round == 0 && !Step(reopen)) return false;
    }
    return true;
  }

  bool Fail(const std::string& what, const std::string& expected, const std::string& actual) {
    dir_.Keep();
    fprintf(stderr, "FAILED at operation %llu: %s\n  expected %s\n  actual   %s\n",
            static_cast<unsigned long long>(done_), what.c_str(), expected.c_str(),
            actual.c_str());
    fprintf(stderr, "the last operations:\n");
    for (const std::string& line : last_) fprintf(stderr, "  %s\n", line.c_str());
    fprintf(stderr, "database: %s\nrepeat with: --profile=%s --seed=%llu --ops=%llu\n",
            dir_.path().c_str(), profile_.name.c_str(), static_cast<unsigned long long>(seed_),
            static_cast<unsigned long long>(ops_));
    return false;
  }

  void Explain(int family, int snapshot) {
    Entries expected = model_.Dump(family, snapshot);
    Entries actual = db_.Dump(family, snapshot);
    size_t i = 0;
    while (i < expected.size() && i < actual.size() && expected[i] == actual[i]) i++;
    auto show = [&](const char* name, const Entries& entries) {
      fprintf(stderr, "%s from the first difference (entry %zu of %zu):\n", name, i,
              entries.size());
      for (size_t j = i; j < entries.size() && j < i + 3; j++) {
        fprintf(stderr, "  %s = %s\n", Show(entries[j].first).c_str(),
                Show(entries[j].second).c_str());
      }
    };
    show("model", expected);
    show("database", actual);
  }

  const Profile& profile_;
  const uint64_t seed_;
  const uint64_t ops_;
  const uint64_t lose_one_in_;  // writes; 0: none
  uint64_t writes_ = 0;
  const bool verbose_;
  TempDir dir_;
  Generator generator_;
  ModelExecutor model_;
  DbExecutor db_;
  uint64_t done_ = 0;
  std::deque<std::string> last_;
};

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  std::string profile = flags.String("profile", "all");
  uint64_t seed = flags.Number("seed", 1);
  uint64_t ops = flags.Number("ops", 10000);
  uint64_t lose_one_in = flags.Number("lose-one-in", 0);
  bool verbose = flags.Bool("verbose");
  flags.RejectUnknown();
  if (profile != "all" && FindProfile(profile) == nullptr) {
    fprintf(stderr, "no profile named %s\n", profile.c_str());
    return 2;
  }
  for (const Profile& each : Profiles()) {
    if (profile != "all" && profile != each.name) continue;
    printf("profile %s, seed %llu, %llu operations\n", each.name.c_str(),
           static_cast<unsigned long long>(seed), static_cast<unsigned long long>(ops));
    fflush(stdout);
    if (!ModelTest(each, seed, ops, lose_one_in, verbose).Run()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
