// SPDX-License-Identifier: Apache-2.0
// Preloaded before any program: what it does to the files of one directory is written down, or made to
// fail. Nothing of the engine under test is changed for it.
//
//   RIVALS_DIR    the directory; info logs and LOCK files in it do not count
//   RIVALS_TRACE  a file that takes a line per call (compare.py reads them), and RIVALS_TRACE.data what was written;
//                 a program's lines to standard output are notes between them
//   RIVALS_FAIL   N:ERRNO:once or N:ERRNO:ever: from the N-th call on, or that alone
//   RIVALS_COUNT  a file that takes the number of calls at the end
//
// Calls that are seen: open for writing or of a directory, write, pwrite, fsync, fdatasync, rename, unlink, link,
// ftruncate, fallocate, mkdir. One at a time, so that their order is the file system's.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

template <class F>
F* Real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

using OpenFn = int(const char*, int, ...);
using WriteFn = ssize_t(int, const void*, size_t);

struct State {
  std::recursive_mutex mu;
  std::string dir;
  int trace = -1, data = -1;
  uint64_t data_bytes = 0, calls = 0, handles = 0;
  uint64_t fail_at = 0;
  int fail_errno = 0;
  bool fail_ever = false;
  std::map<int, uint64_t> handle_of;  // of open files
  std::map<int, bool> append;
};

const char* Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

// Never destroyed: the engine's threads may outlive main.
State* state() {
  static State* const made = [] {
    auto* s = new State;
    s->dir = Variable("RIVALS_DIR");
    const std::string trace = Variable("RIVALS_TRACE");
    if (!trace.empty()) {
      const int flags = O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC;
      s->trace = Real<OpenFn>("open")(trace.c_str(), flags, 0644);
      s->data = Real<OpenFn>("open")((trace + ".data").c_str(), flags, 0644);
    }
    char how[8] = "";
    unsigned long at = 0;
    if (sscanf(Variable("RIVALS_FAIL"), "%lu:%d:%7s", &at, &s->fail_errno, how) == 3) {
      s->fail_at = at;
      s->fail_ever = strcmp(how, "ever") == 0;
    }
    return s;
  }();
  return made;
}

