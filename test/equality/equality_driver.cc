// SPDX-License-Identifier: Apache-2.0
//
// One source, built against CompassDB and against RocksDB. Runs operations that
// follow from the flags alone and prints what happened; compare_transcripts.py
// requires the same bytes from both.
//
//   equality_driver --db=DIR --scenario=all            (or a name, or list)
//   equality_driver --db=DIR --profile=mixed --seed=3 --ops=5000

#include <cstdio>
#include <filesystem>

#include "equality/transcript.h"
#include "support/db_executor.h"
#include "support/flags.h"
#include "support/generator.h"
#include "support/text.h"

namespace compassdb_test {
namespace {

int RunScenarios(const std::string& directory, const std::string& wanted) {
  bool found = false;
  for (const auto& group : {OpenScenarios(), WriteScenarios(), ReadScenarios(),
                            CompactionScenarios(), ListenerScenarios(), OptionScenarios(), OptionFileScenarios(),
                            CopyScenarios(), ControlScenarios(), BatchIndexScenarios(), TransactionScenarios(),
                              EntityScenarios(), LogScenarios(), TimestampScenarios(), TimedScenarios(),
                              WalkScenarios(), PathScenarios(), FilterScenarios(),
                              EnvScenarios(), TraceScenarios(), FileChecksumScenarios()}) {
    for (const Scenario& scenario : group) {
      if (wanted == "list") {
        printf("%s\n", scenario.name);
        found = true;
        continue;
      }
      if (wanted != "all" && wanted != scenario.name) continue;
      found = true;
      std::string path = directory + "/" + scenario.name;
      std::filesystem::remove_all(path);
      std::filesystem::create_directories(path);
      printf("== %s\n", scenario.name);
      Transcript transcript(path);
      scenario.run(&transcript);
      fflush(stdout);
      std::filesystem::remove_all(path);
    }
  }
  return found ? 0 : 2;
}

int RunRandom(const std::string& directory, const Profile& profile, uint64_t seed, uint64_t ops) {
  DbExecutor::Config config;
  config.path = directory + "/random";
  std::filesystem::remove_all(config.path);
  config.families = profile.families;
  config.tuning.seed = seed;
  config.tuning.may_skip_flush_at_close = !profile.disable_wal;
  DbExecutor executor(config);
  rocksdb::Status s = executor.Open();
  printf("open %s\n", s.ToString().c_str());
  if (!s.ok()) return 0;
  Generator generator(profile, seed);
  for (uint64_t i = 0; i < ops; i++) {
    Op op = generator.Next();
    std::string outcome = executor.Run(op);
    printf("%llu %s -> %s\n", static_cast<unsigned long long>(i), ToString(op).c_str(),
           outcome.c_str());
    if (op.kind != OpKind::kWrite) continue;
    printf("  sequence %llu\n",
           static_cast<unsigned long long>(executor.db()->GetLatestSequenceNumber()));
    if (op.batch) printf("  batch %s\n", Hex(executor.last_batch()).c_str());
  }
  for (size_t family = 0; family < profile.families.size(); family++) {
    if (executor.handle(static_cast<int>(family)) == nullptr) continue;
    for (const auto& [key, value] : executor.Dump(static_cast<int>(family), kNoSnapshot)) {
      printf("%zu %s=%s\n", family, Show(key).c_str(), Show(value).c_str());
    }
  }
  executor.Close();
  std::filesystem::remove_all(config.path);
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  std::string directory = flags.String("db", "");
  std::string scenario = flags.String("scenario", "");
  std::string profile = flags.String("profile", "mixed");
  uint64_t seed = flags.Number("seed", 1);
  uint64_t ops = flags.Number("ops", 5000);
  flags.RejectUnknown();
  if (directory.empty()) {
    fprintf(stderr, "--db=DIR is required\n");
    return 2;
  }
  std::filesystem::create_directories(directory);
  if (!scenario.empty()) return RunScenarios(directory, scenario);
  const Profile* found = FindProfile(profile);
  if (found == nullptr) {
    fprintf(stderr, "no profile named %s\n", profile.c_str());
    return 2;
  }
  return RunRandom(directory, *found, seed, ops);
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
