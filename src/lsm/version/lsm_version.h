// SPDX-License-Identifier: Apache-2.0
// The tables of a column family at one moment.
//
// Thread safety: immutable; pinned through std::shared_ptr.
// Invariants: level 0 is newest first; the tables of a deeper level share no
// user key. They are all cut by user keys and sorted by smallest key, or all cut
// by hash and sorted by first search key (paper 3.4).
#pragma once

#include <memory>
#include <vector>

#include "lsm/read/table_finder.h"
#include "lsm/version/table_handle.h"
#include "store/store.h"
#include "table/piece/key_order.h"
#include "util/mutex.h"
#include "value_store/newest_values.h"
#include "value_store/value_version.h"

namespace compassdb {

// What jobs did per output level since open; shared by all versions. Thread safe.
class JobCounters {
 public:
  explicit JobCounters(size_t levels) : levels_(levels) {}
  // Before the job's commit: if that fails, the job counts here and not in ColumnFamily::Counters.
  void Record(const JobReport& report);
  void AddTo(std::vector<LevelStats>* stats) const;

 private:
  mutable Mutex mu_;
  std::vector<LevelStats> levels_ GUARDED_BY(mu_);  // the "since open" fields only
};

// Adds level and table to the message of a Corruption.
Status AnnotateWithTable(const Status& s, int level, const TphMeta& meta);

class LsmVersion : public StoreView {
 public:
  LsmVersion(TableContextRef context, std::vector<std::vector<TableRef>> levels,
             std::shared_ptr<const JobCounters> counters, const ScanAccounting* accounting,
             KeyHasher hasher, std::shared_ptr<const ValueVersion> values, bool open_below,
             std::shared_ptr<const NewestValues> newest = nullptr);
  // The same tables for a job: it pins no values, and finds those that exist when it reads them.
  std::shared_ptr<const LsmVersion> ForJob(std::shared_ptr<const NewestValues> newest) const;

  // Which rule of its tables and their order does not hold; null: all do. What was recovered is asked, too.
  const char* BrokenInvariant() const;
  void CheckInvariants() const;

  const std::vector<std::vector<TableRef>>& levels() const { return levels_; }
  // For jobs; readers have their own.
  std::shared_ptr<const ValueVersion> values() const { return newest_ == nullptr ? values_ : newest_->Get(); }

  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             GetContext* ctx) const override;
  void MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const override;
  Status AddIterators(const BlockReadOptions& read, std::vector<InternalIteratorPtr>* iterators,
                      RangeTombstoneSet* tombstones) const override;
  std::unique_ptr<ValueResolver> NewValueResolver(const BlockReadOptions& read) const override;
  ValueStats Values() const override { return values_->Stats(); }
  void ForEachValueRun(const std::function<void(const ValueRunMeta&, uint64_t)>& f) const override;
  uint64_t ApproximateSize(const Slice& begin, const Slice& end) const override;
  std::vector<LevelStats> Levels() const override;
  uint64_t StoredBytes() const override { return context_->stored_bytes.load(std::memory_order_relaxed); }
  IndexMemory Index() const override;
  Status LoadIndex() const override;
  void ForEachTable(const std::function<void(int, const TphMeta&)>& f) const override;
  Status ForEachPiece(const PieceVisitor& f) const override;
  Status Verify() const override;

  bool HasRangeTombstones() const { return !with_tombstones_.empty(); }
  bool HasHashLevels() const;
  // True if a table below `level` may have a record of the key, now or later (rule 4).
  bool MayHoldBelow(int level, const Slice& user_key, const KeyHash& hash) const;
  // True if any table may have a record of the key.
  bool MayHold(const Slice& user_key, const KeyHash& hash) const {
    return MayHoldInLevel0(user_key, hash, {}) || MayHoldBelow(0, user_key, hash);
  }
  // The same of the levels above `level`, without `others`.
  bool MayHoldAbove(int level, const Slice& user_key, const KeyHash& hash,
                    std::span<const TableRef> others) const;
  // True if a table below `level` overlaps [begin, end] (a null pointer is unbounded) and `search`,
  // or may later.
  bool OverlapsBelow(int level, const Slice* begin, const Slice* end,
                     const SearchRange& search = SearchRange()) const;

 private:
  bool MayHoldInLevel0(const Slice& user_key, const KeyHash& hash,
                       std::span<const TableRef> others) const;
  // The sorted runs, newest first: the tables of level 0, then the other levels.
  size_t NumRuns() const;
  int LevelOfRun(size_t run) const;
  // The run's table that may hold the key; null if none.
  const TableHandle* TableInRun(size_t run, const PointLookup& lookup) const;
  void MultiGetSome(const BlockReadOptions& read, std::span<PointLookup> lookups) const;
  void FetchDeferred(const BlockReadOptions& read, std::span<PointLookup> lookups,
                     const std::vector<std::string>& refs) const;
  Status GetFromRun(const BlockReadOptions& read, size_t run, const PointLookup& lookup) const;
  // The table of a level below 0 that holds the key if any does; null if none may.
  const TableRef* TableOf(size_t level, const Slice& user_key, const KeyHash& hash) const;

  const TableContextRef context_;
  const Comparator* const comparator_;
  const KeyOrder& order_;  // the context's
  const bool hashes_identify_keys_;
  const std::vector<std::vector<TableRef>> levels_;
  std::vector<TableFinder> finders_;  // by level; of level 0 and hash levels unused
  // The tables with range tombstones: few of many, and every iterator needs them.
  std::vector<TableRef> with_tombstones_;
  const std::shared_ptr<const JobCounters> counters_;
  const ScanAccounting* const accounting_;  // the store's
  size_t deepest_ = 0;                      // level that is not empty
  const KeyHasher hasher_;
  const std::shared_ptr<const ValueVersion> values_;    // of a job's: an empty one
  const std::shared_ptr<const NewestValues> newest_;  // of a job's alone
  // Records may be ingested into the last level, below all others.
  const bool open_below_;
};

}  // namespace compassdb
