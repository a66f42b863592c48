// SPDX-License-Identifier: Apache-2.0
// The order of an iterator's keys, with user-defined timestamps or without them.
//
// Thread safety: immutable.
#pragma once

#include <string>
#include <utility>

#include "format/internal_key.h"
#include "format/user_timestamp.h"
#include "rocksdb/comparator.h"

namespace compassdb {

class VersionOrder {
 public:
  // Records newer than `time` are not seen. With `start_time`, which may be empty, all versions from there
  // on are returned one by one: a history.
  VersionOrder(const Comparator* comparator, std::string time, std::string start_time)
      : comparator_(comparator),
        bytewise_(comparator == rocksdb::BytewiseComparator()),
        timestamp_size_(comparator->timestamp_size()),
        bytes_may_differ_(timestamp_size_ == 0 && comparator->CanKeysWithDifferentByteContentsBeEqual()),
        history_(!start_time.empty()),
        time_(std::move(time)),
        start_time_(std::move(start_time)) {}

  const Comparator* comparator() const { return comparator_; }
  bool has_timestamps() const { return timestamp_size_ != 0; }
  size_t timestamp_size() const { return timestamp_size_; }
  bool bytes_may_differ() const { return bytes_may_differ_; }  // of keys that are equal
  bool history() const { return history_; }
  const std::string& time() const { return time_; }

  // Compares stored keys. Versions of one key are equal, unless all are shown.
  int Compare(const Slice& a, const Slice& b) const {
    if (bytewise_) return a.compare(b);
    return timestamp_size_ == 0 || history_ ? comparator_->Compare(a, b)
                                            : comparator_->CompareWithoutTimestamp(a, b);
  }
  // Compares a stored key and a bound, or two bounds or targets: these have no timestamps.
  int CompareBound(const Slice& key, const Slice& bound) const {
    return bytewise_ ? key.compare(bound)
                     : comparator_->CompareWithoutTimestamp(key, timestamp_size_ != 0, bound, false);
  }
  int CompareBare(const Slice& a, const Slice& b) const {
    return comparator_->CompareWithoutTimestamp(a, false, b, false);
  }
  Slice Bare(const Slice& user_key) const { return StripTimestamp(user_key, timestamp_size_); }

  bool TooNew(const Slice& user_key) const {
    return timestamp_size_ != 0 &&
           comparator_->CompareTimestamp(TimestampOf(user_key, timestamp_size_), time_) > 0;
  }
  bool InTime(const Slice& user_key) const {
    return timestamp_size_ == 0 || (!TooNew(user_key) && !TooOld(user_key));
  }
  // A record of this type gives its key a value.
  bool ShowsValue(ValueType type) const {
    return IsValueType(type) || (history_ && type != kTypeMerge);
  }

 private:
  bool TooOld(const Slice& user_key) const {
    return history_ &&
           comparator_->CompareTimestamp(TimestampOf(user_key, timestamp_size_), start_time_) < 0;
  }

  const Comparator* const comparator_;
  const bool bytewise_;
  const size_t timestamp_size_;
  const bool bytes_may_differ_;
  const bool history_;
  const std::string time_, start_time_;
};

// The target of an internal iterator's seek, valid until the next is made.
class SeekTarget {
 public:
  explicit SeekTarget(const VersionOrder* order) : order_(*order) {}

  // Around all versions of a key that has no timestamp.
  Slice Before(const Slice& key) {
    if (!order_.has_timestamps()) return Make(key, Slice(), kMaxSequenceNumber, kValueTypeForSeek);
    return Make(BeforeAllTimes(key, order_.timestamp_size()), Slice(), kMaxSequenceNumber, kValueTypeForSeek);
  }
  Slice FirstVisible(const Slice& key, SequenceNumber snapshot) {
    return Make(key, order_.time(), snapshot, kValueTypeForSeek);
  }
  Slice Behind(const Slice& key) {
    if (!order_.has_timestamps()) return Make(key, Slice(), 0, kTypeDeletion);
    return Make(BehindAllTimes(key, order_.timestamp_size()), Slice(), 0, kTypeDeletion);
  }

  // Around the versions of a stored key: all, or in a history the one.
  Slice BeforeStored(const Slice& key) {
    return order_.history() ? Make(key, Slice(), kMaxSequenceNumber, kValueTypeForSeek)
                            : Before(order_.Bare(key));
  }
  Slice FirstVisibleOfStored(const Slice& key, SequenceNumber snapshot) {
    return order_.history() ? Make(key, Slice(), snapshot, kValueTypeForSeek)
                            : FirstVisible(order_.Bare(key), snapshot);
  }
  Slice BehindStored(const Slice& key) {
    return order_.history() ? Make(key, Slice(), 0, kTypeDeletion) : Behind(order_.Bare(key));
  }

 private:
  Slice Make(const Slice& key, const Slice& timestamp, SequenceNumber sequence, ValueType type) {
    target_.assign(key.data(), key.size());
    AppendInternalKey(&target_, timestamp, sequence, type);
    return target_;
  }

  const VersionOrder& order_;
  std::string target_;
};

}  // namespace compassdb
