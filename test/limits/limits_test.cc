// SPDX-License-Identifier: Apache-2.0
//
// Scarcity: a disk that is full and then is not, few descriptors, few threads, little memory.
//
//   limits_test --part=disk           a file system of 64 MiB is filled, then freed: writes continue by
//                                     themselves within 10 s, nothing acknowledged is lost
//   limits_test --part=descriptors    32 descriptors in all, and 64 with max_open_files=-1 and many more tables
//   limits_test --part=threads        no thread but the program's own, one more, and so on; then as many as are wanted
//   limits_test --part=memory [--mb=1024]   a memory cgroup of 64 MiB, and so much data
//
// Each with every layout, or --layout=NAME.
//
// Exit code 77, and a line that says why, where the machine does not let us make the limit.

#include <dirent.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
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
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "compassdb/table.h"
#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "support/flags.h"
#include "support/layout.h"
#include "support/random.h"
#include "support/temp_dir.h"

namespace compassdb_test {
namespace {

using rocksdb::Status;
using Clock = std::chrono::steady_clock;

constexpr int kSkipped = 77;

#define REQUIRE(condition, ...)                                        \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "FAILED: %s: ", #condition);                     \
      fprintf(stderr, __VA_ARGS__);                                    \
      fprintf(stderr, "\n");                                           \
      return 1;                                                        \
    }                                                                  \
  } while (0)

int Skip(const std::string& why) {
  printf("skipped: %s\n", why.c_str());
  return kSkipped;
}

std::string Key(uint64_t i) {
  char key[20];
  snprintf(key, sizeof(key), "key%012llu", static_cast<unsigned long long>(i * 2654435761u % 1000000007u));
  return key;
}
std::string Value(uint64_t i, size_t bytes) {
  Random random(i);
  std::string value = std::to_string(i) + ":";
  while (value.size() < bytes) value.push_back(static_cast<char>(random.Next()));
  return value;
}

rocksdb::Options BaseOptions(const std::string& layout) {
  rocksdb::Options options;
  ApplyFullSizeLayout(layout, &options);
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = 2 << 20;
  options.target_file_size_base = 2 << 20;
  options.max_bytes_for_level_base = 8 << 20;
  return options;
}

// Null if it does not open.
std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const std::string& path) {
  rocksdb::DB* db = nullptr;
  const Status s = rocksdb::DB::Open(options, path, &db);
  if (!s.ok()) fprintf(stderr, "%s\n", s.ToString().c_str());
  return std::unique_ptr<rocksdb::DB>(db);
}

// The first of n that does not exist, or n.
uint64_t FirstMissing(rocksdb::DB* db, uint64_t n, size_t bytes) {
  for (uint64_t i = 0; i < n; ++i) {
    std::string value;
    if (!db->Get(rocksdb::ReadOptions(), Key(i), &value).ok() || value != Value(i, bytes)) return i;
  }
  return n;
}

// --- A full disk ---

// ext4 in a loop device, or a tmpfs of that size.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& dir) : mount_(dir + "/disk") {
    std::filesystem::create_directories(mount_);
    // Of this process alone: mounts end with it, however it ends.
    if (unshare(CLONE_NEWNS) == 0) mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    const std::string image = dir + "/image";
    const std::string make = "(truncate -s 64M " + image + " && mkfs.ext4 -q -m 0 " + image + " && mount -o loop " + image +
                             " " + mount_ + ") >/dev/null 2>&1";
    if (geteuid() == 0 && std::system(make.c_str()) == 0) {
      kind_ = "ext4 in a loop device";
    } else if (mount("compassdb-limits", mount_.c_str(), "tmpfs", 0, "size=64m") == 0) {
      kind_ = "tmpfs";
    }
  }
  ~SmallDisk() {
    if (kind_ != nullptr && umount(mount_.c_str()) != 0) perror("umount");
  }
  const char* kind() const { return kind_; }  // null: not possible
  const std::string& path() const { return mount_; }

 private:
  const std::string mount_;
  const char* kind_ = nullptr;
};

