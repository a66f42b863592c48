// SPDX-License-Identifier: Apache-2.0
//
// Damages small databases of every layout (support/layout.h), one file at a time (damage.h), opens
// each and reads everything. The result must be an error, or the exact data. Also:
//  - a flipped bit in the manifest is reported with the file, if at all;
//  - damage to the write-ahead log is reported, with the log and the offset, also of a process that
//    was killed: nothing is dropped in silence. (RocksDB drops it; so --log-loss=allow for it.)
//  - kAbsoluteConsistency refuses a log with a flipped bit;
//  - what is refused or gives errors can be repaired: then it opens, and everything can be read and
//    was written once. What is missing was in the file that is damaged; of a flipped bit in a
//    table, in one of its blocks. If manifest or CURRENT were damaged, nothing is missing;
//  - kSkipAnyCorruptedRecords opens with any damage to a log, and loses no more than a repair may;
//  - no crash, no hang, no more memory than the database's size and 64 MB.
//
//   corruption_test --seed=1 --cases=40000          this number of all cases, evenly
//   corruption_test --seed=1 --cases=0              all of them
//   corruption_test --seed=1 --case=1234            one of them
//   --layout=NAME                                   of one layout, or of sealed, transactions, recycled-logs, compressed-logs
//
// Several processes share the work (--jobs); one that crashes is replaced. The bytes of a database
// hold random ids, so a case repeats in kind; a failure leaves its files for a closer look.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "corruption/laboratory.h"
#include "corruption/memory.h"
#include "support/flags.h"
#include "support/layout.h"
#include "support/temp_dir.h"
#include "support/tuning.h"

