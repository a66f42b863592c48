// SPDX-License-Identifier: Apache-2.0
#include "env/posix_error.h"

#include <cerrno>
#include <system_error>

namespace compassdb {

using rocksdb::Status;

Status PosixError(const std::string& operation, const std::string& path, int error) {
  const std::string where = "While " + operation + ": " + path;
  const std::string why = std::generic_category().message(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return Status::NoSpace(where, why);
    case ENOENT:
      return Status::PathNotFound(where, why);
    default:
      return Status::IOError(where, why);
  }
}

}  // namespace compassdb