bool WriteBallast(const std::string& path, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  const std::string chunk(1 << 20, 'b');
  for (size_t n = 0; n < bytes; n += chunk.size()) out.write(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  return out.good();
}

int FullDisk(const std::string& layout) {
  TempDir dir("limits", /*on_disk=*/true);
  const SmallDisk disk(dir.path());
  if (disk.kind() == nullptr) return Skip("no file system can be mounted here");
  const std::string ballast = disk.path() + "/ballast", path = disk.path() + "/db";
  REQUIRE(WriteBallast(ballast, 30 << 20), "ballast");
  std::unique_ptr<rocksdb::DB> db = Open(BaseOptions(layout), path);
  REQUIRE(db != nullptr, "open");
  constexpr size_t kValue = 4000;
  uint64_t n = 0;
  const auto put = [&](bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    const Status s = db->Put(options, Key(n), Value(n, kValue));
    n += s.ok() ? 1 : 0;
    return s;
  };
  Status s;
  while (s.ok() && n < 40000) s = put(n % 16 == 0);
  REQUIRE(s.IsNoSpace(), "%s after %llu writes", s.ToString().c_str(), static_cast<unsigned long long>(n));
  REQUIRE(s.ToString().find(path) != std::string::npos, "the error names no file: %s", s.ToString().c_str());
  printf("%s: full after %llu writes: %s\n", disk.kind(), static_cast<unsigned long long>(n), s.ToString().c_str());
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    REQUIRE(FirstMissing(db.get(), n, kValue) == n, "a read while the disk is full");
  }
  std::filesystem::remove(ballast);
  const Clock::time_point freed = Clock::now();
  while (!(s = put(true)).ok() && Clock::now() - freed < std::chrono::seconds(30)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - freed).count();
  REQUIRE(s.ok(), "writes do not continue: %s", s.ToString().c_str());
  printf("writes continue %.2f s after space was freed\n", seconds);
  REQUIRE(seconds <= 10, "%.1f s", seconds);
  for (int i = 0; i < 500; ++i) REQUIRE((s = put(false)).ok(), "%s", s.ToString().c_str());
  REQUIRE(FirstMissing(db.get(), n, kValue) == n, "before reopening");
  db.reset();
  db = Open(BaseOptions(layout), path);
  REQUIRE(db != nullptr, "reopen");
  const uint64_t missing = FirstMissing(db.get(), n, kValue);
  REQUIRE(missing == n, "write %llu of %llu is lost", static_cast<unsigned long long>(missing), static_cast<unsigned long long>(n));
  REQUIRE(put(true).ok(), "a write after reopening");
  return 0;
}

// --- Few descriptors ---

size_t OpenDescriptors() {
  size_t n = 0;
  if (DIR* dir = opendir("/proc/self/fd")) {
    while (readdir(dir) != nullptr) ++n;
    closedir(dir);
    n -= 3;  // ".", "..", and the directory itself
  }
  return n;
}

// For the reader of a failure.
void PrintDescriptors() {
  const rlimit more = {64, 64};
  setrlimit(RLIMIT_NOFILE, &more);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    fprintf(stderr, "%s -> %s\n", entry.path().filename().c_str(), std::filesystem::read_symlink(entry.path(), error).c_str());
  }
}

int InChild(const std::function<int()>& body) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int code = body();
    fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "FAILED: killed by signal %d\n", WTERMSIG(status));
    return 1;
  }
  return WEXITSTATUS(status);
}

