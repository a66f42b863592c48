// SPDX-License-Identifier: Apache-2.0
// The prefix of a database iterator's seek, for the iterators below it. Iterators whose filter shows that they have no
// such key may then be at their end.
//
// One thread: that of the iterator, which alone writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb/slice_transform.h"

namespace compassdb {

struct PrefixSeek {
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
  // ReadOptions::auto_prefix_mode: only if the result is the same, which is when moving forward.
  bool automatic = false;

  bool active = false;   // keys of other prefixes may be left out
  uint64_t number = 0;   // of the seek: results for one hold until the next
  std::string prefix;

  void Stop() { active = false; }
  // `key` is without timestamp, like the bound, which may be null.
  void Start(const rocksdb::Slice& key, const rocksdb::Slice* upper_bound,
             const rocksdb::Comparator* comparator) {
    active = extractor->InDomain(key);
    if (!active) return;
    ++number;
    const rocksdb::Slice of_key = extractor->Transform(key);
    prefix.assign(of_key.data(), of_key.size());
    if (automatic) active = upper_bound != nullptr && EndsWithin(*upper_bound, comparator);
  }
  // Keys behind the present prefix, given that they are not before it.
  bool IsPast(const rocksdb::Slice& key) const {
    return !extractor->InDomain(key) || extractor->Transform(key) != rocksdb::Slice(prefix);
  }

 private:
  // All keys below the bound that are not below the seek's have its prefix.
  bool EndsWithin(const rocksdb::Slice& bound, const rocksdb::Comparator* comparator) const {
    if (!extractor->InDomain(bound)) return false;
    if (comparator->CompareWithoutTimestamp(prefix, false, extractor->Transform(bound), false) == 0) {
      return true;
    }
    size_t full_length = 0;
    if (!extractor->FullLengthEnabled(&full_length) || bound.size() != full_length ||
        !comparator->IsSameLengthImmediateSuccessor(prefix, bound)) {
      return false;
    }
    // If a longer key sorts before its prefix, keys of the bound's own prefix are below it.
    return comparator->CompareWithoutTimestamp(bound, false, bound.ToString() + '\0', false) < 0;
  }
};

}  // namespace compassdb