namespace compassdb_test {
namespace {

constexpr uint64_t kSpareMemory = 64 << 20;
constexpr int kMaxFailures = 20;
constexpr unsigned kHangSeconds = 60;
constexpr size_t kKeysOfABlock = 100;  // of 1 KiB, compressed perhaps; tables have more
constexpr size_t kBlocksOfAChunk = 6;  // of 4 KiB, which an encrypted file loses

struct Settings {
  uint64_t seed = 1;
  uint64_t cases = 0;
  std::optional<uint64_t> only;
  std::string layout;
  unsigned jobs = 2;
  bool forbid_log_loss = true;
};

// The processes' messages to each other; in shared memory.
struct Board {
  struct Worker {
    std::atomic<uint64_t> next;  // the position in its list that is being tried
    char text[512];              // names the case
  };
  std::atomic<uint64_t> total;
  std::atomic<uint64_t> done;
  std::atomic<int> failures;
  std::atomic<uint64_t> peak;  // of memory, beyond what was there before the case
  std::atomic<uint64_t> repaired, skipped;
  std::atomic<uint64_t> counts[kFileClasses][Damage::kKinds][kVerdicts];
  Worker workers[64];
};

Board::Worker* this_worker = nullptr;

// Names the case if the engine crashes or hangs in it.
void OnSignal(int number) {
  const char* what = number == SIGALRM ? "\nHANGS: " : "\nCRASHES: ";
  (void)!write(2, what, strlen(what));
  (void)!write(2, this_worker->text, strlen(this_worker->text));
  (void)!write(2, "\n", 1);
  signal(number, SIG_DFL);
  raise(number);
}

void GuardProcess() {
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) signal(number, OnSignal);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
  // A length in a damaged file must not become an allocation.
  rlimit limit = {4ull << 30, 4ull << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

bool Ours() { return std::string(Traits().name) == "compassdb"; }

class Worker {
 public:
  Worker(const Settings& settings, unsigned index, Board* board, const std::string& dir)
      : settings_(settings), index_(index), board_(board), dir_(dir) {
    for (const std::string& layout : Layouts()) {
      if (settings.layout.empty() || layout == settings.layout) AddBoth({.layout = layout});
    }
    // Cases of the default layout that the others do not try.
    const auto wanted = [&settings](const char* name) { return settings.layout.empty() || settings.layout == name; };
    if (wanted("sealed") && Ours()) AddBoth({.layout = "default", .sealed = true});
    if (wanted("default")) {
      for (LastCommit last : {LastCommit::kIngestion, LastCommit::kFamily, LastCommit::kUnloggedFlush}) {
        AddBoth({.layout = "default", .last = last});
      }
    }
    if (wanted("transactions")) {
      AddBoth({.layout = "default", .last = LastCommit::kTransactions});
      if (Ours()) AddBoth({.layout = "default", .last = LastCommit::kTransactions, .sealed = true});
    }
    if (wanted("recycled-logs")) AddBoth({.layout = "default", .logs = Logs::kRecycled});
    if (wanted("compressed-logs")) AddBoth({.layout = "default", .logs = Logs::kCompressed});
    Choose();
  }

  const std::vector<uint64_t>& chosen() const { return chosen_; }

  bool CheckWhole() {
    for (const Specimen& specimen : specimens_) {
      for (const Treatment& treatment : {Treatment(), Treatment{.compact = true}}) {
        Examination whole = laboratory_.Examine(specimen, specimen.files, treatment);
        if (!whole.wrong && whole.verdict == Verdict::kExact) continue;
        fprintf(stderr, "FAILED: the undamaged specimen (%s): %s, %s %s\n", specimen.kind.ToString().c_str(),
                VerdictName(whole.verdict), whole.wrong.value_or("no wrong data").c_str(),
                whole.open.ToString().c_str());
        return false;
      }
    }
    return true;
  }

  // From where its predecessor died.
  int Run() {
    Board::Worker& self = board_->workers[index_];
    while (true) {
      const uint64_t at = self.next.load();
      const uint64_t i = at * settings_.jobs + index_;
      if (i >= chosen_.size() || board_->failures >= kMaxFailures) return 0;
      if (!OneCase(chosen_[i])) board_->failures++;
      board_->done++;
      self.next = at + 1;
    }
  }

 private:
  struct Plan {
    size_t specimen;
    std::map<std::string, uint64_t> log_ends;  // of logs with the rest of an older one behind them
    std::vector<Damage> damages;
  };

  void AddBoth(SpecimenKind kind) {
    for (bool closed : {true, false}) {
      kind.closed = closed;
      Add(kind);
    }
  }

  void Add(const SpecimenKind& kind) {
    const uint64_t seed = settings_.seed + specimens_.size();
    specimens_.push_back(MakeSpecimen(kind, seed));
    Random random(seed);
    plans_.push_back({specimens_.size() - 1, EndsOfLogs(specimens_.back()), PlanDamage(specimens_.back().files, &random)});
  }

  // The end of a recycled log: the shortest length that has everything.
  std::map<std::string, uint64_t> EndsOfLogs(const Specimen& specimen) {
    std::map<std::string, uint64_t> ends;
    if (specimen.kind.logs != Logs::kRecycled) return ends;
    for (size_t i = 0; i < specimen.files.size(); i++) {
      const auto& [name, bytes] = specimen.files[i];
      if (ClassOf(name) != FileClass::kWal || bytes.empty()) continue;
      uint64_t from = 0, to = bytes.size();
      while (from < to) {
        const uint64_t middle = (from + to) / 2;
        Files files = specimen.files;
        files[i].second.resize(middle);
        const Examination cut = laboratory_.Examine(specimen, files, Treatment());
        if (cut.verdict == Verdict::kExact && !cut.wrong) {
          to = middle;
        } else {
          from = middle + 1;
        }
      }
      if (to < bytes.size()) ends[name] = to;
    }
    if (Ours() && ends.empty()) Must(rocksdb::Status::Aborted("nothing is left of an older log"), "recycle");
    return ends;
  }

  // Case numbers: the plans in a row. A part has all rare cases and an even share of the rest.
  void Choose() {
    uint64_t total = 0;
    std::vector<uint64_t> rare, common;
    for (const Plan& plan : plans_) {
      const size_t few = RareDamages(plan.damages);
      for (size_t i = 0; i < plan.damages.size(); i++, total++) (i < few ? rare : common).push_back(total);
    }
    board_->total = total;
    if (settings_.only) {
      chosen_ = {*settings_.only};
      return;
    }
    Random random(settings_.seed);
    const uint64_t wanted = settings_.cases == 0 ? total : settings_.cases;
    const auto sample = [&](const std::vector<uint64_t>& from, uint64_t n) {
      if (n == 0) return;
      n = std::min<uint64_t>(n, from.size());
      // One of each part: equal steps would hit the same kinds and offsets again and again.
      for (uint64_t i = 0; i < n; i++) {
        const uint64_t begin = i * from.size() / n, end = (i + 1) * from.size() / n;
        chosen_.push_back(from[begin + random.Uniform(end - begin)]);
      }
    };
    // At most a quarter, when there is room for little.
    sample(rare, std::min<uint64_t>(rare.size(), std::max<uint64_t>(wanted / 4, 1)));
    if (chosen_.size() < wanted) sample(common, wanted - chosen_.size());
  }

  Treatment TreatmentOf(uint64_t number) const {
    using Mode = rocksdb::WALRecoveryMode;
    Treatment treatment;
    Random random(number * 31 + settings_.seed);
    treatment.read_only = random.OneIn(6);
    treatment.compact = random.OneIn(6);
    treatment.repair = Ours() && !treatment.read_only && random.OneIn(3);
    if (random.OneIn(5)) treatment.mode = Mode::kTolerateCorruptedTailRecords;
    if (random.OneIn(10)) treatment.mode = Mode::kAbsoluteConsistency;
    return treatment;
  }

  // `log_end`: the rest of an older log is behind it.
  std::optional<std::string> Judge(const Specimen& specimen, const Damage& damage, uint64_t log_end, const Treatment& treatment,
                                   const Examination& result) const {
    if (result.wrong) return result.wrong;
    const std::string& file = specimen.files[damage.file].first;
    const bool log = ClassOf(file) == FileClass::kWal;
    if (!log && result.verdict == Verdict::kLogTailLost) return "the end of the log is lost";
    if (Ours() && ClassOf(file) == FileClass::kManifest && damage.kind == Damage::Kind::kFlipBit &&
        result.verdict == Verdict::kOpenError &&
        (!result.open.IsCorruption() || result.open.ToString().find(file) == std::string::npos)) {
      return "a flipped bit in the manifest is not reported as Corruption with its file: " + result.open.ToString();
    }
    if (!log || !settings_.forbid_log_loss) return std::nullopt;
    if (damage.Begin() >= log_end) {
      return result.verdict == Verdict::kExact ? std::nullopt : std::optional("bytes behind the end of a log matter");
    }
    // The mark next to the logs knows how far they were synced, which is to their end.
    if (result.verdict == Verdict::kLogTailLost) return "a part of the log is lost without an error";
    if (damage.kind != Damage::Kind::kFlipBit) return std::nullopt;
    if (treatment.mode == rocksdb::WALRecoveryMode::kAbsoluteConsistency &&
        result.verdict != Verdict::kOpenError) {
      return "kAbsoluteConsistency accepts a flipped bit in the log";
    }
    const std::string text = result.open.ToString();
    const std::string place = specimen.kind.sealed ? file : file + " at offset ";
    if (!result.open.IsCorruption() || text.find(place) == std::string::npos) {
      return "a flipped bit in the log is not reported as Corruption with its place: " + text;
    }
    return std::nullopt;
  }

  bool OneCase(uint64_t number) {
    size_t p = 0;
    uint64_t first = 0;
    while (p + 1 < plans_.size() && number - first >= plans_[p].damages.size()) {
      first += plans_[p++].damages.size();
    }
    const Specimen& specimen = specimens_[plans_[p].specimen];
    if (number - first >= plans_[p].damages.size()) return true;  // another run's had more bytes
    const Damage& damage = plans_[p].damages[number - first];
    snprintf(board_->workers[index_].text, sizeof(Board::Worker::text),
             "case %llu of seed %llu (%s): %s", static_cast<unsigned long long>(number),
             static_cast<unsigned long long>(settings_.seed), specimen.kind.ToString().c_str(),
             damage.ToString(specimen.files).c_str());
    Files files = specimen.files;
    Apply(damage, &files);
    uint64_t size = 0;
    for (const auto& [name, bytes] : files) size += bytes.size();
    Treatment treatment = TreatmentOf(number);
    const FileClass damaged = ClassOf(specimen.files[damage.file].first);
    treatment.repair_exactly = damaged == FileClass::kManifest || damaged == FileClass::kCurrent;
    treatment.damaged = specimen.files[damage.file].first;
    treatment.skip = Ours() && damaged == FileClass::kWal && number % 4 == 0;
    if (damaged == FileClass::kTable && damage.kind == Damage::Kind::kFlipBit) {
      treatment.most_lost = kKeysOfABlock * (specimen.kind.sealed ? kBlocksOfAChunk : 1);
    }
    const uint64_t before = AllocatedBytes();
    ResetPeak();
    alarm(kHangSeconds);
    Examination result = laboratory_.Examine(specimen, files, treatment);
    alarm(0);
    const uint64_t peak = PeakBytes() - before;
    if (peak > board_->peak) board_->peak = peak;
    board_->repaired += result.repaired ? 1 : 0;
    board_->skipped += result.skipped ? 1 : 0;
    board_->counts[static_cast<int>(ClassOf(specimen.files[damage.file].first))]
                  [static_cast<int>(damage.kind)][static_cast<int>(result.verdict)]++;
    const auto end = plans_[p].log_ends.find(treatment.damaged);
    std::optional<std::string> wrong = Judge(specimen, damage, end == plans_[p].log_ends.end() ? UINT64_MAX : end->second, treatment, result);
    if (!wrong && peak > size + kSpareMemory) {
      wrong = "took " + std::to_string(peak >> 20) + " MB of memory";
    }
    if (!wrong) return true;
    const std::string where = dir_ + "/case-" + std::to_string(number);
    Save(files, where);
    fprintf(stderr, "FAILED: %s: %s\n  files: %s\n", board_->workers[index_].text, wrong->c_str(),
            where.c_str());
    return false;
  }

  static void Save(const Files& files, const std::string& where) {
    std::filesystem::create_directories(where);
    for (const auto& [name, bytes] : files) {
      std::ofstream(where + "/" + name, std::ios::binary) << bytes;
    }
  }

  const Settings settings_;
  const unsigned index_;
  Board* const board_;
  const std::string dir_;
  std::vector<Specimen> specimens_;
  std::vector<Plan> plans_;
  std::vector<uint64_t> chosen_;
  Laboratory laboratory_;
};

void Report(const Board& board) {
  printf("%-10s %-12s", "file", "damage");
  for (int v = 0; v < kVerdicts; v++) printf("%15s", VerdictName(static_cast<Verdict>(v)));
  printf("\n");
  for (int c = 0; c < kFileClasses; c++) {
    for (int k = 0; k < Damage::kKinds; k++) {
      printf("%-10s %-12s", ClassName(static_cast<FileClass>(c)),
             KindName(static_cast<Damage::Kind>(k)));
      for (int v = 0; v < kVerdicts; v++) {
        printf("%15llu", static_cast<unsigned long long>(board.counts[c][k][v].load()));
      }
      printf("\n");
    }
  }
}

// Each worker makes the specimens for itself, so that no thread has to survive a fork.
pid_t StartWorker(const Settings& settings, unsigned index, Board* board, const std::string& dir) {
  fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  this_worker = &board->workers[index];
  snprintf(this_worker->text, sizeof(this_worker->text), "while the specimens are made");
  GuardProcess();
  Worker worker(settings, index, board, dir);
  snprintf(this_worker->text, sizeof(this_worker->text), "an undamaged specimen");
  if (index == 0 && this_worker->next == 0 && !worker.CheckWhole()) {
    board->failures = kMaxFailures;
    _exit(1);
  }
  _exit(worker.Run());
}

bool RunAll(const Settings& settings, TempDir* dir) {
  void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  Board* const board = new (shared) Board();
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < settings.jobs; i++) {
    workers.push_back(StartWorker(settings, i, board, dir->path()));
  }
  int status = 0;
  for (pid_t ended = wait(&status); ended > 0; ended = wait(&status)) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const auto it = std::find(workers.begin(), workers.end(), ended);
    const auto index = static_cast<unsigned>(it - workers.begin());
    if (++board->failures >= kMaxFailures) continue;
    board->workers[index].next++;  // behind the case that it died of
    *it = StartWorker(settings, index, board, dir->path());
  }
  printf("%llu of %llu cases, seed %llu, %llu repaired, %llu opened past a log's damage, at most %.1f MB of memory\n",
         static_cast<unsigned long long>(board->done.load()),
         static_cast<unsigned long long>(board->total.load()),
         static_cast<unsigned long long>(settings.seed),
         static_cast<unsigned long long>(board->repaired.load()),
         static_cast<unsigned long long>(board->skipped.load()),
         static_cast<double>(board->peak.load()) / (1 << 20));
  Report(*board);
  return board->failures == 0;
}

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  Settings settings;
  settings.seed = flags.Number("seed", 1);
  settings.cases = flags.Number("cases", 2000);
  const uint64_t only = flags.Number("case", UINT64_MAX);
  if (only != UINT64_MAX) settings.only = only;
  settings.layout = flags.String("layout", "");
  settings.jobs = static_cast<unsigned>(flags.Number("jobs", std::thread::hardware_concurrency()));
  settings.jobs = std::clamp(settings.jobs, 1u, 64u);
  settings.forbid_log_loss = flags.String("log-loss", Ours() ? "forbid" : "allow") == "forbid";
  flags.RejectUnknown();
  TempDir dir("corruption");
  if (RunAll(settings, &dir)) return 0;
  dir.Keep();
  return 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