int FewDescriptors(const std::string& layout) {
  TempDir dir("limits");
  for (int fd = 3; fd < 256; ++fd) close(fd);
  const rlimit limit = {32, 64};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  rocksdb::Options options = BaseOptions(layout);
  options.max_open_files = 10;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 128 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  std::unique_ptr<rocksdb::DB> db = Open(options, dir.path() + "/db");
  REQUIRE(db != nullptr, "open");
  constexpr uint64_t kWrites = 40000;
  constexpr size_t kValue = 500;
  size_t most = 0;
  for (uint64_t i = 0; i < kWrites; ++i) {
    const Status s = db->Put(rocksdb::WriteOptions(), Key(i), Value(i, kValue));
    if (!s.ok()) PrintDescriptors();
    REQUIRE(s.ok(), "%s", s.ToString().c_str());
    if (i % 500 == 0) most = std::max(most, OpenDescriptors());
  }
  Status s = db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
  REQUIRE(s.ok(), "%s", s.ToString().c_str());
  REQUIRE(FirstMissing(db.get(), kWrites, kValue) == kWrites, "reads");
  most = std::max(most, OpenDescriptors());
  db.reset();
  db = Open(options, dir.path() + "/db");
  REQUIRE(db != nullptr, "reopen");
  REQUIRE(FirstMissing(db.get(), kWrites, kValue) == kWrites, "reads after reopening");
  uint64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() + "/db")) {
    files += entry.path().extension() == ".ph" ? 1 : 0;
  }
  printf("%zu descriptors at most, %llu table files\n", most, static_cast<unsigned long long>(files));
  REQUIRE(most <= limit.rlim_cur, "%zu", most);
  return 0;
}

// max_open_files=-1 keeps every file open, but never takes what the program needs.
int AllFilesOpen(const std::string& layout) {
  TempDir dir("limits");
  for (int fd = 3; fd < 256; ++fd) close(fd);
  const rlimit limit = {64, 1024};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  rocksdb::Options options = BaseOptions(layout);
  options.max_open_files = -1;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  constexpr uint64_t kWrites = 12000;
  constexpr size_t kValue = 500;
  size_t most = 0;
  for (int round = 0; round < 2; ++round) {
    std::unique_ptr<rocksdb::DB> db = Open(options, dir.path() + "/db");
    REQUIRE(db != nullptr, "open");
    for (uint64_t i = 0; round == 0 && i < kWrites; ++i) {
      const Status s = db->Put(rocksdb::WriteOptions(), Key(i), Value(i, kValue));
      if (!s.ok()) PrintDescriptors();
      REQUIRE(s.ok(), "%s", s.ToString().c_str());
      if (i % 500 == 0) most = std::max(most, OpenDescriptors());
    }
    REQUIRE(FirstMissing(db.get(), kWrites, kValue) == kWrites, "reads in round %d", round);
    most = std::max(most, OpenDescriptors());
    REQUIRE(OpenDescriptors() + 8 <= limit.rlim_cur, "%zu are open, and nothing is left to the program", OpenDescriptors());
    const Status s = db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
    REQUIRE(s.ok(), "%s", s.ToString().c_str());
  }
  uint64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() + "/db")) {
    files += entry.path().extension() == ".ph" ? 1 : 0;
  }
  printf("%zu of 64 descriptors at most with all files open, %llu table files\n", most, static_cast<unsigned long long>(files));
  return 0;
}

int Descriptors(const std::string& layout) {
  const int few = InChild([&] { return FewDescriptors(layout); });
  return few != 0 ? few : AllFilesOpen(layout);
}

// --- Few threads ---

size_t Threads() {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) n += entry.exists() ? 1 : 0;
  return n;
}

