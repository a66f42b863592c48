// SPDX-License-Identifier: Apache-2.0
//
// Fork with a database open, in real processes. For each kind of database, state at the fork and
// end of the child:
//
//   parent   opens the database as a global unique_ptr, gets into the state, and forks
//   child    calls every method, and all must be refused; works on a database of its own;
//            ends
//   parent   sees its files unchanged (if it is idle), continues, syncs ten puts and is killed
//   a third process could not open the database while the parent lived, and finds all afterwards
//
//   fork_test [--only=NAME]
//
// All processes end by themselves within a minute.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "processes/inherited_calls.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/table.h"
#include "rocksdb/threadpool.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "support/temp_dir.h"

namespace compassdb_test {

// As in a program that never closes its database.
std::unique_ptr<rocksdb::DB> global_db;

namespace {

using namespace rocksdb;
namespace fs = std::filesystem;

// AddressSanitizer's allocator may stay locked in a child of a process whose threads
// allocate. ThreadSanitizer allows no threads in a child.
#if defined(__has_feature)
#define COMPASSDB_TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMPASSDB_TEST_SANITIZED 1
#else
#define COMPASSDB_TEST_SANITIZED 0
#endif

constexpr unsigned kMostSeconds = 60;
constexpr int kWrong = 3;
constexpr int kCannotOpen = 4;

struct Case {
  std::string kind, state, end;
  std::string Name() const { return kind + "/" + state + "/" + end; }
};

const char* const kKinds[] = {"plain",       "transactions", "optimistic", "ttl",
                              "read_only",   "secondary",    "c"};
const char* const kStates[] = {"idle",  "memtable", "flush",   "compaction", "stall",
                               "backup", "writers",  "opening", "closing"};
const char* const kEnds[] = {"exit", "_exit", "signal", "return"};

Options BaseOptions() {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  return options;
}

std::string Contents(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    files[entry.path()] = bytes.str();
  }
  std::string all;
  for (const auto& [name, bytes] : files) all += name + "\n" + std::to_string(bytes.size()) + "\n" + bytes;
  return all;
}

[[noreturn]] void Die(const std::string& why) {
  fprintf(stderr, "FAILED: %s\n", why.c_str());
  _exit(kWrong);
}
void Must(const char* what, const Status& s) {
  if (!s.ok()) Die(std::string(what) + ": " + s.ToString());
}
void Must(const char* what, bool right) {
  if (!right) Die(what);
}
#define MUST(x) Must(#x, (x))

// Runs this program again and waits for it. No fork handlers run.
int Run(const std::vector<std::string>& args) {
  std::vector<char*> argv = {const_cast<char*>("fork_test")};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) return 127;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// --- the child

// Objects that the databases of a program usually share.
struct SharedObjects {
  std::shared_ptr<SstFileManager> files;
  std::shared_ptr<RateLimiter> limiter;
  std::shared_ptr<TableFactory> tables;  // with a block cache

