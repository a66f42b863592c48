// SPDX-License-Identifier: Apache-2.0
// killed_test COMPASSDB [--stride=N]: what makes a database is killed, with its helpers, before its n-th system call that
// changes a file, n in turn. Afterwards there is nothing in the database's place, or something that is refused by name,
// or the whole database. Repair makes no part of one look whole. Then the same is done again, and succeeds.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "support/temp_dir.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using Arguments = std::vector<std::string>;

// ---- Processes

[[noreturn]] void Exec(const Arguments& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

bool ChangesFiles(const __ptrace_syscall_info& info) {
  const auto& call = info.entry;
  switch (call.nr) {
    case SYS_openat:
      return (call.args[2] & (O_CREAT | O_TRUNC)) != 0;
#ifdef SYS_open
    case SYS_open:
      return (call.args[1] & (O_CREAT | O_TRUNC)) != 0;
    case SYS_rename:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_link:
#endif
    case SYS_write:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_linkat:
      return true;
    default:
      return false;
  }
}

// The command and all that it starts, until they end or are killed.
class Traced {
 public:
  // `kill_at`: before which call of those that change files; 0: none. The exit code, or -1 if it was killed.
  static int Run(const Arguments& arguments, int kill_at) { return Traced(kill_at).Follow(arguments); }

 private:
  explicit Traced(int kill_at) : kill_at_(kill_at) {}

  int Follow(const Arguments& arguments) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      const int null = open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) dup2(null, fd);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      Exec(arguments);
    }
    int status = 0, code = -1;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, nullptr,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
               PTRACE_O_TRACEEXEC);
    started_.insert(child);
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    while (true) {
      const pid_t pid = waitpid(-1, &status, __WALL);
      if (pid == -1 && errno == EINTR) continue;
      if (pid == -1) return killed_ ? -1 : code;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        started_.erase(pid);
        if (pid == child && WIFEXITED(status)) code = WEXITSTATUS(status);
        continue;
      }
      Stopped(pid, status);
    }
  }

  void Stopped(pid_t pid, int status) {
    int signal = WSTOPSIG(status);
    const bool first = started_.insert(pid).second;
    if (signal == (SIGTRAP | 0x80)) {
      signal = 0;
      __ptrace_syscall_info info = {};
      ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY && ChangesFiles(info) && ++calls_ == kill_at_) {
        killed_ = true;
        for (const pid_t one : started_) kill(one, SIGKILL);
      }
    } else if (status >> 16 != 0 || (first && signal == SIGSTOP)) {
      signal = 0;  // an event of the tracing
    }
    ptrace(PTRACE_SYSCALL, pid, nullptr, signal);
  }

  const int kill_at_;
  int calls_ = 0;
  bool killed_ = false;
  std::set<pid_t> started_;
};

