// SPDX-License-Identifier: Apache-2.0
// Range tombstones: [start, end) of user keys deleted at a sequence.
//
// With user-defined timestamps a tombstone deletes the versions up to its time that were written before it.
// Its bounds then sort before all versions of their keys, so that they compare with stored keys directly.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/internal_key.h"

namespace compassdb {

struct RangeTombstone {
  std::string start;  // inclusive user key
  std::string end;    // exclusive user key
  SequenceNumber sequence = 0;
  std::string timestamp = {};  // empty without user-defined timestamps

  // As batches, memtables and pieces store the bounds: with the time after the key.
  std::string StoredStart() const { return Stored(start); }
  std::string StoredEnd() const { return Stored(end); }

 private:
  std::string Stored(const std::string& bound) const {
    return bound.substr(0, bound.size() - timestamp.size()) + timestamp;
  }
};

// From stored bounds, which are at least as long as a timestamp.
RangeTombstone FromStoredBounds(const Slice& start, const Slice& end, SequenceNumber sequence,
                                size_t timestamp_size);

// A tombstone among those that cover a key.
struct Covering {
  SequenceNumber sequence = 0;
  Slice timestamp;  // empty without user-defined timestamps
};

// Clips t to [lower, upper), where a missing bound is open; false if nothing is left.
bool ClipTombstone(const Comparator* cmp, const std::optional<std::string>& lower,
                   const std::optional<std::string>& upper, RangeTombstone* t);

// Joins parts or copies of the same tombstone: equal in sequence and time, and overlapping or touching.
// For compactions: tables that are cut by hash each have a copy, and those cut by keys a part. The
// order changes.
void JoinTombstones(const Comparator* cmp, std::vector<RangeTombstone>* tombstones);

// Removes parts that newer tombstones hide, so that two overlap only with one of `snapshots` (ascending) between them:
// otherwise a reader of the older one also sees the newer one. Without this, many nested tombstones (of a queue that is
// cut off again and again) would make a list as long as their number squared. With timestamps all stay: a reader may
// use only the older one. The order changes.
void DropHiddenTombstones(const Comparator* cmp, const std::vector<SequenceNumber>& snapshots,
                          std::vector<RangeTombstone>* tombstones);

// An immutable set of tombstones cut into disjoint fragments, for lookups.
// Thread safe.
class RangeTombstoneList {
 public:
  RangeTombstoneList() = default;
  // Tombstones in any order, overlapping as they like; empty ranges are dropped.
  RangeTombstoneList(const std::vector<RangeTombstone>& tombstones, const Comparator* comparator);

  bool empty() const { return fragments_.empty(); }
  // The highest sequence <= snapshot of a tombstone that covers user_key, whose time is not below the
  // key's; 0 if none.
  SequenceNumber MaxCoveringSequence(const Slice& user_key, SequenceNumber snapshot) const;
  // As above, and the end of the covering fragment (points into this list).
  SequenceNumber MaxCovering(const Slice& user_key, SequenceNumber snapshot, Slice* end) const;
  // True if a tombstone overlaps [begin, end]; a null pointer is unbounded.
  bool Overlaps(const Slice* begin, const Slice* end) const;

  struct Fragment {
    std::string start, end;
    std::vector<SequenceNumber> sequences;  // descending
    std::vector<std::string> timestamps;    // of these; empty without user-defined timestamps
  };
  const std::vector<Fragment>& fragments() const { return fragments_; }
  size_t MemoryBytes() const;

 private:
  const Comparator* comparator_ = nullptr;
  std::vector<Fragment> fragments_;  // by start
};

}  // namespace compassdb
