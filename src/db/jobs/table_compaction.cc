// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/table_compaction.h"

#include <algorithm>

#include "api/thread_tracking.h"
#include "db/report/statistics_util.h"

namespace compassdb {

TableCompaction::TableCompaction(const JobEnvironment& env, std::shared_ptr<ColumnFamily> family,
                                 std::unique_ptr<CompactionTask> task, bool manual, const std::atomic<bool>* cancel)
    : Job(env, manual ? JobListener::Kind::kManualCompaction : JobListener::Kind::kCompaction),
      manual_(manual),
      cancel_(cancel) {
  AddPart(std::move(family), std::move(task));
}

void TableCompaction::Start() {
  JobPart& part = parts_.front();
  Log(part, "[JOB " + std::to_string(part.context.job_id) + "] compacting " + part.task->Describe());
  env_.event_log.CompactionStarted(part.context, *part.task, manual_, env_.snapshots->Sequences());
  JobReport& report = part.report;
  part.task->ListInputs(&report);
  if (!manual_) {
    const auto& levels = report.input_file_levels;
    Record(statistics(), rocksdb::NUM_FILES_IN_SINGLE_COMPACTION,
           static_cast<uint64_t>(std::count(levels.begin(), levels.end(), report.input_level)));
  }
  part.listener->SetInputs(report);
  env_.listeners.CompactionBegin(part.context, report, manual_);
}

Status TableCompaction::Work(JobPart* part) {
  const TrackedOperation tracked(env_.config.options.enable_thread_tracking, rocksdb::ThreadStatus::OP_COMPACTION,
                                 env_.config.name, part->family->name(), part->context.job_id);
  StopWatch watch(env_.config.clock, statistics(), rocksdb::COMPACTION_TIME);
  const Status s = RunTask(part, env_.snapshots->Sequences(), cancel_);
  if (!manual_ || *env_.shutting_down || !(s.IsShutdownInProgress() || s.IsIncomplete())) return s;
  return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
}

void TableCompaction::Report(const Status& s) {
  const JobPart& part = parts_.front();
  const JobReport& report = part.report;
  if (s.ok()) {
    Tick(statistics(), rocksdb::COMPACT_READ_BYTES, report.bytes_read);
    Tick(statistics(), rocksdb::COMPACT_WRITE_BYTES, report.bytes_written);
    CountMerged(statistics(), report);
    ColumnFamily::Counters& counters = part.family->counters;
    counters.compact_read_bytes += report.bytes_read;
    counters.compact_write_bytes += report.bytes_written;
    ++counters.compactions;
  } else if (!Failed(s)) {
    Tick(statistics(), rocksdb::COMPACTION_CANCELLED);
  }
  Log(part, "[JOB " + std::to_string(part.context.job_id) + "] compaction " +
                (s.ok() ? "read " + std::to_string(report.bytes_read) + " and wrote " +
                              std::to_string(report.bytes_written) + " bytes, records " +
                              std::to_string(report.records_in) + " -> " + std::to_string(report.records_out) + ", " +
                              std::to_string(report.micros) + " us"
                        : "failed: " + s.ToString()));
  if (s.ok()) {
    env_.event_log.FilesCreated(part.context, report);
    env_.event_log.CompactionFinished(part.context, report);
  }
  env_.listeners.CompactionCompleted(part.context, report, manual_, s);
}

TableDrop::TableDrop(const JobEnvironment& env, std::shared_ptr<ColumnFamily> family,
                     std::unique_ptr<CompactionTask> task)
    : Job(env, JobListener::Kind::kManualCompaction), what_(task->Describe()) {
  AddPart(std::move(family), std::move(task));
}

void TableDrop::Report(const Status& s) {
  Log(parts_.front(), "DeleteFilesInRanges: " + what_ + (s.ok() ? std::string() : ", " + s.ToString()));
}

}  // namespace compassdb
