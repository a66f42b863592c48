// SPDX-License-Identifier: Apache-2.0
#include "env/posix_open.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "env/descriptor.h"
#include "env/io_stats.h"
#include "env/posix_error.h"

namespace compassdb {

using rocksdb::Status;

namespace {

const char* KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

Status NotAFile(const char* operation, const std::string& path, mode_t mode) {
  return Status::IOError("While " + std::string(operation) + ": " + path,
                         std::string("it is ") + KindOfFile(mode) + ", not a file");
}

}  // namespace

Status OpenRegularFile(const char* operation, const std::string& path, int flags, int* fd) {
  const IoSpan span(&rocksdb::IOStatsContext::open_nanos);
  flags |= O_RDONLY | O_CLOEXEC;
  Descriptor opened(RetryOnInterrupt([&] { return open(path.c_str(), flags | O_NONBLOCK); }));
  const int error = errno;
  struct stat st;
  if (opened.get() < 0) {
    if (error == ENXIO && stat(path.c_str(), &st) == 0) return NotAFile(operation, path, st.st_mode);
    if (error == EINVAL && (flags & O_DIRECT) != 0) {
      return Status::NotSupported("While " + std::string(operation) + ": " + path,
                                  "the file system does not support O_DIRECT");
    }
    return PosixError(operation, path, error);
  }
  if (fstat(opened.get(), &st) != 0) return PosixError("fstat", path, errno);
  if (!S_ISREG(st.st_mode)) return NotAFile(operation, path, st.st_mode);
  // io_uring heeds O_NONBLOCK for files, too.
  if (fcntl(opened.get(), F_SETFL, flags) != 0) return PosixError("fcntl", path, errno);
  *fd = opened.Release();
  return Status::OK();
}

}  // namespace compassdb
