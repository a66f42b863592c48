// SPDX-License-Identifier: Apache-2.0
// Range tombstones: [start, end) of user keys deleted at a sequence.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/internal_key.h"

namespace compassdb {

struct RangeTombstone {
  std::string start;  // inclusive user key
  std::string end;    // exclusive user key
  SequenceNumber sequence = 0;
};

// Clips t to [lower, upper), where a missing bound is open; false if nothing is left.
bool ClipTombstone(const Comparator* cmp, const std::optional<std::string>& lower,
                   const std::optional<std::string>& upper, RangeTombstone* t);

// An immutable set of tombstones cut into disjoint fragments, for lookups.
// Thread safe.
class RangeTombstoneList {
 public:
  RangeTombstoneList() = default;
  // Tombstones in any order, overlapping as they like; empty ranges are dropped.
  RangeTombstoneList(const std::vector<RangeTombstone>& tombstones, const Comparator* comparator);

  bool empty() const { return fragments_.empty(); }
  // The highest sequence <= snapshot of a tombstone that covers user_key; 0 if none.
  SequenceNumber MaxCoveringSequence(const Slice& user_key, SequenceNumber snapshot) const;
  // As above, and the end of the covering fragment (points into this list).
  SequenceNumber MaxCovering(const Slice& user_key, SequenceNumber snapshot, Slice* end) const;
  // True if a tombstone overlaps [begin, end]; a null pointer is unbounded.
  bool Overlaps(const Slice* begin, const Slice* end) const;

  struct Fragment {
    std::string start, end;
    std::vector<SequenceNumber> sequences;  // descending
  };
  const std::vector<Fragment>& fragments() const { return fragments_; }
  size_t MemoryBytes() const;

 private:
  const Comparator* comparator_ = nullptr;
  std::vector<Fragment> fragments_;  // by start
};

}  // namespace compassdb
