// SPDX-License-Identifier: Apache-2.0
//
// Damages a closed database one file at a time (bits flipped, truncated, emptied,
// removed), opens it and reads everything. Each read must be right or fail with an
// error. Only damage to a write-ahead log may cost the end of the log without an
// error (counted; --log-loss=forbid makes it a failure).
//
//   corruption_test --seed=1 --flips=3000
//   corruption_test --seed=1 --flips=3000 --case=1234     (one of its cases again)

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "corruption/specimen.h"
#include "support/flags.h"
#include "support/temp_dir.h"

namespace compassdb_test {
namespace {

// Names the case if the engine crashes or hangs in it.
char current_case[512];

void OnSignal(int number) {
  const char* what = number == SIGALRM ? "\nHANGS: " : "\nCRASHES: ";
  (void)!write(2, what, strlen(what));
  (void)!write(2, current_case, strlen(current_case));
  (void)!write(2, "\n", 1);
  signal(number, SIG_DFL);
  raise(number);
}

void GuardProcess() {
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    signal(number, OnSignal);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
  // A length taken from a damaged file must not become an allocation.
  rlimit limit = {6ull << 30, 6ull << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

class CorruptionTest {
 public:
  CorruptionTest(uint64_t seed, uint64_t flips, bool forbid_log_loss)
      : seed_(seed), flips_(flips), forbid_log_loss_(forbid_log_loss), dir_("corruption") {
    specimen_ = MakeSpecimen(dir_.path() + "/specimen", seed);
    Random random(seed);
    plan_ = PlanDamage(specimen_.path, flips, &random);
  }

  bool Run(uint64_t only) {
    Examination whole = Try(nullptr, 0);
    if (whole.wrong || whole.verdict != Verdict::kExact) {
      fprintf(stderr, "FAILED: the undamaged specimen: %s, %s\n", VerdictName(whole.verdict),
              whole.wrong.value_or("no wrong data").c_str());
      return false;
    }
    printf("%zu cases, seed %llu\n", plan_.size(), static_cast<unsigned long long>(seed_));
    fflush(stdout);
    int failures = 0;
    for (uint64_t i = 0; i < plan_.size() && failures < 20; i++) {
      if (only != 0 && i != only) continue;
      failures += OneCase(i) ? 0 : 1;
    }
    Report();
    return failures == 0;
  }

 private:
  Examination Try(const Damage* damage, uint64_t number) {
    std::string path = dir_.path() + "/damaged";
    CopyDirectory(specimen_.path, path);
    if (damage != nullptr) Apply(*damage, path);
    return Examine(specimen_, path, number % 3 == 1, number % 4 == 0);
  }

  bool OneCase(uint64_t i) {
    const Damage& damage = plan_[i];
    snprintf(current_case, sizeof(current_case), "case %llu of seed %llu, %llu flips: %s",
             static_cast<unsigned long long>(i), static_cast<unsigned long long>(seed_),
             static_cast<unsigned long long>(flips_), damage.ToString().c_str());
    alarm(60);
    Examination result = Try(&damage, i);
    alarm(0);
    FileClass file_class = ClassOf(damage.file);
    counts_[static_cast<int>(file_class)][damage.kind == Damage::Kind::kFlipBit ? 0 : 1]
           [static_cast<int>(result.verdict)]++;
    if (!result.wrong && result.verdict == Verdict::kLogTailLost &&
        (file_class != FileClass::kWal || forbid_log_loss_)) {
      result.wrong = "the end of the log is lost without an error";
    }
    if (!result.wrong) return true;
    fprintf(stderr, "FAILED: %s: %s\n", current_case, result.wrong->c_str());
    return false;
  }

  void Report() const {
    printf("%-10s %-10s", "file", "damage");
    for (int v = 0; v < 4; v++) printf("%15s", VerdictName(static_cast<Verdict>(v)));
    printf("\n");
    for (int c = 0; c < 5; c++) {
      for (int kind = 0; kind < 2; kind++) {
        printf("%-10s %-10s", ClassName(static_cast<FileClass>(c)), kind == 0 ? "bit" : "length");
        for (int v = 0; v < 4; v++) printf("%15d", counts_[c][kind][v]);
        printf("\n");
      }
    }
  }

  const uint64_t seed_;
  const uint64_t flips_;
  const bool forbid_log_loss_;
  TempDir dir_;
  Specimen specimen_;
  std::vector<Damage> plan_;
  int counts_[5][2][4] = {};
};

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  uint64_t seed = flags.Number("seed", 1);
  uint64_t flips = flags.Number("flips", 500);
  uint64_t only = flags.Number("case", 0);
  bool forbid = flags.String("log-loss", "allow") == "forbid";
  flags.RejectUnknown();
  GuardProcess();
  return CorruptionTest(seed, flips, forbid).Run(only) ? 0 : 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
