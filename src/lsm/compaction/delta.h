// SPDX-License-Identifier: Apache-2.0
// What a compaction moves down: tables of a level, and memtables that are
// merged straight into a level below 0 (paper 4.4.1).
//
// Thread safety: immutable once loaded; iterators are for one thread each. Pins its tables
// and memtables, which must be immutable.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iter/internal_iterator.h"
#include "iter/range_tombstone_set.h"
#include "lsm/version/table_handle.h"
#include "memtable/memtable.h"

namespace compassdb {

class Delta {
 public:
  // `one_run`: the tables share no key and are listed by key. `now_seconds`: the creation time of
  // what the memtables hold.
  Delta(const Comparator* comparator, std::vector<TableRef> tables, bool one_run,
        std::vector<std::shared_ptr<MemTable>> memtables, uint64_t now_seconds);

  // Reads the range tombstones of the tables. Before any use of tombstones.
  Status LoadTombstones(const std::vector<SequenceNumber>& snapshots);

  const std::vector<TableRef>& tables() const { return tables_; }
  // All records, in internal key order.
  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  // Live bytes with user keys in [lower, upper), estimated; a missing bound is open.
  uint64_t Bytes(const std::optional<std::string>& lower,
                 const std::optional<std::string>& upper) const;
  // Without those that newer ones hide, by start.
  const std::vector<RangeTombstone>& tombstones() const { return tombstones_; }
  // Those of them that overlap [lower, upper), and perhaps some more; a missing bound is open.
  std::span<const RangeTombstone> TombstonesIn(const std::optional<std::string>& lower,
                                               const std::optional<std::string>& upper) const;
  Status AddCovering(RangeTombstoneSet* set) const;
  bool has_merges() const { return has_merges_; }
  // Bytes that reading all of it reads from files.
  uint64_t stored_bytes() const;
  // UINT64_MAX if there is nothing.
  uint64_t oldest_creation() const { return oldest_creation_; }
  // Bounds over records and range tombstones.
  bool empty() const { return empty_; }
  const std::string& smallest() const { return smallest_; }
  const std::string& largest() const { return largest_; }

 private:
  struct SampledMemTable {
    std::shared_ptr<MemTable> memtable;
    std::shared_ptr<const RangeTombstoneList> covering;
    std::vector<Slice> samples;  // keys with equal shares of the bytes between them
    uint64_t bytes = 0;
  };
  void Extend(const Slice& low, const Slice& high);
  void AddMemTable(std::shared_ptr<MemTable> memtable);

  const Comparator* const cmp_;
  const InternalKeyComparator icmp_;
  const std::vector<TableRef> tables_;
  const bool one_run_;
  std::vector<SampledMemTable> memtables_;
  std::vector<RangeTombstone> tombstones_;
  std::vector<size_t> furthest_;  // of each tombstone and those before it, which one ends last
  bool has_merges_ = false;
  uint64_t oldest_creation_ = UINT64_MAX;
  bool empty_ = true;
  std::string smallest_, largest_;
};

}  // namespace compassdb