  void Use(Options* options) const {
    options->sst_file_manager = files;
    options->rate_limiter = limiter;
    options->table_factory = tables;
  }
};

// Uses these, and what the process shares: thread pools, timers, rings.
void WorkOnOwnDatabase(const std::string& dir, const SharedObjects& shared) {
  Options options = BaseOptions();
  options.use_direct_reads = true;
  options.stats_dump_period_sec = 1;
  shared.Use(&options);
  for (int round = 0; round < 2; ++round) {
    DB* opened = nullptr;
    MUST(DB::Open(options, dir, &opened));
    const std::unique_ptr<DB> db(opened);
    for (int i = 0; i < 1000; ++i) {
      MUST(db->Put(WriteOptions(), std::to_string(i), std::string(200, static_cast<char>('a' + round))));
    }
    MUST(db->Flush(FlushOptions()));
    MUST(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    std::string value;
    MUST(db->Get(ReadOptions(), "999", &value));
    MUST(value == std::string(200, static_cast<char>('a' + round)));
  }
}

// --- the parent

// Holds flushes or compactions at their beginning, until they are released.
class Brake : public EventListener {
 public:
  explicit Brake(std::string what) : what_(std::move(what)) {}
  void OnFlushBegin(DB*, const FlushJobInfo&) override {
    if (what_ != "compaction") Hold();
  }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    if (what_ == "compaction") Hold();
  }
  void Arm() { armed_ = true; }
  void WaitUntilHeld() const {
    while (!held_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Release() { released_ = true; }

 private:
  void Hold() {
    if (!armed_ || released_) return;
    held_ = true;
    while (!released_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string what_;
  std::atomic<bool> armed_{false}, held_{false}, released_{false};
};

class Parent {
 public:
  Parent(Case c, std::string dir) : case_(std::move(c)), dir_(std::move(dir)) {}

  // The exit code; of the child, if it ends by returning.
  int Run() {
    Open();
    MakeObjects();
    Enter();
    const bool idle = case_.state == "idle" || case_.state == "memtable";
    const std::string before = idle ? Contents(dir_ + "/db") : "";
    int fds[2];
    MUST(pipe2(fds, O_CLOEXEC) == 0);
    const pid_t pid = fork();
    if (pid == 0) return Child(fds[1]);
    close(fds[1]);
    Watch(pid, fds[0]);
    if (idle) MUST(Contents(dir_ + "/db") == before);
    CheckLocked();
    Leave();
    if (writes()) {
      WriteOptions sync;
      sync.sync = true;
      for (int i = 0; i < 10; ++i) MUST(writer_db()->Put(sync, "synced" + std::to_string(i), "v"));
      std::string value;
      MUST(writer_db()->Get(ReadOptions(), "synced9", &value));
      CheckLocked();
    }
    if (objects_.file != nullptr) {
      MUST(objects_.file->Append("parent"));
      MUST(objects_.file->Close());
    }
    kill(getpid(), SIGKILL);
    return kWrong;
  }

 private:
  bool writes() const { return case_.kind != "read_only"; }
  DB* writer_db() const { return case_.kind == "secondary" ? primary_.get() : global_db.get(); }
  std::string db_dir() const { return dir_ + "/db"; }

  void Open() {
    Options options = BaseOptions();
    options.level0_file_num_compaction_trigger = 2;
    options.merge_operator = nullptr;
    options.info_log_level = INFO_LEVEL;
    shared_.files.reset(NewSstFileManager(Env::Default(), nullptr, "", /*rate_bytes_per_sec=*/1 << 20));
    shared_.limiter.reset(NewGenericRateLimiter(case_.state == "writers" ? 1 << 20 : 100 << 20));
    BlockBasedTableOptions tables;
    tables.block_cache = NewLRUCache(1 << 20);
    shared_.tables.reset(NewBlockBasedTableFactory(tables));
    shared_.Use(&options);
    pool_.reset(NewThreadPool(1));
    pool_->SubmitJob([] {});
    Env::Default()->StartThread([](void*) { pause(); }, nullptr);
    if (case_.state == "flush" || case_.state == "compaction" || case_.state == "stall") {
      options.listeners.push_back(brake_ = std::make_shared<Brake>(case_.state));
      options.max_write_buffer_number = 2;
    }
    DB* db = nullptr;
    if (case_.kind == "plain" || case_.kind == "c") {
      MUST(DB::Open(options, db_dir(), &db));
    } else if (case_.kind == "transactions") {
      TransactionDB* made = nullptr;
      MUST(TransactionDB::Open(options, TransactionDBOptions(), db_dir(), &made));
      transactions_ = made;
      db = made;
    } else if (case_.kind == "optimistic") {
      OptimisticTransactionDB* made = nullptr;
      MUST(OptimisticTransactionDB::Open(options, db_dir(), &made));
      optimistic_ = made;
      db = made;
    } else if (case_.kind == "ttl") {
      DBWithTTL* made = nullptr;
      MUST(DBWithTTL::Open(options, db_dir(), &made));
      db = made;
    } else {
      DB* primary = nullptr;
      MUST(DB::Open(options, db_dir(), &primary));
      primary_.reset(primary);
      MUST(primary->Put(WriteOptions(), "first", "v"));
      options.listeners.clear();
      options.sst_file_manager = nullptr;
      options.max_open_files = -1;
      if (case_.kind == "secondary") {
        MUST(DB::OpenAsSecondary(options, db_dir(), dir_ + "/secondary", &db));
      } else {
        MUST(primary->Close());
        primary_.reset();
        options.create_if_missing = false;
        MUST(DB::OpenForReadOnly(options, db_dir(), &db));
      }
    }
    global_db.reset(db);
    objects_.db = db;
  }

  void MakeObjects() {
    DB* const db = global_db.get();
    const bool own = case_.kind != "read_only" && case_.kind != "secondary";
    if (own) {
      for (int i = 0; i < 200; ++i) MUST(db->Put(WriteOptions(), "key" + std::to_string(i), "v"));
      MUST(db->Flush(FlushOptions()));
      MUST(db->Put(WriteOptions(), "in the memtable", "v"));
      MUST(db->CreateColumnFamily(ColumnFamilyOptions(BaseOptions()), "other", &objects_.family));
      std::unique_ptr<TransactionLogIterator> log;
      MUST(db->GetUpdatesSince(0, &log));
      objects_.log = log.release();
      MUST(BackupEngine::Open(BackupEngineOptions(dir_ + "/backups"), Env::Default(), &objects_.backups));
      MUST(objects_.backups->CreateNewBackup(db));
      MUST(BackupEngineReadOnly::Open(BackupEngineOptions(dir_ + "/backups"), Env::Default(),
                                      &objects_.backups_to_read));
      MUST(Checkpoint::Create(db, &objects_.checkpoint));
    }
    objects_.snapshot = db->GetSnapshot();
    objects_.iterator = db->NewIterator(ReadOptions());
    objects_.iterator->SeekToFirst();
    MUST(objects_.iterator->Valid());
    if (transactions_ != nullptr) {
      TransactionOptions with;
      with.set_snapshot = true;
      objects_.transaction = transactions_->BeginTransaction(WriteOptions(), with);
    }
    if (optimistic_ != nullptr) objects_.transaction = optimistic_->BeginTransaction(WriteOptions());
    if (objects_.transaction != nullptr) {
      MUST(objects_.transaction->Put("locked", "v"));
      objects_.overlay = objects_.transaction->GetIterator(ReadOptions());
      objects_.overlay->SeekToFirst();
      MUST(objects_.overlay->Valid());
    }
    const std::string table = dir_ + "/table.sst";
    {
      SstFileWriter made(EnvOptions(), BaseOptions());
      MUST(made.Open(table));
      MUST(made.Put("a", "b"));
      MUST(made.Finish());
    }
    objects_.reader = new SstFileReader(BaseOptions());
    MUST(objects_.reader->Open(table));
    objects_.writer = new SstFileWriter(EnvOptions(), BaseOptions());
    MUST(objects_.writer->Open(dir_ + "/unfinished.sst"));
    MUST(objects_.writer->Put("a", "b"));
    std::unique_ptr<WritableFile> file;
    MUST(Env::Default()->NewWritableFile(dir_ + "/half a buffer", &file, EnvOptions()));
    MUST(file->Append("half"));
    objects_.file = file.release();
    objects_.logger = db->GetDBOptions().info_log.get();
    if (case_.kind == "c") {
      rocksdb_options_t* const options = rocksdb_options_create();
      rocksdb_options_set_create_if_missing(options, 1);
      char* error = nullptr;
      objects_.c_db = rocksdb_open(options, (dir_ + "/c").c_str(), &error);
      MUST(error == nullptr);
      rocksdb_options_destroy(options);
    }
  }

  void Enter() {
    const std::string& state = case_.state;
    if (brake_ != nullptr) brake_->Arm();
    if (state == "idle") {
      if (writes()) {
        MUST(writer_db()->Flush(FlushOptions()));
        MUST(writer_db()->WaitForCompact(WaitForCompactOptions()));
      }
      // Background work after the flush is over.
      std::string now = Contents(db_dir()), last;
      do {
        last = std::move(now);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        now = Contents(db_dir());
      } while (now != last);
    } else if (state == "flush") {
      MUST(global_db->Put(WriteOptions(), "flushed", "v"));
      FlushOptions no_wait;
      no_wait.wait = false;
      MUST(global_db->Flush(no_wait));
      brake_->WaitUntilHeld();
    } else if (state == "compaction") {
      Start([this](uint64_t) {
        global_db->CompactRange(CompactRangeOptions(), nullptr, nullptr).PermitUncheckedError();
        running_ = false;
      });
      brake_->WaitUntilHeld();
    } else if (state == "stall" || state == "writers") {
      for (int t = 0; t < 3; ++t) {
        Start([t](uint64_t i) {
          global_db->Put(WriteOptions(), "w" + std::to_string(t * 10000000 + i), std::string(500, 'x'))
              .PermitUncheckedError();
          std::string value;
          global_db->Get(ReadOptions(), "key" + std::to_string(i % 200), &value).PermitUncheckedError();
        });
      }
      if (state == "stall") {
        brake_->WaitUntilHeld();
        uint64_t stopped = 0;
        for (int i = 0; i < 5000 && stopped == 0; ++i) {
          global_db->GetIntProperty(DB::Properties::kIsWriteStopped, &stopped);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        MUST(stopped == 1);
      }
    } else if (state == "backup") {
      Start([this](uint64_t) { MUST(objects_.backups->CreateNewBackup(global_db.get())); });
    } else if (state == "opening" || state == "closing") {
      Start([this](uint64_t i) {
        DB* other = nullptr;
        MUST(DB::Open(BaseOptions(), dir_ + "/other", &other));
        MUST(other->Put(WriteOptions(), std::to_string(i), "v"));
        delete other;
      });
    }
    if (state == "writers" || state == "backup" || state == "opening" || state == "closing") {
      std::this_thread::sleep_for(std::chrono::milliseconds(state == "closing" ? 57 : 50));
    }
  }

  // Again and again, until the parent leaves the state.
  void Start(std::function<void(uint64_t)> step) {
    threads_.emplace_back([this, step = std::move(step)] {
      for (uint64_t i = 0; running_; ++i) step(i);
    });
  }

  void Leave() {
    if (brake_ != nullptr) brake_->Release();
    running_ = false;
    for (std::thread& thread : threads_) thread.join();
  }

  int Child(int report) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kMostSeconds / 3);
    std::string wrong;
    for (const std::string& call : CallInherited(objects_, dir_ + "/scratch")) wrong += call + "\n";
    global_db.release();  // it is objects_.db
    DeleteInherited(&objects_);
    DB* again = nullptr;
    if (case_.kind != "read_only") {
      const Status s = DB::Open(BaseOptions(), db_dir(), &again);
      if (!s.IsIOError()) wrong += "the parent's database opened: " + s.ToString() + "\n";
    }
    // As a program that forgets about it.
    global_db.reset(objects_.db);
    WorkOnOwnDatabase(dir_ + "/child", shared_);
    shared_ = SharedObjects();
    std::atomic<bool> ran{false};
    pool_->SubmitJob([&ran] { ran = true; });
    pool_->WaitForJobsAndJoinAllThreads();
    if (!ran) wrong += "a thread pool does nothing\n";
    pool_.reset();
    Env::Default()->WaitForJoin();
    if (write(report, wrong.data(), wrong.size()) < 0) _exit(kWrong);
    static auto* const not_there = new std::vector<std::thread>(std::move(threads_));
    (void)not_there;
    if (case_.end == "exit") exit(0);
    if (case_.end == "_exit") _exit(0);
    if (case_.end == "signal") kill(getpid(), SIGTERM);
    return 0;
  }

  void Watch(pid_t pid, int report) const {
    std::string wrong;
    char buffer[4096];
    for (ssize_t n; (n = read(report, buffer, sizeof(buffer))) > 0;) wrong.append(buffer, static_cast<size_t>(n));
    int status = 0;
    MUST(waitpid(pid, &status, 0) == pid);
    if (!wrong.empty()) Die("in the child:\n" + wrong);
    if (case_.end == "signal") {
      MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      Die("the child ended by " + std::string(WIFSIGNALED(status) ? "signal " : "exit code ") +
          std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
    }
  }

  void CheckLocked() const {
    if (writes()) MUST(compassdb_test::Run({"--try-open=" + db_dir()}) == kCannotOpen);
  }

  const Case case_;
  const std::string dir_;
  SharedObjects shared_;
  std::unique_ptr<ThreadPool> pool_;
  std::shared_ptr<Brake> brake_;
  std::unique_ptr<DB> primary_;
  TransactionDB* transactions_ = nullptr;
  OptimisticTransactionDB* optimistic_ = nullptr;
  OpenObjects objects_;
  std::atomic<bool> running_{true};
  std::vector<std::thread> threads_;
};

// --- third processes

int TryOpen(const std::string& dir) {
  DB* db = nullptr;
  const Status s = DB::Open(BaseOptions(), dir, &db);
  delete db;
  return s.ok() ? 0 : s.IsIOError() ? kCannotOpen : kWrong;
}

int FindAll(const Case& c, const std::string& dir) {
  DB* opened = nullptr;
  std::vector<std::string> names;
  MUST(DB::ListColumnFamilies(BaseOptions(), dir + "/db", &names));
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, BaseOptions());
  std::vector<ColumnFamilyHandle*> handles;
  MUST(DB::Open(BaseOptions(), dir + "/db", families, &handles, &opened));
  for (ColumnFamilyHandle* handle : handles) delete handle;
  const std::unique_ptr<DB> db(opened);
  std::string value;
  for (int i = 0; i < 10 && c.kind != "read_only"; ++i) {
    MUST(db->Get(ReadOptions(), "synced" + std::to_string(i), &value));
  }
  if (c.kind == "plain") MUST(db->Get(ReadOptions(), "in the memtable", &value));
  MUST(db->VerifyChecksum());
  std::ifstream file(dir + "/half a buffer");
  std::string text;
  std::getline(file, text);
  MUST(text == "halfparent");
  return 0;
}

// Descriptors that a program inherits.
int CountDescriptors(const std::string& dir) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error);
    if (target.rfind(dir, 0) == 0 || target.find("[io_uring]") != std::string::npos) ++count;
  }
  return count;
}

// --- what is not a case of the table

// The parent dies while its child lives: the database is free, for the child as well.
int Orphan(const std::string& dir) {
  DB* db = nullptr;
  MUST(DB::Open(BaseOptions(), dir + "/db", &db));
  global_db.reset(db);
  WriteOptions sync;
  sync.sync = true;
  MUST(db->Put(sync, "of the parent", "v"));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) {
    kill(getpid(), SIGKILL);
    return kWrong;
  }
  alarm(kMostSeconds / 3);
  while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  MUST(Run({"--try-open=" + dir + "/db"}) == 0);
  {
    MUST(DB::Open(BaseOptions(), dir + "/db", &db));
    const std::unique_ptr<DB> mine(db);
    std::string value;
    MUST(mine->Get(ReadOptions(), "of the parent", &value));
    MUST(mine->Put(sync, "of the child", "v"));
    MUST(Run({"--try-open=" + dir + "/db"}) == kCannotOpen);
  }
  std::ofstream(dir + "/right") << "right";
  exit(0);
}

