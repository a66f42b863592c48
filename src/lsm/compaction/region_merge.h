// SPDX-License-Identifier: Apache-2.0
// Merges regions of a delta with their bases and writes the new tables into the
// job's file. Several of these may share a job's regions.
//
// One thread; the constructor's arguments outlive this.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iter/compaction_iterator.h"
#include "lsm/compaction/base_table.h"
#include "lsm/compaction/delta.h"
#include "lsm/compaction/delta_split.h"
#include "lsm/compaction/job_file.h"
#include "lsm/compaction/job_input.h"
#include "lsm/compaction/value_separator.h"
#include "lsm/policy/gc_policy.h"
#include "lsm/version/lsm_version.h"
#include "store/store.h"

namespace compassdb {

struct CompactionJobInput {
  const StoreContext* context = nullptr;
  const StoreOptions* options = nullptr;
  std::shared_ptr<const LsmVersion> version;  // for which the plan was made
  int input_level = 0;
  int output_level = 0;
  std::vector<TableRef> inputs;  // newest first on level 0, else by key
  std::vector<std::shared_ptr<MemTable>> memtables;  // inputs, too: newer than all tables
  std::vector<TableRef> bases;   // by key
  // Smallest keys of tables of the output level that are between the bases and stay: no new table
  // may cross one. Ascending.
  std::vector<std::string> fences;
  bool hash_range = false;       // the output level is cut by hash
  bool rewrite = false;
  size_t path = 0;  // of StoreOptions::paths, for the files
  bool whole = false;  // bases are rewritten whole, without asking GC
  bool manual = false;
  bool full = false;  // every table of the family takes part
  JobObserver* observer = nullptr;
  uint32_t group_bits = 0;  // of new runs of the value store
  uint32_t max_threads = 0;  // instead of the option; 0: the option's
  uint32_t threads = 1;  // at least; with memtables, FlushRequest's
  std::function<bool(double, uint64_t)> hurry;  // FlushRequest's; may be null
};

// User keys in [lower, upper), where a missing bound is open, with search keys
// in `search`, which is everything if the level is cut by user keys.
struct Region {
  // None: a gap. Several: they are rewritten whole, together.
  std::vector<TableRef> bases;
  std::optional<std::string> lower, upper;
  bool hash_range = false;
  SearchRange search;
  // One of several regions into which a base is cut by hash, and rewritten; the
  // first of them removes it from the level.
  bool part = false;
  bool first_part = false;
  const std::vector<RecordBuffer>* base_records = nullptr;  // of a part: those of each piece in here
  std::optional<uint64_t> delta_bytes;  // of the delta in here, if known
};

BlockReadOptions CompactionReads();

class RegionMerge {
 public:
  RegionMerge(const CompactionJobInput& input, const Delta& delta,
              const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel, JobFiles* files);

  // `records` is at the first record of the delta in the region, and moves to
  // the first one after it.
  Status Run(const Region& region, InternalIterator* records);
  // Writes the rest of the delta, up to region.upper, as a run on level 0, without a base.
  Status RunRest(const Region& region, InternalIterator* records);
  // Rewrites a table whole; there is no delta.
  Status Rewrite(const TableRef& table);
  // There are no more regions. Results are then in edit() and report(); the job finishes the files.
  Status Finish();

  const VersionEdit& edit() const { return edit_; }
  const JobReport& report() const { return report_; }

 private:
  // Into the piece, a large value into the value store. `stale`: see CompactionIterator.
  Status Add(const CompactionIterator& record, PieceBuilder* builder);
  // All records, into a piece of the level, which is begun with the first.
  Status AddAll(CompactionIterator* records, int level, std::unique_ptr<PieceBuilder>* builder);
  // With one base. Some of its pieces may stay.
  Status RunPartial(const Region& region, const GcChoice& choice, InternalIterator* records);
  Status RunWhole(const Region& region, InternalIterator* records);

  // Tombstones of the delta, and of the base's victims, clipped to the region.
  Status RegionTombstones(const Region& region, const BaseTable* base,
                          std::vector<RangeTombstone>* result);
  bool Trimmed(const RangeTombstone& t) const;
  bool TombstoneNeeded(const Region& region, const RangeTombstone& t, const BaseTable* base) const;
  Status AddCovering(const Region& region, RangeTombstoneSet* set) const;
  // Per piece of the base, estimated: data bytes that range tombstones hide from all readers. Empty: none.
  Status CoveredBytes(const Region& region, const Tph& base, std::vector<uint64_t>* covered) const;

  bool IsBottom(const Region& region) const;
  // Per directory slot: more if deeper levels make this one of many runs.
  uint32_t Fingerprints() const {
    return in_.version->OverlapsBelow(in_.output_level, nullptr, nullptr) ? kUpperFingerprints
                                                                          : kBottomFingerprints;
  }
  bool MayZeroSequences(const Region& region) const;
  CompactionIteratorOptions IteratorOptions(RangeTombstoneSet* covering);
  ValueSeparator::Options SeparatorOptions() const;
  void CreateFilter();
  Status NewPiece(int level, std::unique_ptr<PieceBuilder>* builder);
  Status FinishWholeTable(int level, const Region& region, std::unique_ptr<PieceBuilder> builder,
                          uint64_t creation_time,
                          const std::vector<RangeTombstone>& tombstones);
  void Replace(const TableRef& base);
  // Regularly, by the number of records: rate limiter and cancel flag.
  Status Pause(uint64_t records);
  uint64_t OldestCreation(const Region& region) const;
  // Size of a table of a region that is rewritten whole.
  uint64_t CutBytes(const Region& region) const;

  const CompactionJobInput& in_;
  const Delta& delta_;
  const std::vector<SequenceNumber>& snapshots_;
  const std::atomic<bool>* const cancel_;
  const Comparator* const cmp_;
  const InternalKeyComparator icmp_;
  JobFiles* const files_;
  ValueSeparator values_;
  const std::string history_low_, trim_to_;  // CompactionIteratorOptions'
  std::unique_ptr<ValueResolver> resolver_;  // null: there are no separated values
  std::unique_ptr<rocksdb::CompactionFilter> owned_filter_;
  const rocksdb::CompactionFilter* filter_ = nullptr;
  VersionEdit edit_;
  JobReport report_;
  uint64_t table_bytes_ = 0;  // written
};

}  // namespace compassdb
