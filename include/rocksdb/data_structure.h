// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <assert.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// A set of values of an enum, one bit each. MAX_VALUE is the largest that may be stored, at most
// 63.
template <typename ENUM_TYPE, ENUM_TYPE MAX_VALUE>
class SmallEnumSet {
  static_assert(MAX_VALUE <= 63, "a set of an enum has 64 bits");

 public:
  SmallEnumSet() : state_(0) {}
  ~SmallEnumSet() {}

  // True if the value was not in the set before.
  bool Add(const ENUM_TYPE value) {
    const bool added = !Contains(value);
    state_ |= Bit(value);
    return added;
  }

  bool Contains(const ENUM_TYPE value) const { return (state_ & Bit(value)) != 0; }

 private:
  static uint64_t Bit(ENUM_TYPE value) {
    assert(value >= 0 && value <= MAX_VALUE);
    return uint64_t{1} << value;
  }

  uint64_t state_;
};

}  // namespace ROCKSDB_NAMESPACE
