// SPDX-License-Identifier: Apache-2.0
// Compactions on request: of a range, of files, of a level; and drops of tables. They run in the caller's thread, and
// wait for conflicting jobs.
//
// Thread safety: all methods; they are called without the database mutex.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/jobs/background_jobs.h"
#include "db/jobs/flusher.h"
#include "rocksdb/db.h"

namespace compassdb {

class ManualCompactions {
 public:
  // All of it outlives this.
  ManualCompactions(const JobEnvironment& env, BackgroundJobs& jobs, Flusher& flusher)
      : env_(env), mu_(env.mu), jobs_(jobs), flusher_(flusher) {}

  // Whether CompactRange supports these options.
  static Status Check(const rocksdb::CompactRangeOptions& options, const ColumnFamily& family, const Slice* begin,
                      const Slice* end);
  Status CompactRange(const rocksdb::CompactRangeOptions& options, const std::shared_ptr<ColumnFamily>& family,
                      const Slice* begin, const Slice* end);
  // A file means the tables whose metadata name it (GetLiveFilesMetaData). They move down level by level, merged with
  // overlapping tables; tables on the output level are rewritten. `output_files` and `info` may be null.
  Status CompactFiles(const std::shared_ptr<ColumnFamily>& family, const std::vector<std::string>& input_files,
                      int output_level, int output_path, std::vector<std::string>* output_files,
                      rocksdb::CompactionJobInfo* info);
  void Suggest(ColumnFamily* family, const Slice* begin, const Slice* end) EXCLUDES(*mu_);
  Status PromoteLevel0(const std::shared_ptr<ColumnFamily>& family, int target_level);
  Status DropTables(const std::shared_ptr<ColumnFamily>& family, const rocksdb::RangePtr* ranges, size_t n,
                    bool include_end) EXCLUDES(*mu_);

  // Each Disable needs one Enable; the order is free. Waits for running ones, which end early.
  void Disable();
  void Enable();
  // Permanently, with JobEnvironment::shutting_down: running ones end early.
  void Cancel() { cancelled_ = true; }

 private:
  using Pick = std::function<std::unique_ptr<CompactionTask>(bool* conflict)>;
  using Done = std::function<void(const JobReport&)>;  // after a job that succeeded; may be null

  // Whether a job may begin in the family.
  Status MayBegin(const ColumnFamily& family) const REQUIRES(*mu_);
  Status RunJob(const std::shared_ptr<ColumnFamily>& family, std::unique_ptr<CompactionTask> task,
                const std::atomic<bool>* cancel, JobReport* report);
  Status RunRequest(const std::shared_ptr<ColumnFamily>& family, const ManualCompaction& request,
                    const std::atomic<bool>* cancel, const Done& done = nullptr);
  // Runs the tasks that `pick` finds, until it finds none.
  Status RunPicked(const std::shared_ptr<ColumnFamily>& family, const Pick& pick, const std::atomic<bool>* cancel,
                   const Done& done) EXCLUDES(*mu_);
  Status CompactLevels(const rocksdb::CompactRangeOptions& options, const std::shared_ptr<ColumnFamily>& family,
                       const Slice* begin, const Slice* end);
  // Collects all groups of separated values with garbage: their oldest share, or the family's age cutoff.
  Status CollectValues(const std::shared_ptr<ColumnFamily>& family, double age_cutoff, const std::atomic<bool>* cancel);
  // Moves all tables of a level, once no job conflicts.
  Status MoveLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) EXCLUDES(*mu_);
  Status ChangeLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) EXCLUDES(*mu_);
  Status SettleLastLevel(const std::shared_ptr<ColumnFamily>& family, int level, const Slice* begin, const Slice* end);

  const JobEnvironment& env_;
  Mutex* const mu_;
  BackgroundJobs& jobs_;
  Flusher& flusher_;
  std::atomic<int> disabled_{0};
  std::atomic<bool> cancelled_{false};  // disabled, or shutting down
};

}  // namespace compassdb
