// SPDX-License-Identifier: Apache-2.0
// Flushes: sealed memtables go into the store, and the logs that held them go.
// One flush per family at a time, of all memtables that wait, so that they are
// committed in order; with atomic_flush, or after a log that failed, all families in one commit.
#include <algorithm>

#include "api/thread_tracking.h"
#include "db/db_impl.h"
#include "db/jobs/run_task.h"
#include "db/report/job_listener.h"
#include "db/report/statistics_util.h"

namespace compassdb {

struct DBImpl::FlushUnit {
  std::shared_ptr<ColumnFamily> family;
  FlushRequest request;
  CommitItem item;
  JobReport report;
  std::unique_ptr<CompactionTask> merge;  // the store's own way, if it has one
  rocksdb::FlushReason reason = rocksdb::FlushReason::kOthers;
  JobContext job;
  std::unique_ptr<JobListener> listener;
  uint64_t flushed_until = 0;  // the family's flushed_count with this flush
};

Status DBImpl::Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) {
  return Flush(options, std::vector<ColumnFamilyHandle*>{family});
}

Status DBImpl::Flush(const rocksdb::FlushOptions& options,
                     const std::vector<ColumnFamilyHandle*>& handles) {
  if (Status s = CheckWritable("Flush"); !s.ok()) return s;
  Families families;
  for (ColumnFamilyHandle* handle : handles) {
    families.push_back(SharedFamilyOf(handle));
    if (families.back()->dropped && !config_.options.atomic_flush) {
      return Status::ColumnFamilyDropped(families.back()->name());
    }
  }
  if (config_.options.atomic_flush) families = families_.All();
  return FlushFamilies(families, options, rocksdb::FlushReason::kManualFlush);
}

Status DBImpl::FlushFamilies(const Families& families, const rocksdb::FlushOptions& options,
                             rocksdb::FlushReason reason) {
  if (!options.allow_write_stall) {
    // One more sealed memtable must not be what stops the writers.
    MutexLock lock(&mu_);
    for (const auto& family : families) {
      while (!shutting_down_ && !errors_.writes_refused() && !family->dropped &&
             !family->mem->empty() && !family->immutables.empty() &&
             static_cast<int>(family->immutables.size()) + 1 >=
                 family->settings.max_write_buffer_number) {
        family->flush_requested = true;
        MaybeSchedule();
        AwaitBackground();
      }
    }
  }
  std::vector<std::pair<std::shared_ptr<ColumnFamily>, uint64_t>> targets;
  Status s;
  {
    ExclusiveWrite front(&write_thread_);
    if (errors_.writes_refused()) return errors_.error();
    {
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      bool any = false;
      for (const auto& family : families) any = any || !family->mem->empty();
      if (any) s = SwitchMemTables(families, reason, &garbage);
      for (const auto& family : families) {
        if (family->dropped || family->flushed_count >= family->sealed_count) continue;
        targets.emplace_back(family, family->sealed_count);
        if (!family->immutables.empty()) family->flush_requested = true;
      }
      MaybeSchedule();
    }
    NotifyStalls();
  }
  if (!s.ok()) {
    SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
    return s;
  }
  if (!options.wait) return Status::OK();
  s = WaitForFlush(targets, /*for_listeners=*/true);
  // Of several (an atomic flush takes all) one that is dropped meanwhile is no failure of the others.
  if (s.ok() && families.size() == 1 && !targets.empty()) {
    MutexLock lock(&mu_);
    const auto& [family, sealed] = targets.front();
    if (family->dropped && family->flushed_count < sealed) s = Status::ColumnFamilyDropped(family->name());
  }
  // As in RocksDB, who flushes beyond the allowed space is told, although the data is in tables.
  if (s.ok() && errors_.writes_refused() && errors_.error().subcode() == Status::kSpaceLimit) {
    s = errors_.error();
  }
  return s;
}

