// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rocksdb/status.h"

namespace compassdb {

// The Status of a failed system call: "While <operation>: <path>: <errno text>".
// ENOSPC and EDQUOT get the subcode NoSpace, ENOENT PathNotFound.
rocksdb::Status PosixError(const std::string& operation, const std::string& path, int error);

// Calls f until it returns something else than -1 with EINTR.
template <typename F>
auto RetryOnInterrupt(F f) -> decltype(f()) {
  decltype(f()) r;
  do {
    r = f();
  } while (r == -1 && errno == EINTR);
  return r;
}

}  // namespace compassdb