// Children that run no fork handlers, and programs that a process starts.
int Others(const std::string& dir) {
  DB* db = nullptr;
  MUST(DB::Open(BaseOptions(), dir + "/db", &db));
  global_db.reset(db);
  MUST(db->Put(WriteOptions(), "k", "v"));
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid == 0) {
    std::string value;
    const bool refused = db->Get(ReadOptions(), "k", &value).ToString().find("fork()") != std::string::npos;
    global_db.reset();
    _exit(refused ? 0 : kWrong);
  }
  int status = 0;
  MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  // By vfork or posix_spawn, in glibc.
  MUST(system("exit 0") == 0);
  const pid_t by_vfork = vfork();
  if (by_vfork == 0) _exit(0);
  MUST(waitpid(by_vfork, &status, 0) == by_vfork);
  MUST(Run({"--descriptors=" + dir}) == 0);
  MUST(Run({"--try-open=" + dir + "/db"}) == kCannotOpen);
  // Closing another descriptor of the file keeps the lock.
  close(open((dir + "/db/LOCK").c_str(), O_RDWR | O_CLOEXEC));
  MUST(Run({"--try-open=" + dir + "/db"}) == kCannotOpen);
  std::string value;
  MUST(db->Put(WriteOptions(), "k", "w"));
  MUST(db->Get(ReadOptions(), "k", &value));
  MUST(value == "w");
  MUST(db->Flush(FlushOptions()));
  global_db.reset();
  MUST(Run({"--try-open=" + dir + "/db"}) == 0);
  std::ofstream(dir + "/right") << "right";
  return 0;
}