bool LimitThreads(rlim_t more) {
  rlimit limit = {};
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = more == RLIM_INFINITY ? limit.rlim_max : 1 + more;
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

// Everything that starts threads or waits for work of one.
int WorkWithThreads(const std::string& layout, const std::string& path, bool is_limited) {
  rocksdb::Options options = BaseOptions(layout);
  options.write_buffer_size = 128 << 10;
  options.target_file_size_base = 64 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  options.max_subcompactions = 3;
  std::unique_ptr<rocksdb::DB> db = Open(options, path + "/db");
  REQUIRE(db != nullptr, "open");
  constexpr size_t kValue = 500;
  uint64_t n = 0;
  const auto put = [&](uint64_t until) {
    Status s;
    for (; s.ok() && n < until; ++n) s = db->Put(rocksdb::WriteOptions(), Key(n), Value(n, kValue));
    return s;
  };
  Status s = put(6000);  // many memtables: writers wait for flushes, these for compactions
  REQUIRE(s.ok(), "put: %s", s.ToString().c_str());
  REQUIRE((s = db->Flush(rocksdb::FlushOptions())).ok(), "flush: %s", s.ToString().c_str());
  REQUIRE((s = put(7000)).ok(), "put: %s", s.ToString().c_str());
  REQUIRE((s = db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr)).ok(), "compact: %s", s.ToString().c_str());
  rocksdb::WaitForCompactOptions wait;
  wait.flush = true;
  REQUIRE((s = db->WaitForCompact(wait)).ok(), "wait: %s", s.ToString().c_str());
  rocksdb::Checkpoint* checkpoint = nullptr;
  s = rocksdb::Checkpoint::Create(db.get(), &checkpoint);
  if (s.ok()) s = checkpoint->CreateCheckpoint(path + "/checkpoint");
  delete checkpoint;
  REQUIRE(s.ok(), "checkpoint: %s", s.ToString().c_str());
  rocksdb::BackupEngineOptions to(path + "/backup");
  to.max_background_operations = 3;
  rocksdb::BackupEngine* backup = nullptr;
  s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), to, &backup);
  if (s.ok()) s = backup->CreateNewBackup(db.get(), /*flush_before_backup=*/true);
  if (s.ok()) s = backup->RestoreDBFromLatestBackup(path + "/restored", path + "/restored");
  delete backup;
  REQUIRE(s.ok(), "backup: %s", s.ToString().c_str());
  std::atomic<int> started{0};
  for (int i = 0; i < 3; ++i) {
    rocksdb::Env::Default()->StartThread([](void* arg) { ++*static_cast<std::atomic<int>*>(arg); }, &started);
  }
  rocksdb::Env::Default()->WaitForJoin();
  REQUIRE(started == 3, "%d", started.load());
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;  // which the close flushes
  REQUIRE((s = db->Put(unlogged, Key(n), Value(n, kValue))).ok(), "%s", s.ToString().c_str());
  ++n;
  if (is_limited) {
    REQUIRE(LimitThreads(RLIM_INFINITY), "setrlimit");
    REQUIRE((s = put(n + 1000)).ok() && (s = db->Flush(rocksdb::FlushOptions())).ok(), "%s", s.ToString().c_str());
    REQUIRE(Threads() > 1, "no thread is started when there are some again");
  }
  REQUIRE((s = db->Close()).ok(), "close: %s", s.ToString().c_str());
  db.reset();
  for (const char* const copy : {"/db", "/checkpoint", "/restored"}) {
    const uint64_t wanted = strcmp(copy, "/db") == 0 ? n : 7000;
    db = Open(options, path + copy);
    REQUIRE(db != nullptr, "reopen of %s", copy);
    const uint64_t missing = FirstMissing(db.get(), wanted, kValue);
    REQUIRE(missing == wanted, "%s: write %llu is lost", copy, static_cast<unsigned long long>(missing));
    db.reset();
  }
  return 0;
}

// Whether one thread more than `more` cannot be started.
bool IsRefused(rlim_t more) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  bool refused = false;
  try {
    while (threads.size() <= more) threads.emplace_back([&] { done.wait(false); });
  } catch (const std::system_error&) {
    refused = true;
  }
  done = true;
  done.notify_all();
  for (std::thread& thread : threads) thread.join();
  return refused;
}

int FewThreads(const std::string& layout) {
  if (geteuid() != 0) return Skip("only root may become a user that has no process yet");
  for (const rlim_t more : {0, 1, 2, 3, 5}) {
    const auto begun = Clock::now();
    const int code = InChild([&] {
      alarm(120);  // an endless wait is the failure that this test looks for
      TempDir dir("limits");
      // The limit counts the threads of a user, and does not bind root.
      const auto user = static_cast<uid_t>(2000000 + getpid() * 8 + static_cast<int>(more));
      REQUIRE(chown(dir.path().c_str(), user, user) == 0 && LimitThreads(more), "limit");
      if (setgid(user) != 0 || setuid(user) != 0) return Skip("another user is not possible here");
      if (!IsRefused(more)) return Skip("the limit of threads does not bind here");
      return WorkWithThreads(layout, dir.path(), /*is_limited=*/true);
    });
    if (code != 0) {
      fprintf(stderr, "with %d threads\n", static_cast<int>(more));
      return code;
    }
    printf("%d: %.1f s  ", static_cast<int>(more), std::chrono::duration<double>(Clock::now() - begun).count());
  }
  printf("\n");
  return 0;
}

