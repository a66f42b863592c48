// SPDX-License-Identifier: Apache-2.0
// The separated values of an iterator's walk. In both directions they are read together, in growing windows (HashKV
// 3.6). Where reads wait for a device, the next window is read while one is walked. A window is a sixth of the walk so
// far, so a walk that ends has read little for nothing. Values of long walks are not added to caches, because they
// would replace values that are read by key.
#pragma once

#include <string>
#include <vector>

#include "db/read/current_key.h"
#include "db/read/source_entries.h"
#include "db/read/version_order.h"
#include "db/read/walk_range.h"
#include "iter/value_resolver.h"

namespace compassdb {

class SeparatedValues {
 public:
  SeparatedValues(const VersionOrder* order, const WalkRange* range, const SourceEntries* entries)
      : order_(*order), range_(*range), entries_(*entries) {}

  // A walk begins, or turns.
  void Restart() { walked_ = 0; }
  // Before the source is replaced.
  void ForgetSource() { scout_.reset(); }
  // The walk is at a separated value, of `key`: begins to read it and the next ones, unless that was done. The value
  // before is not in use any more.
  void Meet(const CurrentKey& key, bool forward, SeekTarget* target) {
    if (++walked_ > kWalkBeforeReadAhead) LookAhead(key, forward, target);
  }

  // The value of the key that `ref` names; version() describes it.
  Status Fetch(const CurrentKey& key, const Slice& ref, rocksdb::PinnableSlice* value);
  const ValueResolver::Version& version() const { return version_; }

 private:
  static constexpr uint64_t kWalkBeforeReadAhead = 2;
  static constexpr size_t kFirstWindow = 4, kLargestWindow = 64;
  static constexpr uint64_t kWindowBytes = 1 << 20;
  static constexpr uint64_t kLongWalk = 128;

  void LookAhead(const CurrentKey& key, bool forward, SeekTarget* target);
  void Collect(size_t window, bool unknown);
  bool ScoutIsAt(const Slice& key) const;
  bool IsPastEnd(const Slice& user_key) const;
  // In the direction of the walk.
  bool IsBehind(const Slice& key, const Slice& mark) const {
    const int order = order_.Compare(key, mark);
    return forward_ ? order > 0 : order < 0;
  }

  const VersionOrder& order_;
  const WalkRange& range_;
  const SourceEntries& entries_;
  ValueResolver::Version version_;
  uint64_t walked_ = 0;  // in a row, in one direction
  InternalIteratorPtr scout_;
  bool forward_ = true;        // the direction of the last window
  std::string from_, until_;   // keys of the first and the last of the last window
  bool scout_done_ = false;    // nothing comes after it
  std::vector<ValueResolver::Upcoming> coming_;  // their slices point into
  std::string bytes_[2];
  size_t last_bytes_ = 0;  // of these
};

}  // namespace compassdb
