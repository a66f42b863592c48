// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "store/job_report.h"

namespace compassdb {

// A picked unit of background work, and what is needed to run it.
class CompactionTask {
 public:
  virtual ~CompactionTask() = default;
  // Does the work; on success the caller must commit the edit. Polls
  // `cancel` and returns ShutdownInProgress or Incomplete when it is set.
  virtual Status Run(const std::vector<SequenceNumber>& snapshots,
                     const std::atomic<bool>* cancel, VersionEdit* edit, JobReport* report) = 0;
  virtual int input_level() const = 0;
  virtual int output_level() const = 0;
  // It writes nothing, only looks for work; listeners are not notified.
  virtual bool silent() const { return false; }
  // Collects separated values: no table is its input or output.
  virtual bool collects() const { return false; }
  // The tables that are busy until Release, by id.
  virtual std::vector<uint64_t> BusyTables() const { return {}; }
  // The report's fields about input, which Run sets too.
  virtual void ListInputs(JobReport* report) const {
    report->input_level = input_level();
    report->output_level = output_level();
    report->input_files.clear();
    report->input_paths.clear();
    report->input_file_levels.clear();
    report->inputs.clear();
  }
  virtual std::string Describe() const = 0;
};

}  // namespace compassdb
