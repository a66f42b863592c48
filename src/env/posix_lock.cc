// SPDX-License-Identifier: Apache-2.0
// Record locks on the whole file. They belong to the open file description
// (F_OFD_SETLK) so that closing some other descriptor of the file does not drop
// them; they conflict with the F_SETLK locks that RocksDB takes. A table of the
// files locked by this process gives a second caller a helpful message.
//
// A child of fork() shares the description. It closes its descriptors at once and unlocks
// nothing, so the lock lasts exactly as long as the process that took it holds it.
#include "env/posix_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <functional>
#include <map>
#include <new>
#include <thread>

#include "env/fork_watch.h"
#include "env/posix_error.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

namespace {

using FileId = std::pair<dev_t, ino_t>;

struct Holder {
  time_t since;
  size_t thread;
  int fd;
};

struct LockTable {
  Mutex mu;
  std::map<FileId, Holder> held GUARDED_BY(mu);
};

void CloseInheritedLocks(void* object) NO_THREAD_SAFETY_ANALYSIS {
  auto* const table = static_cast<LockTable*>(object);
  for (const auto& [id, holder] : table->held) close(holder.fd);
  RenewInherited(table);
}

LockTable* NewTable() {
  auto* const table = new LockTable;
  ForkCalls calls;
  // While the process forks, every open file is in the table.
  calls.before = [](void* t) NO_THREAD_SAFETY_ANALYSIS { static_cast<LockTable*>(t)->mu.Lock(); };
  calls.in_parent = [](void* t) NO_THREAD_SAFETY_ANALYSIS { static_cast<LockTable*>(t)->mu.Unlock(); };
  calls.in_child = &CloseInheritedLocks;
  new AtForks(table, calls);
  return table;
}

LockTable* Table() {
  static auto* table = NewTable();
  return table;
}

// Before there are threads that could fork.
[[maybe_unused]] const bool forks_watched = WatchForks() && Table() != nullptr;

int LockOrUnlock(int fd, bool lock) {
  struct flock f = {};
  f.l_type = lock ? F_WRLCK : F_UNLCK;
  f.l_whence = SEEK_SET;
  const int r = RetryOnInterrupt([&] { return fcntl(fd, F_OFD_SETLK, &f); });
  // File systems without such locks have the process-wide ones.
  return r == -1 && errno == EINVAL ? RetryOnInterrupt([&] { return fcntl(fd, F_SETLK, &f); }) : r;
}

class PosixFileLock : public FileLock {
 public:
  PosixFileLock(int fd, FileId id) : fd_(fd), id_(id) {}
  ~PosixFileLock() override {
    if (process_.Inherited()) return;  // the descriptor is closed already
    LockTable* table = Table();
    MutexLock l(&table->mu);
    table->held.erase(id_);
    LockOrUnlock(fd_, false);
    close(fd_);
  }

 private:
  const ProcessMark process_;
  const int fd_;
  const FileId id_;
};

}  // namespace

Status LockPosixFile(const std::string& path, std::unique_ptr<FileLock>* lock) {
  lock->reset();
  LockTable* table = Table();
  MutexLock l(&table->mu);
  // Look before opening: with process-wide locks, closing the second
  // descriptor would release what the first one holds.
  struct stat st;
  if (stat(path.c_str(), &st) == 0) {
    const auto it = table->held.find(FileId(st.st_dev, st.st_ino));
    if (it != table->held.end()) {
      return Status::IOError("lock hold by current process, acquire time " +
                                 std::to_string(it->second.since) + " acquiring thread " +
                                 std::to_string(it->second.thread) + ": " + path,
                             "No locks available");
    }
  }
  int fd = -1;
  // The last holder may have deleted the file since it was opened here. Then its lock says nothing about `path`.
  for (bool same = false; !same;) {
    fd = RetryOnInterrupt([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); });
    if (fd < 0) return PosixError("open a file for lock", path, errno);
    struct stat named;
    const char* failed = nullptr;
    if (LockOrUnlock(fd, true) == -1) {
      failed = "lock file";
    } else if (fstat(fd, &st) != 0) {
      failed = "fstat";
    } else if (stat(path.c_str(), &named) == 0) {
      same = named.st_dev == st.st_dev && named.st_ino == st.st_ino;
    } else if (errno != ENOENT) {
      failed = "stat";
    }
    const int error = errno;
    if (!same) close(fd);
    if (failed != nullptr) return PosixError(failed, path, error);
  }
  const FileId id(st.st_dev, st.st_ino);
  try {
    table->held[id] = {time(nullptr), std::hash<std::thread::id>()(std::this_thread::get_id()),
                       fd};
    *lock = std::make_unique<PosixFileLock>(fd, id);
  } catch (const std::bad_alloc&) {
    table->held.erase(id);
    close(fd);
    return Status::MemoryLimit();
  }
  return Status::OK();
}

}  // namespace compassdb
