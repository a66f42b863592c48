// SPDX-License-Identifier: Apache-2.0
// Jobs with a CompactionTask that the store has picked: compactions, automatic and manual, and drops of tables.
#pragma once

#include "db/jobs/job.h"

namespace compassdb {

class TableCompaction final : public Job {
 public:
  // `cancel` ends it early: a manual one, unless the database is closed, with Incomplete and
  // kManualCompactionPaused, others with Incomplete or ShutdownInProgress. `family` counts it among its running compactions.
  TableCompaction(const JobEnvironment& env, std::shared_ptr<ColumnFamily> family, std::unique_ptr<CompactionTask> task,
                  bool manual, const std::atomic<bool>* cancel);
  // After Run.
  JobReport TakeReport() { return std::move(parts_.front().report); }
  // Whether it failed, and was not cancelled.
  static bool Failed(const Status& s) {
    return !s.ok() && !s.IsShutdownInProgress() && !s.IsIncomplete() && !s.IsColumnFamilyDropped();
  }

 private:
  void Start() override;
  Status Work(JobPart* part) override;
  void PartFailed(JobPart* part) override {
    if (!manual_) ++part->family->failed_compactions;
  }
  bool IsBackgroundError(const Status& s) const override { return Failed(s); }
  void Report(const Status& s) override;

  const bool manual_;
  const std::atomic<bool>* const cancel_;
};

// Deaths of the tables' separated values are written, so there may be a new file.
class TableDrop final : public Job {
 public:
  TableDrop(const JobEnvironment& env, std::shared_ptr<ColumnFamily> family, std::unique_ptr<CompactionTask> task);

 private:
  Status Work(JobPart* part) override { return RunTask(part, {}, env_.shutting_down); }
  bool IsBackgroundError(const Status& s) const override { return !s.IsColumnFamilyDropped(); }
  void Report(const Status& s) override;

  const std::string what_;
};

}  // namespace compassdb
