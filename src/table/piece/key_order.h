// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "rocksdb/comparator.h"
#include "rocksdb/slice.h"

namespace compassdb {

inline int CompareBytes(const rocksdb::Slice& a, const rocksdb::Slice& b) {
  const size_t n = std::min(a.size(), b.size());
  const int r = n == 0 ? 0 : memcmp(a.data(), b.data(), n);
  if (r != 0) return r;
  return a.size() < b.size() ? -1 : (a.size() > b.size() ? 1 : 0);
}

inline size_t CommonPrefixLength(const rocksdb::Slice& a, const rocksdb::Slice& b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.data(), a.data() + n, b.data()).first - a.data());
}

// The order of user keys. The usual one (bytewise) is compared without a
// virtual call, and its blocks share prefixes.
class KeyOrder {
 public:
  explicit KeyOrder(const rocksdb::Comparator* comparator = rocksdb::BytewiseComparator())
      : comparator_(comparator), bytewise_(comparator == rocksdb::BytewiseComparator()) {}

  const rocksdb::Comparator* comparator() const { return comparator_; }
  bool bytewise() const { return bytewise_; }
  bool reverse_bytewise() const { return comparator_ == rocksdb::ReverseBytewiseComparator(); }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const {
    return bytewise_ ? CompareBytes(a, b) : comparator_->Compare(a, b);
  }
  // Replaces *key by a short key in [*key, next), if the comparator knows one.
  void ShortenSeparator(const rocksdb::Slice& next, std::string* key) const {
    if (Compare(*key, next) >= 0) return;
    std::string shorter = *key;
    comparator_->FindShortestSeparator(&shorter, next);
    // A comparator that gets this wrong must not make keys unreachable.
    if (Compare(shorter, *key) >= 0 && Compare(shorter, next) < 0) *key = std::move(shorter);
  }
  // Keys are equal only if their bytes are, so that equal keys have equal hashes (rule 6).
  bool HashesIdentifyKeys() const {
    return bytewise_ || (comparator_->timestamp_size() == 0 &&
                         !comparator_->CanKeysWithDifferentByteContentsBeEqual());
  }

 private:
  const rocksdb::Comparator* comparator_;
  bool bytewise_;
};

}  // namespace compassdb
