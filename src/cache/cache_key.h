// SPDX-License-Identifier: Apache-2.0
// Keys of rocksdb::Cache that are made of numbers.
#pragma once

#include "rocksdb/slice.h"
#include "util/coding.h"

namespace compassdb {

template <size_t kNumbers>
class CacheKey {
 public:
  explicit CacheKey(const uint64_t (&numbers)[kNumbers]) {
    for (size_t i = 0; i < kNumbers; ++i) EncodeFixed64(bytes_ + 8 * i, numbers[i]);
  }
  rocksdb::Slice slice() const { return rocksdb::Slice(bytes_, sizeof(bytes_)); }

 private:
  char bytes_[8 * kNumbers];
};

}  // namespace compassdb
