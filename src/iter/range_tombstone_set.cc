// SPDX-License-Identifier: Apache-2.0
#include "iter/range_tombstone_set.h"

#include <algorithm>
#include <utility>

#include "format/user_timestamp.h"

namespace compassdb {

void RangeTombstoneSet::Add(std::shared_ptr<const RangeTombstoneList> list) {
  if (list == nullptr || list->empty()) return;
  cursors_.push_back({&list->fragments(), 0});
  lists_.push_back(std::move(list));
  cached_ = false;
}

// Tries the fragments next to the last answer before searching.
void RangeTombstoneSet::Locate(Cursor* cursor, const Slice& user_key) const {
  const auto& fragments = *cursor->fragments;
  const auto ends_after = [&](size_t i) {
    return comparator_->Compare(user_key, fragments[i].end) < 0;
  };
  size_t lo = 0, hi = fragments.size();
  for (size_t step = 0, i = cursor->position; step < 2 && i < fragments.size(); ++step, ++i) {
    if (ends_after(i)) {
      hi = i;
      break;
    }
    lo = i + 1;
  }
  if (hi == cursor->position && hi > 0) {
    if (!ends_after(hi - 1)) {
      lo = hi;
    } else {
      --hi;
    }
  }
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (ends_after(mid)) {
      hi = mid;
    } else {
      lo = mid + 1;
    }
  }
  cursor->position = lo;
}

void RangeTombstoneSet::MoveTo(const Slice& user_key) {
  has_lo_ = has_hi_ = false;
  covering_.clear();
  const auto raise_lo = [&](const Slice& key) {
    if (!has_lo_ || comparator_->Compare(key, lo_) > 0) lo_ = key;
    has_lo_ = true;
  };
  const auto lower_hi = [&](const Slice& key) {
    if (!has_hi_ || comparator_->Compare(key, hi_) < 0) hi_ = key;
    has_hi_ = true;
  };
  for (Cursor& cursor : cursors_) {
    Locate(&cursor, user_key);
    const auto& fragments = *cursor.fragments;
    if (cursor.position < fragments.size()) {
      const auto& fragment = fragments[cursor.position];
      if (comparator_->Compare(user_key, fragment.start) >= 0) {
        raise_lo(fragment.start);
        lower_hi(fragment.end);
        for (size_t i = 0; i < fragment.sequences.size(); ++i) {
          covering_.push_back({fragment.sequences[i],
                               timestamp_size_ == 0 ? Slice() : Slice(fragment.timestamps[i])});
        }
        continue;
      }
      lower_hi(fragment.start);
    }
    if (cursor.position > 0) raise_lo(fragments[cursor.position - 1].end);
  }
  std::sort(covering_.begin(), covering_.end(),
            [](const Covering& a, const Covering& b) { return a.sequence > b.sequence; });
  cached_ = true;
}

bool RangeTombstoneSet::Counts(const Covering& tombstone) const {
  if (times_ == Times::kAll) return true;
  if (limit_.empty()) return false;
  const int order = comparator_->CompareTimestamp(tombstone.timestamp, limit_);
  return times_ == Times::kUpTo ? order <= 0 : order < 0;
}

bool RangeTombstoneSet::Reaches(const Covering& tombstone, const Slice& user_key) const {
  return comparator_->CompareTimestamp(tombstone.timestamp,
                                       TimestampOf(user_key, timestamp_size_)) >= 0;
}

const Covering* RangeTombstoneSet::Newest(const Slice& user_key, SequenceNumber snapshot) {
  if (cursors_.empty()) return nullptr;
  if (!InInterval(user_key)) MoveTo(user_key);
  auto it = std::partition_point(covering_.begin(), covering_.end(),
                                 [&](const Covering& t) { return t.sequence > snapshot; });
  if (timestamp_size_ != 0) {
    while (it != covering_.end() && !(Reaches(*it, user_key) && Counts(*it))) ++it;
  }
  return it == covering_.end() ? nullptr : &*it;
}

SequenceNumber RangeTombstoneSet::MaxCovering(const Slice& user_key, SequenceNumber snapshot) {
  const Covering* const newest = Newest(user_key, snapshot);
  return newest == nullptr ? 0 : newest->sequence;
}

SequenceNumber RangeTombstoneSet::MaxCovering(const Slice& user_key, SequenceNumber snapshot,
                                              Slice* end) {
  const SequenceNumber max = MaxCovering(user_key, snapshot);
  if (max == 0) return 0;
  for (const auto& list : lists_) {
    Slice list_end;
    if (list->MaxCovering(user_key, snapshot, &list_end) == max) *end = list_end;
  }
  return max;
}

SequenceNumber RangeTombstoneSet::MinCovering(const Slice& user_key) {
  if (cursors_.empty()) return 0;
  if (!InInterval(user_key)) MoveTo(user_key);
  for (auto it = covering_.rbegin(); it != covering_.rend(); ++it) {
    if (timestamp_size_ == 0 || Reaches(*it, user_key)) return it->sequence;
  }
  return 0;
}

}  // namespace compassdb
