// SPDX-License-Identifier: Apache-2.0
#include "sync_hooks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<uint64_t> fsyncs{0};
std::atomic<uint64_t> msyncs{0};
std::atomic<uint64_t> sync_file_ranges{0};
std::atomic<uint64_t> ring_requests{0};
std::atomic<bool> skipped{false};

void Count(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

bool Skipped() { return skipped.load(std::memory_order_relaxed); }

}  // namespace

// The raw system calls take the place of the C library's functions, which do
// nothing else; those of --skip-syncs do nothing at all.
extern "C" {

int fsync(int fd) {
  Count(fsyncs);
  return Skipped() ? 0 : static_cast<int>(syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  Count(fsyncs);
  return Skipped() ? 0 : static_cast<int>(syscall(SYS_fdatasync, fd));
}

int syncfs(int fd) noexcept {
  Count(fsyncs);
  return Skipped() ? 0 : static_cast<int>(syscall(SYS_syncfs, fd));
}

void sync() noexcept {
  Count(fsyncs);
  if (!Skipped()) syscall(SYS_sync);
}

int msync(void* address, size_t length, int flags) {
  Count(msyncs);
  return Skipped() ? 0 : static_cast<int>(syscall(SYS_msync, address, length, flags));
}

int sync_file_range(int fd, off64_t offset, off64_t count, unsigned int flags) {
  Count(sync_file_ranges);
  return Skipped() ? 0 : static_cast<int>(syscall(SYS_sync_file_range, fd, offset, count, flags));
}

// Found only if the process has liburing at all.
static int CountRequests(int n) {
  if (n > 0) ring_requests.fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
  return n;
}

int io_uring_submit(void* ring) {
  static const auto real = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "io_uring_submit"));
  return real == nullptr ? -ENOSYS : CountRequests(real(ring));
}

int io_uring_submit_and_wait(void* ring, unsigned wait_for) {
  static const auto real = reinterpret_cast<int (*)(void*, unsigned)>(
      dlsym(RTLD_NEXT, "io_uring_submit_and_wait"));
  return real == nullptr ? -ENOSYS : CountRequests(real(ring, wait_for));
}

// A RocksDB that was built with liburing uses it only in processes that say so.
bool RocksDbIOUringEnable() { return true; }

}  // extern "C"

namespace kvbench {

SyncCounts ReadSyncCounts() {
  return {fsyncs.load(), msyncs.load(), sync_file_ranges.load(), ring_requests.load()};
}

void SkipSyncs() { skipped = true; }

bool UncountedSyncFs(const char* dir) {
  const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool ok = syscall(SYS_syncfs, fd) == 0;
  close(fd);
  return ok;
}

}  // namespace kvbench
