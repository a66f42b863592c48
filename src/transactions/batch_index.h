// SPDX-License-Identifier: Apache-2.0
// The records of a write batch by column family, key and place in the batch.
//
// An entry is an offset into the batch's bytes, so that the batch may grow and
// move. With `overwrite` a record replaces the newest entry of its key, unless
// it is a merge operand, which gets an entry after it.
//
// In families with user-defined timestamps keys are indexed without their space for timestamps.
//
// Thread safety: none for changes; const methods may be concurrent.
// Invariants: entries name records of the batch; positions stay valid while
// entries are added and end with Clear and Rebuild.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "batch/batch_record.h"
#include "rocksdb/comparator.h"
#include "rocksdb/write_batch.h"

namespace compassdb {

using rocksdb::Comparator;

class BatchIndex {
 public:
  struct Entry {
    uint32_t family;
    mutable size_t offset;  // of the record; a change keeps the order of the key's entries
    size_t key_offset;
    size_t key_bytes;
  };
  // A place between entries: before or after all of a key, or of a family.
  enum class Side { kBeforeFamily, kBeforeKey, kBehindKey, kBehindFamily };
  struct Probe {
    uint32_t family;
    Slice key;
    Side side;
  };
  struct Less {
    using is_transparent = void;
    const BatchIndex* index;
    bool operator()(const Entry& a, const Entry& b) const;
    bool operator()(const Entry& a, const Probe& b) const;
    bool operator()(const Probe& a, const Entry& b) const;
  };
  using Set = std::set<Entry, Less>;
  using Position = Set::const_iterator;

  // The result of the records of one key, newest first.
  struct Update {
    enum class Base { kUnknown, kValue, kDeleted };
    Base base = Base::kUnknown;
    Slice value;                  // of kValue; lives until the batch changes
    std::vector<Slice> operands;  // newest first, on top of the base
    bool Found() const { return base != Base::kUnknown || !operands.empty(); }
    bool Deletes() const { return base == Base::kDeleted && operands.empty(); }
  };

  // Both are borrowed; `fallback` orders the families without a comparator.
  BatchIndex(const rocksdb::WriteBatch* batch, const Comparator* fallback, bool overwrite);
  BatchIndex(const BatchIndex&) = delete;
  BatchIndex& operator=(const BatchIndex&) = delete;

  void SetComparator(uint32_t family, const Comparator* comparator);
  const Comparator* ComparatorOf(uint32_t family) const;
  const Comparator* fallback() const { return fallback_; }

  // Indexes the record at `offset` of the batch, if it is one with a key.
  // Corruption if there is none that parses.
  Status Add(size_t offset);
  void Clear() { entries_.clear(); }
  // From all records of the batch.
  Status Rebuild();

  Position end() const { return entries_.end(); }
  Position begin() const { return entries_.begin(); }
  // The first entry after that place.
  Position Seek(uint32_t family, Side side, const Slice& key = Slice()) const {
    return entries_.lower_bound(Probe{family, key, side});
  }

  Slice KeyOf(const Entry& entry) const {
    return Slice(batch_->Data().data() + entry.key_offset, entry.key_bytes);
  }
  // The record of an entry; its slices live until the batch changes.
  BatchRecord RecordOf(const Entry& entry) const;
  // A record's key without timestamp.
  Slice BareKey(const BatchRecord& record) const;
  Update Lookup(uint32_t family, const Slice& key) const;

 private:
  Status Index(size_t offset, const BatchRecord& record);
  // Below 0 if the entry comes before the place; never 0.
  int Compare(const Entry& entry, const Probe& probe) const;
  int Compare(uint32_t family, const Slice& a, const Slice& b) const {
    return ComparatorOf(family)->CompareWithoutTimestamp(a, false, b, false);
  }

  const rocksdb::WriteBatch* const batch_;
  const Comparator* const fallback_;
  const bool overwrite_;
  std::vector<const Comparator*> comparators_;  // by family; null: the fallback
  Set entries_;
};

}  // namespace compassdb
