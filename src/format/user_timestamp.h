// SPDX-License-Identifier: Apache-2.0
// User-defined timestamps: the last timestamp_size() bytes of a user key, where the comparator says that
// there are any. Of one key the newest comes first; bytes 0xff are the newest, bytes 0 the oldest.
#pragma once

#include <string>
#include <utility>

#include "rocksdb/comparator.h"
#include "rocksdb/slice.h"
#include "util/mutex.h"

namespace compassdb {

inline rocksdb::Slice StripTimestamp(const rocksdb::Slice& user_key, size_t timestamp_size) {
  return rocksdb::Slice(user_key.data(), user_key.size() - timestamp_size);
}
inline rocksdb::Slice TimestampOf(const rocksdb::Slice& user_key, size_t timestamp_size) {
  return rocksdb::Slice(user_key.data() + user_key.size() - timestamp_size, timestamp_size);
}
inline std::string AppendTimestamp(const rocksdb::Slice& key, const rocksdb::Slice& timestamp) {
  std::string user_key(key.data(), key.size());
  user_key.append(timestamp.data(), timestamp.size());
  return user_key;
}

// Sorts before, or behind, all versions of a key that has no timestamp itself.
inline std::string BeforeAllTimes(const rocksdb::Slice& key, size_t timestamp_size) {
  return AppendTimestamp(key, std::string(timestamp_size, '\xff'));
}
inline std::string BehindAllTimes(const rocksdb::Slice& key, size_t timestamp_size) {
  return AppendTimestamp(key, std::string(timestamp_size, '\0'));
}

// Bounds without timestamps, as bounds of stored keys: the range is from before all versions of
// `begin` to behind all versions of `end`, or to before them. Null stays null. Keys without timestamps
// stay as they are.
class TimedRange {
 public:
  TimedRange(const rocksdb::Slice* begin, const rocksdb::Slice* end, bool with_end,
             size_t timestamp_size) {
    if (begin != nullptr) {
      begin_bytes_ = BeforeAllTimes(*begin, timestamp_size);
      begin_slice_ = begin_bytes_;
      begin_ = &begin_slice_;
    }
    if (end != nullptr) {
      end_bytes_ = with_end ? BehindAllTimes(*end, timestamp_size) : BeforeAllTimes(*end, timestamp_size);
      end_slice_ = end_bytes_;
      end_ = &end_slice_;
    }
  }
  TimedRange(const TimedRange&) = delete;
  TimedRange& operator=(const TimedRange&) = delete;
  const rocksdb::Slice* begin() const { return begin_; }
  const rocksdb::Slice* end() const { return end_; }

 private:
  std::string begin_bytes_, end_bytes_;
  rocksdb::Slice begin_slice_, end_slice_;
  const rocksdb::Slice* begin_ = nullptr;
  const rocksdb::Slice* end_ = nullptr;
};

// Compares stored keys, at any times.
inline int CompareKeys(const rocksdb::Comparator* comparator, const rocksdb::Slice& a,
                       const rocksdb::Slice& b) {
  return comparator->timestamp_size() == 0 ? comparator->Compare(a, b)
                                           : comparator->CompareWithoutTimestamp(a, b);
}
inline bool IsSameKey(const rocksdb::Comparator* comparator, const rocksdb::Slice& a,
                      const rocksdb::Slice& b) {
  return CompareKeys(comparator, a, b) == 0;
}

// Where all versions of a stored key begin, as a bound between tables.
inline std::string StartOfKey(const rocksdb::Comparator* comparator, const rocksdb::Slice& user_key) {
  const size_t size = comparator->timestamp_size();
  return BeforeAllTimes(StripTimestamp(user_key, size), size);
}

// Below this time a family keeps one version of each key (full_history_ts_low). Empty: it keeps all.
// Above the time to trim to, if there is one, compactions keep nothing (OpenAndTrimHistory). Thread safe.
class HistoryLow {
 public:
  std::string Get() const {
    MutexLock lock(&mu_);
    return low_;
  }
  void Set(std::string low) {
    MutexLock lock(&mu_);
    low_ = std::move(low);
  }
  std::string TrimmedTo() const {
    MutexLock lock(&mu_);
    return trim_;
  }
  void TrimTo(std::string time) {
    MutexLock lock(&mu_);
    trim_ = std::move(time);
  }

 private:
  mutable Mutex mu_;  // a leaf lock
  std::string low_ GUARDED_BY(mu_);
  std::string trim_ GUARDED_BY(mu_);  // empty: none
};

}  // namespace compassdb
