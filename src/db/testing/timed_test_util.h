// SPDX-License-Identifier: Apache-2.0
// Tests of user-defined timestamps of eight bytes.
#pragma once

#include <string>

#include "rocksdb/options.h"
#include "util/coding.h"

namespace compassdb {

inline std::string Time(uint64_t t) {
  std::string bytes;
  PutFixed64(&bytes, t);
  return bytes;
}

// Read options at a time, or from one time to another, which own the times.
class At {
 public:
  explicit At(uint64_t time, const rocksdb::Snapshot* snapshot = nullptr) : bytes_(Time(time)), slice_(bytes_) {
    read.timestamp = &slice_;
    read.snapshot = snapshot;
  }
  At(uint64_t from, uint64_t to) : At(to) {
    from_bytes_ = Time(from);
    from_slice_ = from_bytes_;
    read.iter_start_ts = &from_slice_;
  }
  At(const At&) = delete;

  rocksdb::ReadOptions read;

 private:
  const std::string bytes_;
  std::string from_bytes_;
  const rocksdb::Slice slice_;
  rocksdb::Slice from_slice_;
};

}  // namespace compassdb
