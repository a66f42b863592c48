// SPDX-License-Identifier: Apache-2.0
// Fragmenting is a sweep over the sorted boundaries of all tombstones with the
// multiset of sequences that are open at each: O((n + output) log n).
#include "format/range_tombstone.h"

#include <algorithm>
#include <set>

#include "format/user_timestamp.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

struct Boundary {
  const std::string* key;
  bool opens;
  Covering tombstone;
};

// The newest first.
struct NewestFirst {
  bool operator()(const Covering& a, const Covering& b) const {
    return a.sequence != b.sequence ? a.sequence > b.sequence
                                    : a.timestamp.compare(b.timestamp) > 0;
  }
};

// Adds the parts of the tombstones in which each is the newest.
void AppendNewest(const Comparator* cmp, const std::vector<RangeTombstone>& tombstones,
                  std::vector<RangeTombstone>* parts) {
  struct End {
    const std::string* key;
    bool opens;
    SequenceNumber sequence;
  };
  std::vector<End> ends;
  ends.reserve(tombstones.size() * 2);
  for (const RangeTombstone& t : tombstones) {
    if (cmp->Compare(t.start, t.end) >= 0) continue;
    ends.push_back({&t.start, true, t.sequence});
    ends.push_back({&t.end, false, t.sequence});
  }
  std::sort(ends.begin(), ends.end(), [cmp](const End& a, const End& b) { return cmp->Compare(*a.key, *b.key) < 0; });
  std::multiset<SequenceNumber> open;
  const std::string* start = nullptr;  // of the part that is open; null: there is none
  SequenceNumber newest = 0;           // its sequence
  for (auto it = ends.begin(); it != ends.end();) {
    const std::string& key = *it->key;
    auto end = it;
    for (; end != ends.end() && cmp->Compare(*end->key, key) == 0; ++end) {
      if (end->opens) open.insert(end->sequence);
    }
    for (; it != end; ++it) {
      if (!it->opens) open.erase(open.find(it->sequence));
    }
    if (start != nullptr && !open.empty() && *open.rbegin() == newest) continue;
    if (start != nullptr) parts->push_back({*start, key, newest});
    start = open.empty() ? nullptr : &key;
    newest = open.empty() ? 0 : *open.rbegin();
  }
}

}  // namespace

void DropHiddenTombstones(const Comparator* cmp, const std::vector<SequenceNumber>& snapshots,
                          std::vector<RangeTombstone>* tombstones) {
  if (tombstones->size() < 2 || cmp->timestamp_size() != 0) return;
  std::sort(tombstones->begin(), tombstones->end(),
            [](const RangeTombstone& a, const RangeTombstone& b) { return a.sequence < b.sequence; });
  std::vector<RangeTombstone> left, stripe;
  for (auto it = tombstones->begin(); it != tombstones->end();) {
    const auto snapshot = std::lower_bound(snapshots.begin(), snapshots.end(), it->sequence);
    stripe.clear();
    for (; it != tombstones->end() && (snapshot == snapshots.end() || it->sequence <= *snapshot); ++it) {
      stripe.push_back(std::move(*it));
    }
    AppendNewest(cmp, stripe, &left);
  }
  tombstones->swap(left);
}

RangeTombstone FromStoredBounds(const Slice& start, const Slice& end, SequenceNumber sequence,
                                size_t timestamp_size) {
  if (timestamp_size == 0) return {start.ToString(), end.ToString(), sequence};
  return {BeforeAllTimes(StripTimestamp(start, timestamp_size), timestamp_size),
          BeforeAllTimes(StripTimestamp(end, timestamp_size), timestamp_size), sequence,
          TimestampOf(start, timestamp_size).ToString()};
}

bool ClipTombstone(const Comparator* cmp, const std::optional<std::string>& lower,
                   const std::optional<std::string>& upper, RangeTombstone* t) {
  if (lower && cmp->Compare(t->start, *lower) < 0) t->start = *lower;
  if (upper && cmp->Compare(t->end, *upper) > 0) t->end = *upper;
  return cmp->Compare(t->start, t->end) < 0;
}

void JoinTombstones(const Comparator* cmp, std::vector<RangeTombstone>* tombstones) {
  std::sort(tombstones->begin(), tombstones->end(),
            [cmp](const RangeTombstone& a, const RangeTombstone& b) {
              if (a.sequence != b.sequence) return a.sequence < b.sequence;
              if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
              return cmp->Compare(a.start, b.start) < 0;
            });
  size_t kept = 0;
  for (size_t i = 0; i < tombstones->size(); ++i) {
    RangeTombstone& t = (*tombstones)[i];
    if (kept > 0) {
      RangeTombstone& last = (*tombstones)[kept - 1];
      if (last.sequence == t.sequence && last.timestamp == t.timestamp &&
          cmp->Compare(t.start, last.end) <= 0) {
        if (cmp->Compare(t.end, last.end) > 0) last.end = std::move(t.end);
        continue;
      }
    }
    if (kept != i) (*tombstones)[kept] = std::move(t);
    ++kept;
  }
  tombstones->resize(kept);
}

