// SPDX-License-Identifier: Apache-2.0
// The range tombstones of several sources, as one set.
//
// Thread safety: none, a lookup moves the cache; copies share the lists.
// Invariants: [lo_, hi_) is an interval of user keys in which no list has a
// fragment's boundary, so that every key in it has the same tombstones over it, `covering_`; with
// user-defined timestamps each covers the versions up to its own time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/range_tombstone.h"

namespace compassdb {

class RangeTombstoneSet {
 public:
  explicit RangeTombstoneSet(const Comparator* comparator) : comparator_(comparator) {}

  // With user-defined timestamps: only tombstones up to this time count, or only those below it.
  void CountUpTo(const Slice& time) {
    times_ = Times::kUpTo;
    limit_.assign(time.data(), time.size());
  }
  void CountBelow(const Slice& time) {  // empty: none
    times_ = Times::kBelow;
    limit_.assign(time.data(), time.size());
  }

  void Add(std::shared_ptr<const RangeTombstoneList> list);
  bool empty() const { return cursors_.empty(); }

  // The highest sequence <= snapshot of a tombstone that covers user_key; 0 if
  // none. Cheap while keys move in one direction.
  SequenceNumber MaxCovering(const Slice& user_key, SequenceNumber snapshot);
  // As above, and the end of that tombstone's covering fragment (points into a
  // list); `end` is unchanged if none covers the key.
  SequenceNumber MaxCovering(const Slice& user_key, SequenceNumber snapshot, Slice* end);
  // The tombstone with that sequence; null if none covers the key. Valid until the next lookup.
  const Covering* Newest(const Slice& user_key, SequenceNumber snapshot);
  // The smallest covering sequence, at any time; 0 if no tombstone covers the key.
  SequenceNumber MinCovering(const Slice& user_key);
  bool Covers(const Slice& user_key, SequenceNumber seq, SequenceNumber snapshot) {
    return MaxCovering(user_key, snapshot) > seq;
  }

  const std::vector<std::shared_ptr<const RangeTombstoneList>>& lists() const { return lists_; }

 private:
  struct Cursor {
    const std::vector<RangeTombstoneList::Fragment>* fragments;
    size_t position;  // the first fragment that ends after the last looked up key
  };
  bool Counts(const Covering& tombstone) const;
  // Its time is not below the key's.
  bool Reaches(const Covering& tombstone, const Slice& user_key) const;
  void MoveTo(const Slice& user_key);
  void Locate(Cursor* cursor, const Slice& user_key) const;
  bool InInterval(const Slice& user_key) const {
    return cached_ && (!has_lo_ || comparator_->Compare(user_key, lo_) >= 0) &&
           (!has_hi_ || comparator_->Compare(user_key, hi_) < 0);
  }

  const Comparator* comparator_;
  std::vector<std::shared_ptr<const RangeTombstoneList>> lists_;
  std::vector<Cursor> cursors_;  // of the lists that are not empty
  bool cached_ = false;
  bool has_lo_ = false, has_hi_ = false;
  Slice lo_, hi_;  // point into fragments
  std::vector<Covering> covering_;  // by sequence, descending; times point into lists
  size_t timestamp_size_ = comparator_->timestamp_size();
  enum class Times : uint8_t { kAll, kUpTo, kBelow };
  Times times_ = Times::kAll;
  std::string limit_;
};

}  // namespace compassdb