// --- Little memory ---

class MemoryGroup {
 public:
  MemoryGroup() {
    const std::string name = "/compassdb-limits-" + std::to_string(getpid());
    if (std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers")) {
      std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "+memory";
      Make("/sys/fs/cgroup" + name, "memory.max", "memory.peak");
    } else {
      Make("/sys/fs/cgroup/memory" + name, "memory.limit_in_bytes", "memory.max_usage_in_bytes");
    }
  }
  ~MemoryGroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  bool made() const { return !path_.empty(); }
  bool Enter() const {
    std::ofstream procs(path_ + "/cgroup.procs");
    procs << getpid();
    procs.close();
    return procs.good();
  }

 private:
  void Make(const std::string& path, const char* limit, const char* /*peak*/) {
    if (mkdir_(path) != 0) return;
    std::ofstream file(path + "/" + limit);
    file << (64 << 20);
    file.close();
    if (file.good()) {
      path_ = path;
      // Swap would hide what is taken.
      std::ofstream(path + "/memory.swap.max") << "0";
    } else {
      rmdir(path.c_str());
    }
  }
  static int mkdir_(const std::string& path) {
    std::error_code error;
    return std::filesystem::create_directory(path, error) ? 0 : -1;
  }
  std::string path_;
};

int LittleMemory(const std::string& layout, uint64_t mb) {
  const MemoryGroup group;
  if (!group.made()) return Skip("no memory cgroup can be made here");
  TempDir dir("limits", /*on_disk=*/true);
  return InChild([&] {
    // The engine cannot release large freed buffers that glibc keeps.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    if (!group.Enter()) return Skip("this process cannot be put into a memory cgroup");
    rocksdb::Options options = BaseOptions(layout);
    auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    table->cache_index_and_filter_blocks = true;
    table->block_cache = rocksdb::NewLRUCache(8 << 20);
    options.max_open_files = 100;
    std::unique_ptr<rocksdb::DB> db = Open(options, dir.path() + "/db");
    REQUIRE(db != nullptr, "open");
    constexpr size_t kValue = 1000;
    const uint64_t writes = mb * 1000;
    for (uint64_t i = 0; i < writes; ++i) {
      const Status s = db->Put(rocksdb::WriteOptions(), Key(i), Value(i, kValue));
      REQUIRE(s.ok(), "%s", s.ToString().c_str());
    }
    for (uint64_t i = 0; i < writes; i += 97) {
      std::string value;
      const Status s = db->Get(rocksdb::ReadOptions(), Key(i), &value);
      REQUIRE(s.ok() && value == Value(i, kValue), "%s", s.ToString().c_str());
    }
    db.reset();
    db = Open(options, dir.path() + "/db");
    REQUIRE(db != nullptr, "reopen");
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    printf("%llu MB within 64 MiB; the process took %ld at most\n", static_cast<unsigned long long>(mb), used.ru_maxrss >> 10);
    return 0;
  });
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const std::string part = flags.String("part", "");
  const uint64_t mb = flags.Number("mb", 1024);
  const std::string only = flags.String("layout", "");
  flags.RejectUnknown();
  const std::map<std::string, std::function<int(const std::string&)>> parts = {
      {"disk", FullDisk}, {"descriptors", Descriptors}, {"threads", FewThreads}, {"memory", [mb](const std::string& layout) { return LittleMemory(layout, mb); }}};
  if (parts.count(part) == 0) {
    fprintf(stderr, "--part=disk, descriptors, threads or memory\n");
    return 2;
  }
  std::vector<std::string> layouts = Layouts();
  std::erase_if(layouts, [&](const std::string& name) { return !only.empty() && only != name; });
  if (layouts.empty()) {
    fprintf(stderr, "--layout=%s: there is none of that name\n", only.c_str());
    return 2;
  }
  int code = 0;
  for (const std::string& layout : layouts) {
    printf("%s: ", layout.c_str());
    fflush(stdout);
    // In a process of its own: the limits are a process's.
    const int one = InChild([&] { return parts.at(part)(layout); });
    if (one == kSkipped) return kSkipped;
    code = std::max(code, one);
  }
  return code;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
