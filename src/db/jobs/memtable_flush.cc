// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/memtable_flush.h"

#include <algorithm>

#include "api/thread_tracking.h"
#include "db/jobs/run_task.h"
#include "db/report/info_log.h"
#include "db/report/statistics_util.h"
#include "store/levels.h"
#include "store/pages.h"
#include "store/value_space.h"

namespace compassdb {

void MemTableFlush::AddFamily(const std::shared_ptr<ColumnFamily>& family, bool all, uint32_t threads) {
  Memory memory;
  MemTables& memtables = family->memtables();
  memory.reason = memtables.flush_reason();
  FlushRequest& request = memory.request;
  request.memtables = memtables.PickFlush(all);
  request.log_number = memtables.LogBehind(request.memtables.size());
  if (ValueSpace* const values = family->store()->values()) request.view = values->ViewForJob();
  request.commit_ahead = [this, family](VersionEdit edit, bool* logged) {
    return CommitAhead(family, std::move(edit), logged);
  };
  request.threads = threads;
  request.hurry = [this, f = family.get()](double done, uint64_t rest_bytes) { return CutShort(f, done, rest_bytes); };
  std::unique_ptr<CompactionTask> merge;  // the store's own way, if it has one
  Levels* const levels = family->store()->levels();
  if (levels != nullptr && !family->settings.disable_auto_compactions) {
    merge = UnlessOutOfMemory(std::unique_ptr<CompactionTask>(), [&] { return levels->PickFlush(request); });
  }
  memtables.pace().MergeBegun(env_.config.clock->NowNanos());
  JobPart* const part = AddPart(family, std::move(merge));
  part->item.finalize = [m = &memtables, n = request.memtables.size()](VersionEdit* edit) {
    edit->log_number = m->LogBehind(n);
  };
  part->item.installed = [m = &memtables] { m->FlushCommitted(); };
  memory_.push_back(std::move(memory));
}

void MemTableFlush::Start() {
  for (const JobPart& part : parts_) {
    Memory& memory = MemoryOf(&part);
    memory.request.snapshots = env_.snapshots->Sequences();
    env_.event_log.FlushStarted(part.context, memory.reason, memory.request.memtables);
    env_.listeners.FlushBegin(part.context, memory.reason);
  }
}

Status MemTableFlush::Work(JobPart* part) {
  const JobPart& first = parts_.front();
  const TrackedOperation tracked(env_.config.options.enable_thread_tracking, rocksdb::ThreadStatus::OP_FLUSH,
                                 env_.config.name, first.family->name(), first.context.job_id);
  StopWatch watch(env_.config.clock, statistics(), rocksdb::FLUSH_TIME);
  Status s = WriteMemTables(part);
  MemoryOf(part).request.view.reset();  // it pins replaced files, which the next purge should free
  return s;
}

Status MemTableFlush::WriteMemTables(JobPart* part) {
  const FlushRequest& request = MemoryOf(part).request;
  part->item.edit.log_number = request.log_number;  // for the record in the file
  if (part->task != nullptr) {
    Status s = RunTask(part, request.snapshots, env_.shutting_down);
    if (s.ok() || s.IsShutdownInProgress()) return s;
    // Damage below must not prevent the flush of new data.
    Log(*part, "memtables are written to level 0: " + s.ToString());
    part->listener->JobEnded(part->report, s);
    part->item.edit = VersionEdit();
    part->report = JobReport();
    part->report.observer = part->listener->observer();
  }
  return CatchOutOfMemory(
      "a flush", [&] { return part->family->store()->Flush(request, &part->item.edit, &part->report); });
}

// The rest of a batch, in another family or another part of the memtable, must not be lost when this is durable.
Status MemTableFlush::BeforeCommit() {
  const bool parts = std::any_of(memory_.begin(), memory_.end(), [](const Memory& memory) {
    const auto& memtables = memory.request.memtables;
    return std::any_of(memtables.begin(), memtables.end(), [](const auto& m) { return m->is_part(); });
  });
  if (env_.families.size() <= 1 && !parts) return Status::OK();
  Status s = deps_.wals->SyncClosed();
  log_failed_ = !s.ok();
  return s;
}

// All data of sealed memtables is in logs before the current one.
Status MemTableFlush::CommitAhead(const std::shared_ptr<ColumnFamily>& family, VersionEdit edit, bool* logged) {
  // At the next open a filter may leave out records of the log that pages have.
  *logged = !deps_.unlogged_data && env_.config.options.wal_filter == nullptr && deps_.wals->EnsureClosedAreDurable();
  if (!*logged) return Status::OK();
  ReadStateGarbage garbage(env_.space);
  MutexLock lock(env_.mu);
  std::vector<CommitItem> items(1);
  items[0].family = family;
  items[0].edit = std::move(edit);
  return env_.commits->Commit(&items, garbage.list());
}

bool MemTableFlush::CutShort(ColumnFamily* family, double done, uint64_t rest_bytes) {
  MutexLock lock(env_.mu);
  const auto buffer = static_cast<double>(family->settings.write_buffer_size.load());
  MemTables& memtables = family->memtables();
  const auto used = static_cast<double>(memtables.active()->ApproximateMemoryUsage());
  const double room = family->settings.max_write_buffer_number -
                      static_cast<int>(memtables.immutable_count()) - std::min(1.0, used / buffer);
  if (!memtables.pace().CutShort(env_.config.clock->NowNanos(), done, room, rest_bytes)) {
    return false;
  }
  LogInfo(env_.config.info_log.get(), "[" + family->name() + "] a merge is cut short: " + std::to_string(rest_bytes) +
                                          " bytes go to level 0");
  return true;
}

void MemTableFlush::PartCommitted(JobPart* part) {
  Memory& memory = MemoryOf(part);
  MemTables& memtables = part->family->memtables();
  memtables.pace().MergeEnded(env_.config.clock->NowNanos(), memory.request.memtables.size());
  memory.flushed_until = memtables.flushed_count();
  Count(part);
  const JobReport& report = part->report;
  Log(*part, "flushed " + std::to_string(memory.request.memtables.size()) + " memtables to level " +
                 std::to_string(report.output_level) + ", " + std::to_string(report.records_in) + " records, " +
                 std::to_string(report.bytes_written) + " bytes in " + std::to_string(report.micros) + " us");
}

// In a merge, the memtables' data counts as flushed, the rest as compacted.
void MemTableFlush::Count(JobPart* part) {
  const JobReport& report = part->report;
  uint64_t flushed = report.bytes_written;
  if (report.output_level > 0) {
    uint64_t brought = 0;
    for (const auto& m : MemoryOf(part).request.memtables) brought += m->data_size();
    flushed = std::min(flushed, brought);
  }
  const uint64_t compacted = report.bytes_written - flushed;
  Tick(statistics(), rocksdb::COMPACT_READ_BYTES, report.bytes_read);
  Tick(statistics(), rocksdb::COMPACT_WRITE_BYTES, compacted);
  Tick(statistics(), rocksdb::FLUSH_WRITE_BYTES, flushed);
  if (report.output_level > 0) CountMerged(statistics(), report);
  ColumnFamily::Counters& counters = part->family->counters;
  counters.flush_bytes += flushed;
  counters.compact_write_bytes += compacted;
  counters.compact_read_bytes += report.bytes_read;
  ++counters.flushes;
}

void MemTableFlush::PartFailed(JobPart* part) {
  if (Pages* const pages = part->family->store()->pages()) pages->ForgetFlush();
}

void MemTableFlush::Committed() {
  committed_ = true;
  env_.errors->ClearSoft();
  queue_.StartQueued();
}

// As in RocksDB: the reason of a flush that failed itself, not because of a log.
rocksdb::BackgroundErrorReason MemTableFlush::ReasonOf(bool commit_failed) const {
  if (commit_failed) return rocksdb::BackgroundErrorReason::kManifestWriteNoWAL;
  return log_failed_ ? rocksdb::BackgroundErrorReason::kFlush : rocksdb::BackgroundErrorReason::kFlushNoWAL;
}

bool MemTableFlush::IsBackgroundError(const Status& s) const {
  return !s.IsColumnFamilyDropped() && !s.IsShutdownInProgress();
}

void MemTableFlush::Report(const Status& s) {
  failed_ = !s.ok() && IsBackgroundError(s);
  if (!s.ok()) return;
  for (const JobPart& part : parts_) {
    env_.event_log.FilesCreated(part.context, part.report);
    env_.event_log.FlushFinished(part.context);
  }
  for (const JobPart& part : parts_) {
    env_.listeners.FlushCompleted(part.context, MemoryOf(&part).reason, part.report);
  }
}

void MemTableFlush::ReleasePins(JobPart* part) {
  MemoryOf(part).request = FlushRequest();
  part->report = JobReport();
}

void MemTableFlush::End() {
  for (const JobPart& part : parts_) {
    MemTables& memtables = part.family->memtables();
    if (committed_) {
      memtables.Announced(MemoryOf(&part).flushed_until);
    } else {
      memtables.FlushFailed();
    }
  }
  parts_.clear();
}

}  // namespace compassdb