void WriteAll(int fd, const char* bytes, size_t size) {
  static WriteFn* const real = Real<WriteFn>("write");
  while (size > 0) {
    const ssize_t n = real(fd, bytes, size);
    if (n <= 0) _exit(4);
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

void Trace(const std::string& line) {
  if (state()->trace < 0) return;
  const std::string text = line + "\n";
  WriteAll(state()->trace, text.data(), text.size());
}

bool Counts(const char* path) {
  const std::string& dir = state()->dir;
  if (path == nullptr || dir.empty() || strncmp(path, dir.c_str(), dir.size()) != 0) return false;
  const char* const slash = strrchr(path, '/');
  return strncmp(slash + 1, "LOG", 3) != 0 && strcmp(slash + 1, "LOCK") != 0;
}

uint64_t HandleOf(int fd) {  // 0: none of ours
  const auto it = state()->handle_of.find(fd);
  return it == state()->handle_of.end() ? 0 : it->second;
}

// Counts the call; true if it is to fail.
bool Fails() {
  State* const s = state();
  ++s->calls;
  const bool now = s->fail_at != 0 && (s->fail_ever ? s->calls >= s->fail_at : s->calls == s->fail_at);
  if (now) errno = s->fail_errno;
  return now;
}

std::string Path(const char* path) {  // relative; "." is the directory itself
  const size_t skip = state()->dir.size();
  return strlen(path) <= skip + 1 ? "." : std::string(path + skip + 1);
}

int Open(const char* path, int flags, mode_t mode) {
  static OpenFn* const real = Real<OpenFn>("open");
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  struct stat before;
  const bool counts = Counts(path);
  const bool exists = counts && stat(path, &before) == 0;
  const bool is_dir = exists && S_ISDIR(before.st_mode);
  if (!counts || (!writes && !is_dir)) return real(path, flags, mode);
  if (Fails()) return -1;
  const int fd = real(path, flags, mode);
  if (fd < 0) return fd;
  const uint64_t handle = ++state()->handles;
  state()->handle_of[fd] = handle;
  state()->append[fd] = (flags & O_APPEND) != 0;
  Trace("open " + std::to_string(handle) + " " + (is_dir ? "dir" : !exists ? "new" : (flags & O_TRUNC) ? "trunc" : "old") +
        " " + Path(path));
  return fd;
}

ssize_t Written(uint64_t handle, const void* bytes, ssize_t n, off_t offset) {
  if (n > 0) {
    Trace("write " + std::to_string(handle) + " " + std::to_string(offset) + " " + std::to_string(n) + " " +
          std::to_string(state()->data_bytes));
    if (state()->data >= 0) WriteAll(state()->data, static_cast<const char*>(bytes), static_cast<size_t>(n));
    state()->data_bytes += static_cast<uint64_t>(n);
  }
  return n;
}

template <class Call>
int OnHandle(int fd, const std::string& what, const Call& call) {
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  const uint64_t handle = HandleOf(fd);
  if (handle == 0) return call();
  if (Fails()) return -1;
  const int result = call();
  if (result == 0 && !what.empty()) {
    const size_t space = what.find(' ');
    Trace(what.substr(0, space) + " " + std::to_string(handle) +
          (space == std::string::npos ? "" : what.substr(space)));
  }
  return result;
}

template <class Call>
int OnPaths(const char* a, const char* b, const char* what, const Call& call) {
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  if (!Counts(a) && !(b != nullptr && Counts(b))) return call();
  if (Fails()) return -1;
  const int result = call();
  if (result == 0) Trace(std::string(what) + " " + Path(a) + (b == nullptr ? "" : " " + Path(b)));
  return result;
}

int Fallocate(int fd, int mode, off_t offset, off_t length) {
  static auto* const real = Real<int(int, int, off_t, off_t)>("fallocate");
  std::string what;
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) what = "zero ";
  if (mode == 0) what = "extend ";
  if (!what.empty()) what += std::to_string(offset) + " " + std::to_string(length);
  return OnHandle(fd, what, [&] { return real(fd, mode, offset, length); });
}

int Truncate(int fd, off_t length) {
  static auto* const real = Real<int(int, off_t)>("ftruncate");
  return OnHandle(fd, "truncate " + std::to_string(length), [&] { return real(fd, length); });
}

ssize_t WriteAt(int fd, const void* bytes, size_t n, off_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  const uint64_t handle = HandleOf(fd);
  if (handle == 0) return real(fd, bytes, n, offset);
  if (Fails()) return -1;
  return Written(handle, bytes, real(fd, bytes, n, offset), offset);
}

__attribute__((destructor)) void SayCount() {
  const char* const path = Variable("RIVALS_COUNT");
  if (*path == '\0') return;
  const int fd = Real<OpenFn>("open")(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  const std::string text = std::to_string(state()->calls) + "\n";
  WriteAll(fd, text.data(), text.size());
  Real<int(int)>("close")(fd);
}

mode_t ModeOf(int flags, va_list args) { return (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0; }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  const mode_t mode = ModeOf(flags, args);
  va_end(args);
  return Open(path, flags, mode);
}
int __open_2(const char* path, int flags) { return Open(path, flags, 0); }

int close(int fd) {
  static auto* const real = Real<int(int)>("close");
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  state()->handle_of.erase(fd);
  return real(fd);
}

ssize_t write(int fd, const void* bytes, size_t n) {
  static WriteFn* const real = Real<WriteFn>("write");
  const std::lock_guard<std::recursive_mutex> lock(state()->mu);
  if (fd == STDOUT_FILENO && n > 0) {
    Trace("note " + std::string(static_cast<const char*>(bytes), n - 1));
    return real(fd, bytes, n);
  }
  const uint64_t handle = HandleOf(fd);
  if (handle == 0) return real(fd, bytes, n);
  if (Fails()) return -1;
  struct stat now;
  const off_t offset = state()->append[fd] && fstat(fd, &now) == 0 ? now.st_size : lseek(fd, 0, SEEK_CUR);
  return Written(handle, bytes, real(fd, bytes, n), offset);
}

ssize_t pwrite(int fd, const void* bytes, size_t n, off_t offset) { return WriteAt(fd, bytes, n, offset); }

int fsync(int fd) {
  static auto* const real = Real<int(int)>("fsync");
  return OnHandle(fd, "sync", [&] { return real(fd); });
}
int fdatasync(int fd) {
  static auto* const real = Real<int(int)>("fdatasync");
  return OnHandle(fd, "sync", [&] { return real(fd); });
}
int ftruncate(int fd, off_t length) { return Truncate(fd, length); }
int fallocate(int fd, int mode, off_t offset, off_t length) { return Fallocate(fd, mode, offset, length); }

int rename(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  return OnPaths(from, to, "rename", [&] { return real(from, to); });
}
int link(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("link");
  return OnPaths(from, to, "link", [&] { return real(from, to); });
}
int unlink(const char* path) {
  static auto* const real = Real<int(const char*)>("unlink");
  return OnPaths(path, nullptr, "unlink", [&] { return real(path); });
}
int mkdir(const char* path, mode_t mode) {
  static auto* const real = Real<int(const char*, mode_t)>("mkdir");
  return OnPaths(path, nullptr, "mkdir", [&] { return real(path, mode); });
}

// off_t has 64 bits: these are the same.
__attribute__((alias("open"))) int open64(const char* path, int flags, ...);
__attribute__((alias("__open_2"))) int __open64_2(const char* path, int flags);
__attribute__((alias("pwrite"))) ssize_t pwrite64(int fd, const void* bytes, size_t n, off_t offset);
__attribute__((alias("ftruncate"))) int ftruncate64(int fd, off_t length);
__attribute__((alias("fallocate"))) int fallocate64(int fd, int mode, off_t offset, off_t length);

}  // extern "C"