// A child of a child, each with a database of its own that its child may not use.
int Chain(const std::string& dir) {
  OpenObjects open;
  const int depth = 3;
  for (int i = 0; i < depth; ++i) {
    MUST(DB::Open(BaseOptions(), dir + "/db" + std::to_string(i), &open.db));
    MUST(open.db->Put(WriteOptions(), "k", std::to_string(i)));
    const pid_t pid = fork();
    if (pid != 0) {
      int status = 0;
      MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
      MUST(open.db->Flush(FlushOptions()));
      delete open.db;
      std::ofstream(dir + "/right") << "right";
      exit(0);
    }
    alarm(kMostSeconds / 3);
    for (const std::string& call : CallInherited(open, dir + "/scratch")) Die(call);
    delete open.db;
  }
  exit(0);
}

// Forks in a callback; the child returns into the engine. The parent waits for its end, as long as its alarm allows.
class ForksIn final : public EventListener, public CompactionFilter {
 public:
  explicit ForksIn(std::string callback) : callback_(std::move(callback)) {}
  const char* Name() const override { return "ForksIn"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return Fork("filter"), false; }
  void OnMemTableSealed(const MemTableInfo&) override { Fork("sealed"); }
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Fork("flush begins"); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Fork("flush completed"); }
  void OnTableFileCreated(const TableFileCreationInfo&) override { Fork("table created"); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { Fork("compaction begins"); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { Fork("compaction completed"); }
  bool in_child() const { return in_child_; }
  bool forked() const { return forked_; }

 private:
  bool Fork(const char* callback) const {
    if (callback_ != callback || forked_.exchange(true)) return false;
    const pid_t pid = fork();
    if (pid == 0) {
      in_child_ = true;
      alarm(2);
      return true;
    }
    int status = 0;
    Must("the child ends", waitpid(pid, &status, 0) == pid);
    return true;
  }

  const std::string callback_;
  mutable std::atomic<bool> forked_{false}, in_child_{false};
};

const char* const kCallbacks[] = {"filter",        "sealed",            "flush begins",        "flush completed",
                                  "table created", "compaction begins", "compaction completed"};

int Callback(const std::string& callback, const std::string& dir) {
  const auto forks = std::make_shared<ForksIn>(callback);
  Options options = BaseOptions();
  options.listeners.push_back(forks);
  options.compaction_filter = forks.get();
  DB* db = nullptr;
  MUST(DB::Open(options, dir + "/db", &db));
  const int keys = 300;
  for (int i = 0; i < keys; ++i) MUST(db->Put(WriteOptions(), "k" + std::to_string(i), "v"));
  const auto work = [&] {
    Status s = db->Flush(FlushOptions());
    if (s.ok()) s = db->Put(WriteOptions(), "k1", "w");
    if (s.ok()) s = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    return s;
  };
  const Status s = work();
  if (forks->in_child()) _exit(s.ok() ? kWrong : 0);
  MUST(s);
  MUST(forks->forked());
  MUST(work());
  MUST(db->VerifyChecksum());
  delete db;
  MUST(DB::Open(options, dir + "/db", &db));
  int found = 0;
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++found;
  MUST(it->status());
  MUST(found == keys);
  std::ofstream(dir + "/right") << "right";
  return 0;
}

// --- the driver

int RunCase(const Case& c) {
  const TempDir dir("fork_test", /*on_disk=*/true);
  fs::create_directories(dir.path());
  const int code = Run({"--parent", c.kind, c.state, c.end, dir.path()});
  if (code != 1000 + SIGKILL) {
    fprintf(stderr, "FAILED: %s: the parent ended with %d\n", c.Name().c_str(), code);
    return 1;
  }
  if (const int found = Run({"--find", c.kind, c.state, c.end, dir.path()}); found != 0) {
    fprintf(stderr, "FAILED: %s: afterwards: %d\n", c.Name().c_str(), found);
    return 1;
  }
  return 0;
}

int RunOther(const std::string& name, const std::string& detail = "") {
  const TempDir dir("fork_test", /*on_disk=*/true);
  if (detail.empty()) {
    Run({"--" + name, dir.path()});
  } else {
    Run({"--" + name, dir.path(), detail});
  }
  for (int i = 0; i < 2000 && !fs::exists(dir.path() + "/right"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (name != "orphan") break;
  }
  if (fs::exists(dir.path() + "/right")) return 0;
  fprintf(stderr, "FAILED: %s %s\n", name.c_str(), detail.c_str());
  return 1;
}

// Every state with a plain database, every kind at rest; ends in turn, and each with each kind of
// shutdown that destroys global objects.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  size_t end = 0;
  for (const char* state : kStates) cases.push_back({"plain", state, kEnds[end++ % 4]});
  for (const char* kind : kKinds) cases.push_back({kind, "memtable", kEnds[end++ % 4]});
  for (const char* last : kEnds) cases.push_back({"plain", "idle", last});
  cases.push_back({"transactions", "writers", "exit"});
  cases.push_back({"optimistic", "writers", "return"});
  return cases;
}

bool Is(const char* arg, const char* flag, std::string* rest) {
  if (strncmp(arg, flag, strlen(flag)) != 0) return false;
  *rest = arg + strlen(flag);
  return true;
}

int Main(int argc, char** argv) {
  if (COMPASSDB_TEST_SANITIZED) {
    printf("skipped: sanitizers follow no threads into children\n");
    return 77;
  }
  std::string rest, only;
  if (argc > 1) {
    alarm(kMostSeconds);
    if (Is(argv[1], "--try-open=", &rest)) return TryOpen(rest);
    if (Is(argv[1], "--descriptors=", &rest)) return CountDescriptors(rest);
    if (argc == 6 && Is(argv[1], "--parent", &rest)) {
      // Static, as the child may return from main with it.
      static Parent parent({argv[2], argv[3], argv[4]}, argv[5]);
      return parent.Run();
    }
    if (argc == 6 && Is(argv[1], "--find", &rest)) return FindAll({argv[2], argv[3], argv[4]}, argv[5]);
    if (argc == 3 && Is(argv[1], "--orphan", &rest)) return Orphan(argv[2]);
    if (argc == 3 && Is(argv[1], "--others", &rest)) return Others(argv[2]);
    if (argc == 3 && Is(argv[1], "--chain", &rest)) return Chain(argv[2]);
    if (argc == 4 && Is(argv[1], "--callback", &rest)) return Callback(argv[3], argv[2]);
    alarm(0);
    Is(argv[1], "--only=", &only);
  }
  int failed = 0, tried = 0;
  for (const Case& c : Cases()) {
    if (c.Name().find(only) == std::string::npos) continue;
    ++tried;
    failed += RunCase(c);
  }
  for (const char* other : {"orphan", "others", "chain"}) {
    if (std::string(other).find(only) == std::string::npos) continue;
    ++tried;
    failed += RunOther(other);
  }
  for (const char* callback : kCallbacks) {
    if (std::string(callback).find(only) == std::string::npos) continue;
    ++tried;
    failed += RunOther("callback", callback);
  }
  printf("fork: %d states tried, %d failed\n", tried, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
