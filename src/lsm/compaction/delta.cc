// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/delta.h"

#include <algorithm>

#include "iter/merging_iterator.h"
#include "lsm/compaction/table_run.h"

namespace compassdb {

Delta::Delta(const Comparator* comparator, std::vector<TableRef> tables, bool one_run,
             std::vector<std::shared_ptr<MemTable>> memtables, uint64_t now_seconds)
    : cmp_(comparator), icmp_(comparator), tables_(std::move(tables)), one_run_(one_run) {
  for (const TableRef& t : tables_) {
    Extend(t->meta().smallest, t->meta().largest);
    for (const auto& piece : t->tph().pieces()) {
      const PieceMeta& m = piece->meta();
      has_merges_ = has_merges_ || m.num_merges > 0;
      oldest_creation_ = std::min(oldest_creation_, m.creation_time);
    }
  }
  if (!memtables.empty()) oldest_creation_ = std::min(oldest_creation_, now_seconds);
  for (auto& memtable : memtables) AddMemTable(std::move(memtable));
}

Status Delta::LoadTombstones(const std::vector<SequenceNumber>& snapshots) {
  Status s;
  for (const TableRef& t : tables_) {
    for (const auto& piece : t->tph().pieces()) {
      if (s.ok()) s = piece->ReadRangeTombstones(&tombstones_);
    }
  }
  JoinTombstones(cmp_, &tombstones_);
  DropHiddenTombstones(cmp_, snapshots, &tombstones_);
  std::sort(tombstones_.begin(), tombstones_.end(), [this](const RangeTombstone& a, const RangeTombstone& b) {
    return cmp_->Compare(a.start, b.start) < 0;
  });
  furthest_.clear();
  for (size_t i = 0; i < tombstones_.size(); ++i) {
    const bool further = i == 0 || cmp_->Compare(tombstones_[i].end, tombstones_[furthest_.back()].end) > 0;
    furthest_.push_back(further ? i : furthest_.back());
  }
  return s;
}

// Called for every region. There may be many regions and tombstones.
std::span<const RangeTombstone> Delta::TombstonesIn(const std::optional<std::string>& lower,
                                                    const std::optional<std::string>& upper) const {
  const auto first = !lower ? furthest_.begin()
                            : std::partition_point(furthest_.begin(), furthest_.end(), [&](size_t i) {
                                return cmp_->Compare(tombstones_[i].end, *lower) <= 0;
                              });
  const auto end = !upper ? tombstones_.end()
                          : std::partition_point(tombstones_.begin(), tombstones_.end(), [&](const RangeTombstone& t) {
                              return cmp_->Compare(t.start, *upper) < 0;
                            });
  const auto begin = tombstones_.begin() + (first - furthest_.begin());
  return begin < end ? std::span(begin, end) : std::span<const RangeTombstone>();
}

void Delta::Extend(const Slice& low, const Slice& high) {
  if (empty_ || cmp_->Compare(low, smallest_) < 0) smallest_ = low.ToString();
  if (empty_ || cmp_->Compare(high, largest_) > 0) largest_ = high.ToString();
  empty_ = false;
}

void Delta::AddMemTable(std::shared_ptr<MemTable> memtable) {
  SampledMemTable& m = memtables_.emplace_back();
  m.memtable = std::move(memtable);
  m.samples = m.memtable->SampleKeys();
  m.bytes = m.memtable->table_size();
  has_merges_ = has_merges_ || m.memtable->num_merges() > 0;
  const InternalIteratorPtr it = m.memtable->NewIterator();
  it->SeekToFirst();
  if (it->Valid()) {
    const std::string first = ExtractUserKey(it->key()).ToString();
    it->SeekToLast();
    Extend(first, ExtractUserKey(it->key()));
  }
  if (m.memtable->num_range_deletes() == 0) return;
  m.covering = m.memtable->RangeTombstones();
  for (RangeTombstone& t : m.memtable->RawRangeTombstones()) {
    // An empty range would only stretch the bounds.
    if (cmp_->Compare(t.start, t.end) >= 0) continue;
    Extend(t.start, t.end);
    tombstones_.push_back(std::move(t));
  }
}

InternalIteratorPtr Delta::NewIterator(const BlockReadOptions& read) const {
  std::vector<InternalIteratorPtr> children;
  for (const SampledMemTable& m : memtables_) children.push_back(m.memtable->NewIterator());
  if (one_run_ && tables_.size() > 1) {
    children.push_back(NewTableRunIterator(cmp_, tables_, read));
  } else {
    for (const TableRef& t : tables_) children.push_back(t->tph().NewIterator(read));
  }
  return NewMergingIterator(&icmp_, std::move(children));
}

uint64_t Delta::Bytes(const std::optional<std::string>& lower,
                      const std::optional<std::string>& upper) const {
  uint64_t sum = 0;
  for (const TableRef& t : tables_) {
    const TphMeta& m = t->meta();
    const uint64_t total = m.TotalBytes();
    const auto offset = [&](const std::optional<std::string>& key, uint64_t open) -> uint64_t {
      if (!key) return open;
      if (cmp_->Compare(*key, m.smallest) <= 0) return 0;
      if (cmp_->Compare(*key, m.largest) > 0) return total;
      return t->tph().ApproximateOffset(*key);
    };
    const uint64_t a = offset(lower, 0), b = offset(upper, total);
    if (b <= a || total == 0) continue;
    // Dead records are not moved down.
    sum += static_cast<uint64_t>(static_cast<double>(b - a) / static_cast<double>(total) *
                                 static_cast<double>(m.LiveDataBytes()));
  }
  for (const SampledMemTable& m : memtables_) {
    const auto offset = [&](const std::optional<std::string>& key, uint64_t open) -> uint64_t {
      if (!key) return open;
      const auto sample =
          std::partition_point(m.samples.begin(), m.samples.end(),
                               [&](const Slice& s) { return cmp_->Compare(s, *key) < 0; });
      const auto before = static_cast<uint64_t>(sample - m.samples.begin());
      return m.bytes * before / std::max<uint64_t>(m.samples.size(), 1);
    };
    const uint64_t a = offset(lower, 0), b = offset(upper, m.bytes);
    if (b > a) sum += b - a;
  }
  return sum;
}

Status Delta::AddCovering(RangeTombstoneSet* set) const {
  for (const TableRef& t : tables_) {
    if (Status s = AddRangeTombstones(t, {}, set); !s.ok()) return s;
  }
  for (const SampledMemTable& m : memtables_) {
    if (m.covering != nullptr) set->Add(m.covering);
  }
  return Status::OK();
}

uint64_t Delta::stored_bytes() const {
  uint64_t sum = 0;
  for (const TableRef& t : tables_) sum += t->meta().TotalBytes();
  return sum;
}

}  // namespace compassdb
