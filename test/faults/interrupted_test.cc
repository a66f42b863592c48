// SPDX-License-Identifier: Apache-2.0
//
// System calls that are interrupted or do half of their work: none of it is an error, and
// callers must not notice. The calls of this process go through the functions below.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "faults/script.h"
#include "support/layout.h"
#include "support/temp_dir.h"

namespace {

enum class Trouble { kNone, kInterrupted, kHalf };
std::atomic<Trouble> trouble{Trouble::kNone};
std::atomic<uint64_t> troubled{0};
std::atomic<bool> pages{false};  // direct I/O: nothing is done by halves of them

// Every second call of a thread is interrupted before it begins.
bool Interrupted() {
  thread_local bool last = false;
  if (trouble.load() != Trouble::kInterrupted) return false;
  last = !last;
  if (!last) return false;
  ++troubled;
  errno = EINTR;
  return true;
}

size_t Part(size_t n) {
  constexpr size_t kPage = 4096;
  if (trouble.load() != Trouble::kHalf || n < (pages ? 2 * kPage : 2)) return n;
  ++troubled;
  return pages ? n / 2 / kPage * kPage : n / 2;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  if (Interrupted()) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t read(int fd, void* buffer, size_t n) {
  return Interrupted() ? -1 : syscall(SYS_read, fd, buffer, Part(n));
}
ssize_t write(int fd, const void* buffer, size_t n) {
  return Interrupted() ? -1 : syscall(SYS_write, fd, buffer, Part(n));
}
ssize_t pread(int fd, void* buffer, size_t n, off_t offset) {
  return Interrupted() ? -1 : syscall(SYS_pread64, fd, buffer, Part(n), offset);
}
ssize_t pwrite(int fd, const void* buffer, size_t n, off_t offset) {
  return Interrupted() ? -1 : syscall(SYS_pwrite64, fd, buffer, Part(n), offset);
}
int fsync(int fd) { return Interrupted() ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { return Interrupted() ? -1 : static_cast<int>(syscall(SYS_fdatasync, fd)); }
int ftruncate(int fd, off_t size) noexcept {
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int truncate(const char* path, off_t size) noexcept {
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_truncate, path, size));
}
int fallocate(int fd, int mode, off_t offset, off_t n) {
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, n));
}

}  // extern "C"

namespace compassdb_test {

bool Run(const std::string& layout, bool direct, Trouble kind) {
  TempDir dir("interrupted", /*on_disk=*/direct);
  Script script(layout, rocksdb::Env::Default(), dir.path() + "/db");
  if (direct) script.UseDirectIo();
  pages = direct;
  troubled = 0;
  trouble = kind;
  script.Live([] { return true; });
  trouble = Trouble::kNone;
  const char* what = kind == Trouble::kHalf ? "short transfers" : "interruptions";
  printf("%-14s %llu %s%s\n", layout.c_str(), static_cast<unsigned long long>(troubled.load()), what, direct ? ", direct" : "");
  if (troubled.load() < (direct ? 20 : 100) || !script.failures().empty()) {
    fprintf(stderr, "FAILED: %s\n", script.failures().empty() ? "there were none" : script.failures()[0].status.ToString().c_str());
    return false;
  }
  const auto wrong = script.Check(/*synced_only=*/false);
  if (wrong) fprintf(stderr, "FAILED: %s\n", wrong->c_str());
  return !wrong;
}

bool HasDirectIo() {
  const TempDir dir("interrupted", /*on_disk=*/true);
  const int fd = open((dir.path() + "/file").c_str(), O_RDWR | O_CREAT | O_DIRECT, 0644);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

int Main() {
  const bool has_direct = HasDirectIo();
  if (!has_direct) printf("no direct I/O here\n");
  for (const std::string& layout : Layouts()) {
    for (const bool direct : {false, true}) {
      if (direct && !has_direct) continue;
      if (!Run(layout, direct, Trouble::kInterrupted) || !Run(layout, direct, Trouble::kHalf)) return 1;
    }
  }
  return 0;
}

}  // namespace compassdb_test

int main() { return compassdb_test::Main(); }