// Data that no log holds would be lost, so it is flushed unless told otherwise.
void DBImpl::FlushUnloggedData() {
  if (read_only_ || !unlogged_data_ || errors_.writes_refused()) return;
  {
    MutexLock lock(&mu_);
    if (config_.options.avoid_flush_during_shutdown) return;
  }
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  FlushFamilies(families_.All(), flush, rocksdb::FlushReason::kShutDown).PermitUncheckedError();
}

// With `for_listeners` a flush counts as ended after OnFlushCompleted. (One that
// was committed before the call is no target: its listener may be the caller.)
Status DBImpl::WaitForFlush(const FlushTargets& targets, bool for_listeners, bool while_paused) {
  MutexLock lock(&mu_);
  for (const auto& [family, sealed] : targets) {
    while ((for_listeners ? family->announced_count : family->flushed_count) < sealed) {
      if (for_listeners && family->flushed_count >= sealed) {
        background_changed_.Wait();  // its job goes on to tell the listeners
        continue;
      }
      if (family->dropped) break;
      if (shutting_down_) return Status::ShutdownInProgress("Flush");
      if (errors_.writes_refused()) return errors_.error();
      if (!while_paused && background_.paused > 0) return Status::Busy("background work is paused");
      AwaitBackground();
    }
  }
  return Status::OK();
}

void DBImpl::BackgroundFlush() {
  std::vector<FlushUnit> units;
  bool failed_for_itself = false;
  {
    MutexLock lock(&mu_);
    --background_.flushes_scheduled;
    ++background_.flushes_running;
    Families picked;
    const bool together = FlushesTogether();
    // Where none may begin, those that wait stay in the queue for StartQueued.
    while (!background_.flush_queue.empty() && picked.empty() && !FlushesHeld()) {
      std::shared_ptr<ColumnFamily> family = std::move(background_.flush_queue.front());
      background_.flush_queue.pop_front();
      family->flush_queued = false;
      if (FlushReady(*family)) picked.push_back(family);
    }
    if (!picked.empty() && together) {
      picked.clear();
      for (const auto& family : families_.All()) {
        if (!family->immutables.empty()) picked.push_back(family);
      }
    }
    for (const auto& family : picked) {
      FlushUnit unit;
      unit.family = unit.item.family = family;
      unit.reason = family->flush_reason;
      unit.request.memtables = family->PickFlush(together);
      unit.request.log_number = family->LogBehind(unit.request.memtables.size());
      unit.request.view = family->store()->ViewForJob();
      unit.request.commit_ahead = [this, family](VersionEdit edit, bool* logged) {
        return CommitAhead(family, std::move(edit), logged);
      };
      unit.request.threads = background_.compactions_running == 0 ? 2 : 1;
      unit.request.hurry = [this, f = family.get()](double done, uint64_t rest_bytes) {
        return HurryMerge(f, done, rest_bytes);
      };
      if (!family->settings.disable_auto_compactions) {
        unit.merge = UnlessOutOfMemory(std::unique_ptr<CompactionTask>(),
                                       [&] { return family->store()->PickFlush(unit.request); });
      }
      family->pace.MergeBegun(config_.clock->NowNanos());
      units.push_back(std::move(unit));
    }
  }
  if (!units.empty()) {
    const int job_id = next_job_id_.fetch_add(1);
    for (FlushUnit& unit : units) {
      unit.request.snapshots = snapshots_.Sequences();
      unit.job = {this, config_.name, job_id, unit.family};
      unit.listener =
          std::make_unique<JobListener>(&listeners_, unit.job, JobListener::Kind::kFlush);
      event_log_.FlushStarted(unit.job, unit.reason, unit.request.memtables);
      listeners_.FlushBegin(unit.job, unit.reason);
    }
    Status s;
    auto failed = rocksdb::BackgroundErrorReason::kFlush;
    {
      const TrackedOperation tracked(config_.options.enable_thread_tracking,
                                     rocksdb::ThreadStatus::OP_FLUSH, config_.name,
                                     units.front().family->name(), job_id);
      s = RunFlush(&units, &failed);
    }
    failed_for_itself = !s.ok() && !s.IsColumnFamilyDropped() && !s.IsShutdownInProgress();
    if (failed_for_itself) SetBackgroundError(s, failed);
    for (const FlushUnit& unit : units) {
      if (!s.ok()) break;
      event_log_.FilesCreated(unit.job, unit.report);
      event_log_.FlushFinished(unit.job);
    }
    for (const FlushUnit& unit : units) {
      if (s.ok()) listeners_.FlushCompleted(unit.job, unit.reason, unit.report);
    }
    // What was replaced is still in use by these: its files would stay until the next job.
    for (FlushUnit& unit : units) {
      unit.request = FlushRequest();
      unit.report = JobReport();
      unit.merge.reset();
    }
    space_.Purge(job_id);
    NotifyStalls();
  }
  MutexLock lock(&mu_);
  if (failed_for_itself) WaitAfterFailure();
  for (const FlushUnit& unit : units) {
    uint64_t& announced = unit.family->announced_count;
    announced = std::max(announced, unit.flushed_until);
  }
  units.clear();  // who is told now may want to be a dropped family's last user
  --background_.flushes_running;
  BackgroundDone();
}

