// SPDX-License-Identifier: Apache-2.0
// Carries out a plan: brings the inputs (the delta) down into the bases, or
// rewrites the inputs whole (paper 3.5).
//
// 1. The key space of the delta is cut into regions: one per base table, and
//    one per gap between bases that gets enough to be tables of its own.
// 2. In each region the delta is merged with the base's victims, the pieces
//    that GC chose. What survives is the new head piece; the pieces that stay
//    are known by their hash lists only.
// 3. The directory is rebuilt from the hash lists and the head's hashes.
// 4. All pieces and directories go into one file, synced once.
//
// The four MergeArray cases of the paper are decided without an array: (1)
// neither and (4) base only fall out of the hash lists, (2) delta only and (3)
// both out of the sorted entries, where the head's replaces the base's.
//
// One thread; inputs and bases are marked busy by the store meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "lsm/compaction/exec/base_table.h"
#include "lsm/compaction/exec/job_file.h"
#include "lsm/compaction/exec/job_input.h"
#include "lsm/compaction/policy/gc_policy.h"
#include "lsm/lsm_version.h"
#include "store/store.h"

namespace compassdb {

struct CompactionJobInput {
  const StoreContext* context = nullptr;
  const StoreOptions* options = nullptr;
  std::shared_ptr<const LsmVersion> version;  // against which the plan was made
  int input_level = 0;
  int output_level = 0;
  std::vector<TableRef> inputs;  // newest first on level 0, else by key
  std::vector<TableRef> bases;   // by key
  bool rewrite = false;
  bool manual = false;
  bool full = false;  // every table of the family takes part
};

class CompactionJob {
 public:
  CompactionJob(const CompactionJobInput& input, const std::vector<SequenceNumber>& snapshots,
                const std::atomic<bool>* cancel);
  Status Run(VersionEdit* edit, JobReport* report);
  // The finished file's number; 0 if none was needed.
  uint64_t output_file() const { return file_.number(); }
  uint64_t bytes_written() const { return file_.bytes(); }

 private:
  // User keys in [lower, upper); a missing bound is open.
  struct Region {
    TableRef base;  // null: a gap
    std::optional<std::string> lower, upper;
  };

  Status CutRegions();
  Status RunRegion(const Region& region);
  Status RunPartial(const Region& region, const GcChoice& choice, uint64_t smallest_creation);
  Status RunWhole(const Region& region);

  uint64_t DeltaBytes(const std::optional<std::string>& lower,
                      const std::optional<std::string>& upper) const;
  bool FirstDeltaKeyAfter(const std::string& key, std::string* found, Status* s);
  // Tombstones of the delta, and of the base's victims, clipped to the region.
  std::vector<RangeTombstone> RegionTombstones(const Region& region, const BaseTable* base) const;
  bool TombstoneNeeded(const RangeTombstone& t, const BaseTable* base) const;
  std::unique_ptr<RangeTombstoneSet> Covering(const Region& region) const;

  bool IsBottom(const Region& region) const;
  Status NewPiece(std::unique_ptr<PieceBuilder>* builder, uint64_t* id);
  Status FinishWholeTable(std::unique_ptr<PieceBuilder> builder, uint64_t first_creation,
                          const std::vector<RangeTombstone>& tombstones);
  void Replace(const TableRef& base);
  bool Cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }
  uint64_t OldestCreation(const TableRef& base) const;
  PieceBuildOptions BuildOptions() const;

  const CompactionJobInput in_;
  const std::vector<SequenceNumber> snapshots_;
  const std::atomic<bool>* const cancel_;
  const Comparator* const cmp_;
  const InternalKeyComparator icmp_;
  const GcConfig gc_;
  JobFile file_;
  std::unique_ptr<rocksdb::CompactionFilter> owned_filter_;
  const rocksdb::CompactionFilter* filter_ = nullptr;
  InternalIteratorPtr delta_;
  std::vector<Region> regions_;
  VersionEdit* edit_ = nullptr;
  JobReport* report_ = nullptr;
};

}  // namespace compassdb
