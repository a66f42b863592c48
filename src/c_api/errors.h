// SPDX-License-Identifier: Apache-2.0
// Errors on their way to C. No exception of C++ leaves a function of rocksdb/c.h.
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

// Replaces the message in *errptr, which is null or malloc()ed, if s is an error. Returns whether it is OK.
bool Report(char** errptr, const rocksdb::Status& s) noexcept;

// What is being thrown, as a Status; called in a handler of any exception.
rocksdb::Status StatusOfException() noexcept;

// Whether `call`, which returns a Status, succeeds. If not, *errptr says why.
template <class Call>
bool Succeeds(char** errptr, Call call) noexcept {
  try {
    return Report(errptr, call());
  } catch (...) {
    return Report(errptr, StatusOfException());
  }
}

// For calls without a way to report that they failed. What they leave undone must not go unnoticed, so an exception
// (there was no memory) ends the process.
template <class Call>
auto MustSucceed(Call call) noexcept {
  return call();
}

// For calls that return a pointer: null instead of an exception.
template <class Call>
auto OrNull(Call call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace compassdb
