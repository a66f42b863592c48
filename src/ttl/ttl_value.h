// SPDX-License-Identifier: Apache-2.0
// The bytes behind a value of a database with a time to live:
//
//   stored := value  time:fixed32      seconds since 1970, when it was written
//
// RocksDB's form, so that a value means the same in both.
//
// Thread safety: pure functions; errors name what is wrong with the bytes.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/env.h"
#include "util/coding.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

inline constexpr size_t kTtlBytes = 4;
// No value is older than the form itself: 2013-05-10.
inline constexpr uint32_t kOldestTtlTime = 1368146402;

inline Status CurrentTtlTime(rocksdb::Env* env, uint32_t* time) {
  int64_t now = 0;
  Status s = env->GetCurrentTime(&now);
  *time = static_cast<uint32_t>(now);
  return s;
}

inline uint32_t TtlTimeOf(const Slice& stored) {
  return DecodeFixed32(stored.data() + stored.size() - kTtlBytes);
}

inline Status CheckTtlTime(const Slice& stored) {
  if (stored.size() < kTtlBytes) {
    return Status::Corruption("Error: value's length less than timestamp's\n");
  }
  if (TtlTimeOf(stored) < kOldestTtlTime) {
    return Status::Corruption("Error: Timestamp < ttl feature release time!\n");
  }
  return Status::OK();
}

inline Slice WithoutTtlTime(const Slice& stored) {
  return Slice(stored.data(), stored.size() - kTtlBytes);
}

// False if it is not known.
inline bool IsExpired(const Slice& stored, int32_t ttl, rocksdb::Env* env) {
  uint32_t now = 0;
  if (ttl <= 0 || stored.size() < kTtlBytes || !CurrentTtlTime(env, &now).ok()) return false;
  return int64_t{TtlTimeOf(stored)} + ttl < int64_t{now};
}

}  // namespace compassdb
