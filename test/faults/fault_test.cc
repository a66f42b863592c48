// SPDX-License-Identifier: Apache-2.0
//
// Each call of the file system in a database's life fails, once, for a while, and from then on for
// good. There is no crash, nothing acknowledged is lost, and the database opens again. What failed
// says which file it was.
//
//   fault_test --runs=1500 --seed=1          (this number of all runs, spread evenly)
//   fault_test --runs=0                      (every call, fault and layout, of all three scenarios)
//   fault_test --layout=hash-kv --runs=0     (those of one layout; with --unsealed those without encrypted files)
//   fault_test --layout=hash-kv --call=217 --fault=0 --duration=2   (one of them again; without --call: all of that fault)

#include <cstdio>

#include "faults/failing_disk.h"
#include "faults/scenario.h"
#include "support/flags.h"
#include "support/layout.h"
#include "support/random.h"

namespace compassdb_test {
namespace {

// A database's life; a repair and copies; two-phase commit.
enum class Kind { kScript, kWorkshop, kCommitments };
constexpr Kind kKinds[] = {Kind::kScript, Kind::kWorkshop, Kind::kCommitments};

struct Case {
  Kind kind = Kind::kScript;
  std::string layout;
  bool sealed = false;  // encrypted files
  uint64_t call = 0;
  Fault fault = Fault::kIoError;
  Duration duration = Duration::kOnce;
  std::string Name() const {
    static constexpr const char* kFlags[] = {"", " --workshop", " --commitments"};
    return layout + (sealed ? " --sealed" : "") + kFlags[static_cast<int>(kind)];
  }
  std::unique_ptr<Scenario> Make(rocksdb::Env* env) const {
    switch (kind) {
      case Kind::kWorkshop: return MakeWorkshop(layout, env);
      case Kind::kCommitments: return MakeCommitments(layout, env);
      case Kind::kScript: break;
    }
    return MakeScript(layout, env);
  }
  std::string ToString() const {
    return "--layout=" + Name() + " --call=" + std::to_string(call) + " --fault=" + std::to_string(static_cast<int>(fault)) +
           " --duration=" + std::to_string(static_cast<int>(duration)) + "  (" + FaultName(fault) + " " + DurationName(duration) + ")";
  }
};

struct Totals {
  uint64_t runs = 0, reported = 0, absorbed = 0, missed = 0, resumed = 0, cuts = 0;
  int wrong = 0;
};

// Every error after a fault says what was injected, and names a file where a call failed. After a wrong read the
// error may name any file.
std::optional<std::string> CheckMessages(const Scenario& script, const FailingDisk& disk, bool lie) {
  for (const Scenario::Failure& failure : script.failures()) {
    const std::string text = failure.status.ToString();
    if (!lie && text.find("injected") == std::string::npos) return failure.call + " fails for another reason: " + text;
    if (lie ? text.find(" /") == std::string::npos : !disk.NamesAFailedFile(text)) return failure.call + " does not name the file: " + text;
  }
  return std::nullopt;
}

std::optional<std::string> RunCase(const Case& one, Totals* totals) {
  FailingDisk disk(one.sealed);
  const std::unique_ptr<Scenario> script = one.Make(disk.env());
  if (IsLie(one.fault)) script->ExpectLies();
  script->Prepare();
  disk.Arm(one.call, one.fault, one.duration);
  script->Live([&disk] { return disk.healthy(); });
  const std::string failed = disk.failed();
  disk.Repair();
  ++totals->runs;
  if (failed.empty()) {
    ++totals->missed;  // that fault cannot befall that call
  } else if (script->failures().empty()) {
    ++totals->absorbed;
  } else {
    ++totals->reported;
  }
  totals->resumed += script->resumed() > 0 ? 1 : 0;
  std::optional<std::string> wrong = CheckMessages(*script, disk, IsLie(one.fault));
  // Every third: the power fails as well. Pages that a sync dropped take with them what was not synced.
  const bool cut = one.call % 3 == 0;
  if (cut) {
    disk.Cut();
    ++totals->cuts;
  }
  const bool synced_only = cut || disk.dropped_pages();
  if (std::optional<std::string> lost = script->Check(synced_only); lost && !wrong) wrong = lost;
  if (wrong) *wrong += "; what failed was: " + (failed.empty() ? "nothing" : failed);
  return wrong;
}

// Every fault that `like` can meet, for all durations. Adds the holes that were punched.
std::vector<Case> CasesOf(const Case& like, uint64_t* punches) {
  const std::string name = like.Name();
  FailingDisk disk(like.sealed);
  const std::unique_ptr<Scenario> script = like.Make(disk.env());
  script->Prepare();
  disk.Arm(0, Fault::kIoError, Duration::kOnce);
  script->Live([&disk] { return disk.healthy(); });
  const uint64_t calls = disk.calls();
  std::optional<std::string> wrong;
  if (!script->failures().empty()) wrong = script->failures()[0].call + ": " + script->failures()[0].status.ToString();
  if (!wrong) wrong = script->Check(false);
  if (!wrong) wrong = script->Idle();
  if (wrong) {
    fprintf(stderr, "FAILED without a fault: %s: %s\n", name.c_str(), wrong->c_str());
    exit(1);
  }
  std::vector<Case> cases;
  for (uint64_t call = 1; call <= calls; ++call) {
    for (const Fault fault : kFaults) {
      if (!disk.CanFail(call, fault) || (IsLie(fault) && like.kind != Kind::kScript)) continue;  // who alone allows for them
      for (const Duration duration : {Duration::kOnce, Duration::kForAWhile, Duration::kForGood}) {
        cases.push_back({like.kind, like.layout, like.sealed, call, fault, duration});
      }
    }
  }
  *punches += disk.punches();
  printf("%-34s %llu calls, %llu of them punches, %zu cases\n", name.c_str(), static_cast<unsigned long long>(calls),
         static_cast<unsigned long long>(disk.punches()), cases.size());
  return cases;
}

Fault FaultOf(const std::string& number) { return number.empty() ? Fault::kIoError : static_cast<Fault>(number[0] - '0'); }

struct Choice {
  std::string layout, fault;  // empty: all
  bool unsealed = false;
};

std::vector<Case> Plan(const Choice& choice, uint64_t runs, uint64_t seed) {
  std::vector<Case> all;
  uint64_t punches = 0;
  for (const std::string& layout : Layouts()) {
    if (!choice.layout.empty() && choice.layout != layout) continue;
    for (const bool sealed : {false, true}) {
      if (sealed && (choice.unsealed || layout == "tableless")) continue;  // which writes in place
      for (const Kind kind : kKinds) {
        for (const Case& one : CasesOf({.kind = kind, .layout = layout, .sealed = sealed}, &punches)) {
          if (choice.fault.empty() || one.fault == FaultOf(choice.fault)) all.push_back(one);
        }
      }
    }
  }
  fflush(stdout);
  if (punches == 0 && choice.layout.empty()) {
    fprintf(stderr, "FAILED: no hole was punched\n");
    exit(1);
  }
  if (runs == 0 || runs >= all.size()) return all;
  Random random(seed);
  std::vector<Case> some;
  for (uint64_t i = 0; i < runs; ++i) {
    const uint64_t begin = i * all.size() / runs, end = (i + 1) * all.size() / runs;
    some.push_back(all[begin + random.Uniform(end - begin)]);
  }
  return some;
}

// Some calls are not reached, as threads run in another order, and some faults have no effect; never most of them.
bool Tested(const Totals& totals) {
  constexpr uint64_t kEnoughRuns = 50;
  if (totals.runs < kEnoughRuns) return true;
  const bool tested = totals.reported > 0 && totals.missed * 2 < totals.runs;
  if (!tested) fprintf(stderr, "FAILED: too few faults were met, or none was reported\n");
  return tested;
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const uint64_t runs = flags.Number("runs", 200);
  const uint64_t seed = flags.Number("seed", 1);
  const std::string layout = flags.String("layout", "");
  const uint64_t call = flags.Number("call", 0);
  const std::string fault = flags.String("fault", "");
  const uint64_t duration = flags.Number("duration", 0);
  const bool sealed = flags.Bool("sealed");
  Kind kind = Kind::kScript;
  if (flags.Bool("workshop")) kind = Kind::kWorkshop;
  if (flags.Bool("commitments")) kind = Kind::kCommitments;
  const bool unsealed = flags.Bool("unsealed");
  flags.RejectUnknown();
  std::vector<Case> plan;
  if (call != 0) {
    for (const std::string& known : Layouts()) {
      if (known == layout) plan.push_back({kind, known, sealed, call, FaultOf(fault), static_cast<Duration>(duration)});
    }
  } else {
    plan = Plan({.layout = layout, .fault = fault, .unsealed = unsealed}, runs, seed);
  }
  if (plan.empty()) {
    fprintf(stderr, "fault_test: there is no such layout, fault or case\n");
    return 2;
  }
  Totals totals;
  for (const Case& one : plan) {
    const auto wrong = RunCase(one, &totals);
    if (!wrong) continue;
    fprintf(stderr, "FAILED: fault_test %s: %s\n", one.ToString().c_str(), wrong->c_str());
    if (++totals.wrong == 20) break;
  }
  const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  printf("%llu runs (seed %llu): reported %llu, absorbed %llu, not met %llu; resumed in %llu, power cut after %llu; wrong %d\n",
         n(totals.runs), n(seed), n(totals.reported), n(totals.absorbed), n(totals.missed), n(totals.resumed), n(totals.cuts),
         totals.wrong);
  if (!Tested(totals)) ++totals.wrong;
  return totals.wrong == 0 ? 0 : 1;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
