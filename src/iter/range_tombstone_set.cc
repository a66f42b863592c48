// SPDX-License-Identifier: Apache-2.0
#include "iter/range_tombstone_set.h"

#include <algorithm>
#include <functional>
#include <utility>

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
  sequences_.clear();
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
        sequences_.insert(sequences_.end(), fragment.sequences.begin(), fragment.sequences.end());
        continue;
      }
      lower_hi(fragment.start);
    }
    if (cursor.position > 0) raise_lo(fragments[cursor.position - 1].end);
  }
  std::sort(sequences_.begin(), sequences_.end(), std::greater<>());
  cached_ = true;
}

SequenceNumber RangeTombstoneSet::MaxCovering(const Slice& user_key, SequenceNumber snapshot) {
  if (cursors_.empty()) return 0;
  if (!InInterval(user_key)) MoveTo(user_key);
  const auto it =
      std::lower_bound(sequences_.begin(), sequences_.end(), snapshot, std::greater<>());
  return it == sequences_.end() ? 0 : *it;
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
  return sequences_.empty() ? 0 : sequences_.back();
}

}  // namespace compassdb
