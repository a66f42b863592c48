// SPDX-License-Identifier: Apache-2.0
#include "c_api/errors.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace compassdb {

using rocksdb::Status;

bool Report(char** errptr, const Status& s) noexcept {
  if (s.ok()) return true;
  char* const message = strdup(s.ToString().c_str());
  // The caller must not see success.
  if (message == nullptr) std::terminate();
  std::free(*errptr);
  *errptr = message;
  return false;
}

Status StatusOfException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  } catch (const std::exception& e) {
    return Status::Aborted(e.what());
  } catch (...) {
    return Status::Aborted("an exception of unknown type");
  }
}

}  // namespace compassdb