// Exit code and standard output.
int Ask(const Arguments& arguments, std::string* output) {
  int fds[2];
  output->clear();
  if (pipe2(fds, O_CLOEXEC) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    dup2(fds[1], 1);
    dup2(open("/dev/null", O_RDWR), 2);
    Exec(arguments);
  }
  close(fds[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(fds[0], buffer, sizeof(buffer))) > 0;) output->append(buffer, static_cast<size_t>(n));
  close(fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// ---- What this program does as a child of itself

Status Do(const std::string& work, const std::string& from, const std::string& to) {
  rocksdb::Options options;
  rocksdb::BackupEngine* engine = nullptr;
  rocksdb::DB* opened = nullptr;
  Status s;
  if (work == "restore" || work == "backup") {
    s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(work == "restore" ? from : to), &engine);
    if (!s.ok()) return s;
  }
  const std::unique_ptr<rocksdb::BackupEngine> closes_engine(engine);
  if (work == "restore") return engine->RestoreDBFromLatestBackup(to, to);
  std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName};
  options.create_if_missing = work == "create";
  if (work != "create") s = rocksdb::DB::ListColumnFamilies(options, from, &names);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (s.ok()) s = rocksdb::DB::Open(options, work == "create" ? to : from, families, &handles, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  if (s.ok() && work == "backup") return engine->CreateNewBackup(db.get());
  if (!s.ok() || work != "checkpoint") return s;
  rocksdb::Checkpoint* made = nullptr;
  s = rocksdb::Checkpoint::Create(db.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return s.ok() ? checkpoint->CreateCheckpoint(to) : s;
}

// ---- The cases

class Killed {
 public:
  Killed(std::string self, std::string compassdb, int stride)
      : self_(std::move(self)), compassdb_(std::move(compassdb)), stride_(stride), dir_("killed", /*on_disk=*/true) {}

  bool Run() {
    if (!Prepare()) return false;
    const std::string place = Path("place"), data = Path("data.tsv");
    const auto nothing = [] {};
    const auto directory = [place] { fs::create_directory(place); };
    const auto older = [this, place] { fs::copy(Path("older"), place, fs::copy_options::recursive); };
    const Arguments restore{self_, "restore", Path("backups"), place};
    const Arguments load{compassdb_, "load", "-q", "--db", place, data};
    Case("load", nothing, load);
    Case("load into a directory", directory, load);
    Case("put", nothing, {compassdb_, "put", "--db", place, "a", "1"}, "a\t1\n");
    Case("create", nothing, {self_, "create", "", place}, "");
    two_families_ = true;
    Case("restore", nothing, restore);
    Case("restore over a database", older, restore);
    Case("checkpoint", nothing, {self_, "checkpoint", Path("whole"), place});
    Case("repair", [this, place] {
      fs::copy(Path("whole"), place, fs::copy_options::recursive);
      fs::remove(place + "/CURRENT");
    }, {compassdb_, "repair", "--db", place});
    kind_ = Kind::kBackups;
    Case("backup", nothing, {self_, "backup", Path("whole"), place});
    Case("backup in addition to one", [this, place] { fs::copy(Path("backups"), place, fs::copy_options::recursive); },
         {self_, "backup", Path("whole"), place});
    kind_ = Kind::kDatabase;
    const std::string helper = fs::path(compassdb_).parent_path() / "compassdb-rocksdb-";
    if (fs::exists(helper + "reader") && fs::exists(helper + "writer")) {
      const Arguments import{compassdb_, "import", "-q", "--db", place, Path("rocksdb")};
      if (Traced::Run({compassdb_, "export", "-q", "--db", Path("whole"), Path("rocksdb")}, 0) != 0) return Fail("export", 0, "failed");
      Case("import", nothing, import);
      Case("import into a directory", directory, import);
      kind_ = Kind::kRocksDb;
      Case("export", nothing, {compassdb_, "export", "-q", "--db", Path("whole"), place});
    }
    return failures_ == 0;
  }

 private:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  bool Prepare() {
    std::ofstream data(Path("data.tsv"));
    for (int i = 1000; i < 2000; ++i) contents_ += "key" + std::to_string(i) + "\tvalue" + std::to_string(i) + "\n";
    data << contents_;
    data.close();
    const Arguments load{compassdb_, "load", "-q", "--db", Path("whole"), Path("data.tsv")};
    Arguments load_other = load;
    load_other.insert(load_other.end(), {"--cf", "other", "--create-cf"});
    const bool made = Traced::Run(load, 0) == 0 && Traced::Run(load_other, 0) == 0 &&
                      Traced::Run({compassdb_, "put", "--db", Path("older"), "old", "1"}, 0) == 0 &&
                      Traced::Run({self_, "backup", Path("whole"), Path("backups")}, 0) == 0;
    return made || Fail("preparation", 0, "failed (is ptrace forbidden here?)");
  }

  // `then`: contents of the new database.
  void Case(const std::string& name, const std::function<void()>& before, const Arguments& command, const std::string& then) {
    int kills = 0, whole = 0, refused = 0, absent = 0;
    for (int n = 1;; n += stride_) {
      Clear();
      before();
      const int code = Traced::Run(command, n);
      const bool killed = code == -1;
      std::string said;
      switch (Look(then, &said)) {
        case Found::kNothing: ++absent; break;
        case Found::kRefused: ++refused; break;
        case Found::kWhole: ++whole; break;
        case Found::kOlder: ++absent; break;
        case Found::kWrong: Fail(name, n, "the place holds something else: " + said);
      }
      if (killed && kind_ == Kind::kDatabase && fs::exists(Path("place"))) {
        Ask({compassdb_, "repair", "-q", "--db", Path("place")}, &said);
        if (Look(then, &said) == Found::kWrong) Fail(name, n, "repaired, the place holds something else: " + said);
      }
      if (!killed && code != 0) Fail(name, n, "was not killed, and ended with " + std::to_string(code));
      if (!killed) break;
      ++kills;
      // A whole database may be refused.
      const int again = Traced::Run(command, 0);
      if (Look(then, &said) != Found::kWhole) {
        Fail(name, n, "done again, it ended with " + std::to_string(again) + ", and the place holds " + said);
      }
    }
    std::printf("%-24s %3d kills: %d times nothing, %d refused, %d whole\n", name.c_str(), kills, absent, refused, whole);
  }
  void Case(const std::string& name, const std::function<void()>& before, const Arguments& command) {
    Case(name, before, command, contents_);
  }

  bool HasBackup() const {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(Path("place/meta"), ec)) {
      if (!entry.path().has_extension()) return true;
    }
    return false;
  }

  enum class Found { kNothing, kRefused, kWhole, kOlder, kWrong };

  Found Look(const std::string& then, std::string* said) {
    std::string database = Path("place");
    if (kind_ != Kind::kDatabase && fs::exists(database)) {
      fs::remove_all(Path("copy"));
      const Arguments copy = kind_ == Kind::kRocksDb ? Arguments{compassdb_, "import", "-q", "--db", Path("copy"), database}
                                                     : Arguments{self_, "restore", database, Path("copy")};
      const bool may_be_none = kind_ == Kind::kBackups && !HasBackup();
      if (Ask(copy, said) != 0) return may_be_none ? Found::kNothing : Found::kWrong;
      database = Path("copy");
    }
    if (!fs::exists(database)) return Found::kNothing;
    const int code = Ask({compassdb_, "scan", "--db", database}, said);
    std::string other;
    const bool has_other = !two_families_ || (Ask({compassdb_, "scan", "--db", database, "--cf", "other"}, &other) == 0 && other == then);
    if (code == 0 && *said == then && has_other) {
      return Ask({compassdb_, "verify", "-q", "--db", database}, said) == 0 ? Found::kWhole : Found::kWrong;
    }
    if (code == 0) return *said == "old\t1\n" && fs::exists(Path("place/CURRENT")) ? Found::kOlder : Found::kWrong;
    const bool named = fs::exists(database + "/CURRENT") || fs::exists(database + "/UNFINISHED");
    return named ? Found::kRefused : Found::kNothing;
  }

  void Clear() {
    for (const char* name : {"place", "place.unfinished", "place.tmp"}) fs::remove_all(Path(name));
  }

  bool Fail(const std::string& name, int n, const std::string& what) {
    std::fprintf(stderr, "FAILED: %s, killed before call %d: %s\n", name.c_str(), n, what.substr(0, 300).c_str());
    ++failures_;
    return false;
  }

  const std::string self_, compassdb_;
  const int stride_;
  const TempDir dir_;
  std::string contents_;
  enum class Kind { kDatabase, kRocksDb, kBackups } kind_ = Kind::kDatabase;  // what is in the place
  bool two_families_ = false;  // the database that comes to be has "other" with the same contents
  int failures_ = 0;
};

int Main(int argc, char** argv) {
  const std::string self = fs::read_symlink("/proc/self/exe");
  if (argc == 4) {
    const Status s = Do(argv[1], argv[2], argv[3]);
    if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return s.ok() ? 0 : 1;
  }
  int stride = 1;
  if (argc < 2 || (argc == 3 && std::sscanf(argv[2], "--stride=%d", &stride) != 1) || stride < 1) {
    std::fprintf(stderr, "usage: killed_test COMPASSDB [--stride=N]\n");
    return 2;
  }
  return Killed(self, argv[1], stride).Run() ? 0 : 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
