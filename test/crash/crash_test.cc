// SPDX-License-Identifier: Apache-2.0
//
// Simulated power cuts. Fault model: see env/memory_file_system.h; what is
// checked: see crash_run.h.
//
//   crash_test --mode=random --seed=1 --cuts=1000   cuts at random changes of one long life
//   crash_test --mode=syncs --seed=1 --cuts=1000    fresh databases; at every sync in turn
//   crash_test --mode=canary [--leave-out=wal]      each kind of sync left out must be noticed
//
// --directory=fresh|existing: the database's directory has to be made, or is there.

#include <cstdio>

#include "crash/crash_run.h"
#include "support/flags.h"

namespace compassdb_test {
namespace {

using compassdb::CutMode;

CutMode AnyMode(Random* random) {
  static const CutMode kModes[] = {CutMode::kDropUnsynced, CutMode::kDropUnsynced,
                                   CutMode::kKeepUnsynced, CutMode::kTornBytes,
                                   CutMode::kTornPages,    CutMode::kRandom};
  return random->Pick(kModes);
}

struct Outcome {
  uint64_t cuts = 0;
  std::optional<std::string> wrong;
};

enum class Directories { kFresh, kExisting, kBoth };

bool DirectoryExists(Directories directories, Random* random) {
  bool either = random->OneIn(2);
  return directories == Directories::kBoth ? either : directories == Directories::kExisting;
}

Outcome RandomCuts(uint64_t seed, uint64_t cuts, SyncKind left_out, Directories directories) {
  Outcome outcome;
  Random random(seed);
  uint64_t usual = 300;
  for (uint64_t round = 0; outcome.cuts < cuts && !outcome.wrong; round++) {
    CrashRun run({.seed = random.Next(),
                  .operations = 150,
                  .left_out = left_out,
                  .directory_exists = DirectoryExists(directories, &random)});
    for (int life = 0; life < 20 && run.cuts() + outcome.cuts < cuts && !outcome.wrong; life++) {
      // One in five falls into opening and recovery.
      uint64_t at = random.OneIn(5) ? random.Range(1, 30) : random.Range(1, usual);
      outcome.wrong = run.Life(at, 0, AnyMode(&random));
      if (run.changes() < at) usual = (usual + run.changes()) / 2 + 20;
      if (outcome.wrong) {
        *outcome.wrong += "; round " + std::to_string(round) + ", life " + std::to_string(life);
      }
    }
    outcome.cuts += run.cuts();
  }
  return outcome;
}

Outcome CutsAtSyncs(uint64_t seed, uint64_t cuts, SyncKind left_out, Directories directories) {
  Outcome outcome;
  Random random(seed);
  while (outcome.cuts < cuts && !outcome.wrong) {
    // The same work each time; the first time only counts its syncs.
    CrashRun::Options options{.seed = random.Next(),
                              .operations = 100,
                              .left_out = left_out,
                              .directory_exists = DirectoryExists(directories, &random)};
    uint64_t syncs = 1;
    for (uint64_t at = 0; at <= syncs && outcome.cuts < cuts && !outcome.wrong; at++) {
      CrashRun run(options);
      outcome.wrong = run.Life(0, at, at % 2 == 0 ? CutMode::kDropUnsynced : AnyMode(&random));
      if (at == 0) syncs = run.syncs();
      outcome.cuts += run.cuts();
      if (outcome.wrong) {
        *outcome.wrong += "; work " + std::to_string(options.seed) + ", sync " +
                          std::to_string(at) + " of " + std::to_string(syncs);
      }
    }
  }
  return outcome;
}

int Report(const char* what, uint64_t seed, const Outcome& outcome) {
  printf("%s: %llu cuts, seed %llu: %s\n", what, static_cast<unsigned long long>(outcome.cuts),
         static_cast<unsigned long long>(seed), outcome.wrong ? "FAILED" : "ok");
  if (outcome.wrong) printf("  %s\n", outcome.wrong->c_str());
  fflush(stdout);
  return outcome.wrong ? 1 : 0;
}

// An engine that leaves out a kind of sync must fail the tests above.
int Canaries(uint64_t seed, uint64_t cuts, const std::string& only) {
  static const std::pair<const char*, SyncKind> kKinds[] = {{"wal", SyncKind::kWal},
                                                            {"manifest", SyncKind::kManifest},
                                                            {"table", SyncKind::kTable},
                                                            {"current", SyncKind::kCurrent},
                                                            {"directory", SyncKind::kDirectory}};
  int missed = 0;
  for (const auto& [name, kind] : kKinds) {
    if (!only.empty() && only != name) continue;
    Outcome outcome = CutsAtSyncs(seed, cuts, kind, Directories::kExisting);
    if (!outcome.wrong) outcome = RandomCuts(seed, cuts, kind, Directories::kExisting);
    printf("without %s syncs: %s after %llu cuts\n", name, outcome.wrong ? "noticed" : "MISSED",
           static_cast<unsigned long long>(outcome.cuts));
    if (outcome.wrong) printf("  %s\n", outcome.wrong->c_str());
    fflush(stdout);
    missed += outcome.wrong ? 0 : 1;
  }
  return missed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  std::string mode = flags.String("mode", "random");
  uint64_t seed = flags.Number("seed", 1);
  uint64_t cuts = flags.Number("cuts", 300);
  std::string left_out = flags.String("leave-out", "");
  std::string directory = flags.String("directory", "both");
  flags.RejectUnknown();
  Directories directories = directory == "fresh"      ? Directories::kFresh
                            : directory == "existing" ? Directories::kExisting
                                                      : Directories::kBoth;
  if (mode == "random") {
    return Report("random cuts", seed, RandomCuts(seed, cuts, SyncKind::kNone, directories));
  }
  if (mode == "syncs") {
    return Report("cuts at syncs", seed, CutsAtSyncs(seed, cuts, SyncKind::kNone, directories));
  }
  if (mode == "canary") return Canaries(seed, cuts, left_out);
  fprintf(stderr, "no mode named %s\n", mode.c_str());
  return 2;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