bool DBImpl::HurryMerge(ColumnFamily* family, double done, uint64_t rest_bytes) {
  MutexLock lock(&mu_);
  const auto buffer = static_cast<double>(family->settings.write_buffer_size.load());
  const double filled =
      std::min(1.0, static_cast<double>(family->mem->ApproximateMemoryUsage()) / buffer);
  const double room =
      family->settings.max_write_buffer_number - static_cast<int>(family->immutables.size()) - filled;
  if (!family->pace.CutShort(config_.clock->NowNanos(), done, room, rest_bytes)) return false;
  LogInfo(config_.info_log.get(), "[" + family->name() + "] a merge is cut short: " +
                                      std::to_string(rest_bytes) + " bytes go to level 0");
  return true;
}

// All that sealed memtables hold is in logs before the current one.
Status DBImpl::CommitAhead(const std::shared_ptr<ColumnFamily>& family, VersionEdit edit, bool* logged) {
  // A filter may leave out of the log, at the next opening, what pages have.
  *logged = !unlogged_data_ && config_.options.wal_filter == nullptr && wals_.EnsureClosedAreDurable();
  if (!*logged) return Status::OK();
  ReadStateGarbage garbage(&space_);
  MutexLock lock(&mu_);
  std::vector<CommitItem> items(1);
  items[0].family = family;
  items[0].edit = std::move(edit);
  return commits_.Commit(&items, garbage.list());
}

Status DBImpl::WriteFlush(FlushUnit* unit) {
  unit->report.observer = unit->listener->observer();
  unit->item.edit.log_number = unit->request.log_number;  // for the record in the file
  Store* const store = unit->family->store();
  if (unit->merge != nullptr) {
    Status s = RunTask(unit->merge.get(), unit->request.snapshots, &shutting_down_, &unit->item.edit, &unit->report);
    if (s.ok() || s.IsShutdownInProgress()) return s;
    // What is broken below must not keep new data from the disk.
    LogInfo(config_.info_log.get(), "[" + unit->family->name() + "] memtables are written to level 0: " +
                                        s.ToString());
    unit->listener->JobEnded(unit->report, s);
    unit->item.edit = VersionEdit();
    unit->report = JobReport();
    unit->report.observer = unit->listener->observer();
  }
  return CatchOutOfMemory("a flush", [&] { return store->Flush(unit->request, &unit->item.edit, &unit->report); });
}

