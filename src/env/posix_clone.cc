// SPDX-License-Identifier: Apache-2.0
// Copies of files that share their blocks: FICLONE, of btrfs, XFS and others.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "env/posix_error.h"
#include "env/posix_files.h"
#include "env/posix_open.h"

namespace compassdb {

namespace {

bool CannotShare(int error) {
  switch (error) {
    case EOPNOTSUPP:
    case ENOTTY:
    case ENOSYS:
    case EXDEV:
    case EINVAL:  // among others: one file has checksums or compression that the other has not
      return true;
    default:
      return false;
  }
}

}  // namespace

Status ClonePosixFile(const std::string& from, const std::string& to) {
  const std::string operation = "clone file to " + to;
  int source = -1;
  if (Status s = OpenRegularFile(operation.c_str(), from, 0, &source); !s.ok()) return s;
  const int target = RetryOnInterrupt(
      [&] { return open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644); });
  int error = target < 0 ? errno : 0;
  if (target >= 0) {
    if (RetryOnInterrupt([&] { return ioctl(target, FICLONE, source); }) != 0) error = errno;
    if (close(target) != 0 && error == 0 && errno != EINTR) error = errno;
    if (error != 0) unlink(to.c_str());
  }
  close(source);
  if (error == 0) return Status::OK();
  if (target >= 0 && CannotShare(error)) {
    return Status::NotSupported("While " + operation + ": " + from,
                                "blocks cannot be shared between these places");
  }
  return PosixError(operation, from, error);
}

}  // namespace compassdb
