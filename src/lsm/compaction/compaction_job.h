// SPDX-License-Identifier: Apache-2.0
// Carries out a plan: merges the inputs (the delta) into the bases one level
// below, or rewrites the inputs whole (paper 3.5).
//
// 1. The key space of the delta is cut into regions: one per base table, and
//    one per gap between bases with enough data for a table of its own. If merges
//    rewrite tables, several bases make one. No region crosses a fence. In hash
//    range (paper 3.4) the space of search keys is cut, and one pass over the
//    delta distributes its records.
// 2. In each region the delta is merged with the base's victims, the pieces
//    that GC chose. The result is the new head piece. Of the pieces that stay
//    only the hash lists are read.
// 3. The directory is rebuilt from the hash lists and the head's hashes.
// 4. All pieces and directories are written to one file, synced once, and separated
//    values to another. With subcompactions several threads share the regions and write
//    into the same files.
//
// The four MergeArray cases of the paper are decided without an array: (1)
// neither and (4) base only by the hash lists, (2) delta only and (3) both by
// the sorted entries, where the head's replaces the base's.
//
// Run is called once. The store marks inputs and bases as busy until it ends.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lsm/compaction/delta_split.h"
#include "lsm/compaction/region_merge.h"

namespace compassdb {

class CompactionJob {
 public:
  CompactionJob(const CompactionJobInput& input, const std::vector<SequenceNumber>& snapshots,
                const std::atomic<bool>* cancel);
  // Adds to *edit and *report.
  Status Run(VersionEdit* edit, JobReport* report);

 private:
  Status RunParts(JobReport* report);
  Status Gather(VersionEdit* edit, JobReport* report);
  Status CutRegions();
  Status CutByKeys();
  void CutRewritten(size_t first, size_t end, std::optional<std::string> lower,
                    const std::optional<std::string>& upper);
  Status CutBetween(size_t first, size_t end, std::optional<std::string> lower,
                    const std::optional<std::string>& last);
  void AddRegion(std::vector<TableRef> bases, const std::optional<std::string>& lower,
                 const std::optional<std::string>& upper);
  void CutByHash();
  void AddHashRegions(const TableRef& base, const SearchRange& range, const SearchRange& hull);
  // How many threads the delta, or the tables to be rewritten, are worth.
  size_t Workers() const;
  Status Rewrite();
  Status RunRegions();
  // The delta's records in regions [begin, end), by one worker.
  Status RunRange(size_t worker, size_t begin, size_t end);
  Status RunHashRegions();
  // f(worker, i) for each i in [begin, end), by all workers.
  Status Share(size_t begin, size_t end, const std::function<Status(size_t, size_t)>& f);
  void NotifyBegin(size_t worker);
  void NotifyEnd(size_t worker, const Status& status);
  size_t EndOfBase(size_t begin) const;
  // The regions from `first` on, of one base, by one worker: delta[i] has the delta's records in the i-th.
  // Reads the base once.
  Status RunHashGroup(size_t worker, size_t first, std::span<RecordBuffer> delta);
  // Adds each record of region `begin` + i to (*buffers)[i], and drops those of other regions.
  Status Distribute(InternalIterator* records, size_t begin, std::vector<RecordBuffer>* buffers);
  bool FirstDeltaKeyAfter(const std::string& key, std::string* found, Status* s);

  const CompactionJobInput in_;
  const std::vector<SequenceNumber> snapshots_;
  const std::atomic<bool>* const cancel_;
  const Comparator* const cmp_;
  Delta delta_;
  InternalIteratorPtr records_;  // of the delta
  std::vector<Region> regions_;
  JobFiles files_;
  std::vector<std::unique_ptr<RegionMerge>> workers_;
  std::vector<uint8_t> begun_;  // per worker: the observer was notified of its begin, not yet of its end
  JobReport* report_ = nullptr;
  std::atomic<uint64_t> other_cpu_nanos_{0};  // of threads that Share began
};

}  // namespace compassdb