Status DBImpl::RunFlush(std::vector<FlushUnit>* units, rocksdb::BackgroundErrorReason* reason) {
  Status s;
  // As RocksDB has it: of a flush that failed for itself, not because a log did.
  *reason = rocksdb::BackgroundErrorReason::kFlushNoWAL;
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  for (FlushUnit& unit : *units) {
    if (!s.ok()) break;
    StopWatch watch(config_.clock, statistics, rocksdb::FLUSH_TIME);
    s = WriteFlush(&unit);
    unit.report.checksums = unit.item.edit.file_checksums;
    unit.listener->JobEnded(unit.report, s);
    if (s.ok()) TrackFiles(unit.report);
    if (s.ok()) s = PrepareItem(&unit.item);
    unit.request.view.reset();  // it pins what the commit replaces, which the next purge is to free
  }
  // Another family's part of a batch must not be lost when this one's is durable.
  if (s.ok() && families_.size() > 1) {
    s = wals_.SyncClosed();
    if (!s.ok()) *reason = rocksdb::BackgroundErrorReason::kFlush;
  }

  // The tasks pin what they replaced, which is to be freed by the next purge.
  std::vector<std::unique_ptr<CompactionTask>> ended;
  ReadStateGarbage garbage(&space_);
  MutexLock lock(&mu_);
  std::vector<CommitItem> items;
  for (FlushUnit& unit : *units) {
    if (!s.ok()) break;
    CommitItem item = std::move(unit.item);
    item.edit.column_family = unit.family->id();
    const size_t n = unit.request.memtables.size();
    ColumnFamily* family = unit.family.get();
    item.finalize = [family, n](VersionEdit* edit) {
      edit->log_number = family->LogBehind(n);
    };
    item.installed = [family, n] { family->FlushCommitted(n); };
    items.push_back(std::move(item));
  }
  if (s.ok()) {
    s = commits_.Commit(&items, garbage.list());
    if (!s.ok()) *reason = rocksdb::BackgroundErrorReason::kManifestWriteNoWAL;
  }
  for (FlushUnit& unit : *units) {
    if (unit.merge != nullptr) {
      unit.family->store()->Release(unit.merge.get());
      ended.push_back(std::move(unit.merge));
    }
    if (!s.ok()) {
      unit.family->FlushFailed();
      unit.family->store()->ForgetFlush();
      unit.family->store()->Abandon(unit.item.edit);  // without what a commit has taken
      continue;
    }
    unit.family->pace.MergeEnded(config_.clock->NowNanos(), unit.request.memtables.size());
    unit.flushed_until = unit.family->flushed_count;
    // Of a merge, what the memtables brought counts as flushed, the rest as compacted.
    uint64_t flushed = unit.report.bytes_written;
    if (unit.report.output_level > 0) {
      uint64_t brought = 0;
      for (const auto& m : unit.request.memtables) brought += m->data_size();
      flushed = std::min(flushed, brought);
    }
    const uint64_t compacted = unit.report.bytes_written - flushed;
    Tick(statistics, rocksdb::COMPACT_READ_BYTES, unit.report.bytes_read);
    Tick(statistics, rocksdb::COMPACT_WRITE_BYTES, compacted);
    Tick(statistics, rocksdb::FLUSH_WRITE_BYTES, flushed);
    if (unit.report.output_level > 0) CountMerged(statistics, unit.report);
    unit.family->counters.flush_bytes += flushed;
    unit.family->counters.compact_write_bytes += compacted;
    unit.family->counters.compact_read_bytes += unit.report.bytes_read;
    unit.family->counters.flush_micros += unit.report.micros;
    ++unit.family->counters.flushes;
    LogInfo(config_.info_log.get(),
            "[" + unit.family->name() + "] flushed " +
                std::to_string(unit.request.memtables.size()) + " memtables to level " +
                std::to_string(unit.report.output_level) + ", " +
                std::to_string(unit.report.records_in) + " records, " +
                std::to_string(unit.report.bytes_written) + " bytes in " +
                std::to_string(unit.report.micros) + " us");
  }
  if (s.ok()) errors_.ClearSoft();
  UpdateStall(&stall_changes_);
  if (s.ok()) StartQueued();  // listeners of this flush may wait for the one that comes after it
  background_changed_.SignalAll();
  return s;
}

}  // namespace compassdb