RangeTombstoneList::RangeTombstoneList(const std::vector<RangeTombstone>& tombstones,
                                       const Comparator* comparator)
    : comparator_(comparator) {
  std::vector<Boundary> boundaries;
  boundaries.reserve(tombstones.size() * 2);
  for (const RangeTombstone& t : tombstones) {
    if (comparator->Compare(t.start, t.end) >= 0) continue;
    boundaries.push_back({&t.start, true, {t.sequence, t.timestamp}});
    boundaries.push_back({&t.end, false, {t.sequence, t.timestamp}});
  }
  std::sort(boundaries.begin(), boundaries.end(), [&](const Boundary& a, const Boundary& b) {
    return comparator->Compare(*a.key, *b.key) < 0;
  });

  std::multiset<Covering, NewestFirst> open;
  for (size_t i = 0; i < boundaries.size();) {
    const std::string& key = *boundaries[i].key;
    if (!open.empty()) fragments_.back().end = key;
    // At one key, a closing may come before an opening of the same sequence: add first.
    size_t end = i;
    for (; end < boundaries.size() && comparator->Compare(*boundaries[end].key, key) == 0; ++end) {
      if (boundaries[end].opens) open.insert(boundaries[end].tombstone);
    }
    for (size_t j = i; j < end; ++j) {
      if (!boundaries[j].opens) open.erase(open.find(boundaries[j].tombstone));
    }
    i = end;
    if (open.empty()) continue;
    Fragment fragment;
    fragment.start = key;
    for (const Covering* last = nullptr; const Covering& t : open) {
      if (last != nullptr && !NewestFirst()(*last, t)) continue;
      last = &t;
      fragment.sequences.push_back(t.sequence);
      if (!t.timestamp.empty()) fragment.timestamps.push_back(t.timestamp.ToString());
    }
    // A boundary that changes nothing (a duplicate's end) does not cut.
    if (!fragments_.empty() && fragments_.back().sequences == fragment.sequences &&
        fragments_.back().timestamps == fragment.timestamps &&
        comparator->Compare(fragments_.back().end, key) == 0) {
      continue;
    }
    fragments_.push_back(std::move(fragment));
  }
}

SequenceNumber RangeTombstoneList::MaxCovering(const Slice& user_key, SequenceNumber snapshot,
                                               Slice* end) const {
  // The last fragment that starts at or before the key.
  auto it = std::upper_bound(
      fragments_.begin(), fragments_.end(), user_key,
      [&](const Slice& key, const Fragment& f) { return comparator_->Compare(key, f.start) < 0; });
  if (it == fragments_.begin()) return 0;
  --it;
  if (comparator_->Compare(user_key, it->end) >= 0) return 0;
  auto seq = std::lower_bound(it->sequences.begin(), it->sequences.end(), snapshot,
                              std::greater<>());
  if (!it->timestamps.empty()) {
    const Slice time = TimestampOf(user_key, comparator_->timestamp_size());
    while (seq != it->sequences.end() &&
           comparator_->CompareTimestamp(
               it->timestamps[static_cast<size_t>(seq - it->sequences.begin())], time) < 0) {
      ++seq;
    }
  }
  if (seq == it->sequences.end()) return 0;
  if (end != nullptr) *end = it->end;
  return *seq;
}

SequenceNumber RangeTombstoneList::MaxCoveringSequence(const Slice& user_key,
                                                       SequenceNumber snapshot) const {
  return MaxCovering(user_key, snapshot, nullptr);
}

bool RangeTombstoneList::Overlaps(const Slice* begin, const Slice* end) const {
  // The first fragment that ends after begin is the only candidate.
  auto it = fragments_.begin();
  if (begin != nullptr) {
    it = std::upper_bound(
        fragments_.begin(), fragments_.end(), *begin,
        [&](const Slice& key, const Fragment& f) { return comparator_->Compare(key, f.end) < 0; });
  }
  if (it == fragments_.end()) return false;
  return end == nullptr || comparator_->Compare(it->start, *end) <= 0;
}

size_t RangeTombstoneList::MemoryBytes() const {
  size_t bytes = HeapBytes(fragments_);
  for (const Fragment& f : fragments_) {
    bytes += HeapBytes(f.start) + HeapBytes(f.end) + HeapBytes(f.sequences) + HeapBytes(f.timestamps);
    for (const std::string& t : f.timestamps) bytes += HeapBytes(t);
  }
  return bytes;
}

}  // namespace compassdb
