// SPDX-License-Identifier: Apache-2.0
// Out of memory as a Status: exceptions do not cross the API.
#pragma once

#include <new>

#include "rocksdb/status.h"

namespace compassdb {

inline rocksdb::Status OutOfMemory(const char* what) {
  try {
    return rocksdb::Status::MemoryLimit("out of memory", what);
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }
}

// What f() returns; MemoryLimit if it ran out of memory.
template <typename F>
rocksdb::Status CatchOutOfMemory(const char* what, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return OutOfMemory(what);
  }
}

// The same for an answer that something can be done without.
template <typename T, typename F>
T UnlessOutOfMemory(T otherwise, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}

}  // namespace compassdb
