// SPDX-License-Identifier: Apache-2.0
// Flushes: sealed memtables go into the store, and the logs that held them go.
// One flush per family at a time, of all memtables that wait, so that they are
// committed in order; with atomic_flush, or after a log that failed, all families in one commit.
#include "db/db_impl.h"
#include "db/jobs/memtable_flush.h"

namespace compassdb {

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
    ExclusiveWrite front(&front_.queue);
    if (errors_.writes_refused()) return errors_.error();
    {
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      bool any = false;
      for (const auto& family : families) any = any || !family->mem->empty();
      if (any) s = memtables_.SwitchMemTables(families, reason, &garbage);
      for (const auto& family : families) {
        if (family->dropped || family->flushed_count >= family->sealed_count) continue;
        targets.emplace_back(family, family->sealed_count);
        if (!family->immutables.empty()) family->flush_requested = true;
      }
      MaybeSchedule();
    }
    stalls_.NotifyListeners();
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
  if (read_only_ || !front_.unlogged_data || errors_.writes_refused()) return;
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
  MemTableFlush flush(job_environment_, {families_, &front_.logs, &errors_, front_.unlogged_data});
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
    const uint32_t threads = background_.compactions_running == 0 ? 2 : 1;
    for (const auto& family : picked) flush.AddFamily(family, together, threads);
  }
  if (!flush.empty()) flush.Run().PermitUncheckedError();  // a background error, if it is one
  MutexLock lock(&mu_);
  if (flush.failed()) WaitAfterFailure();
  flush.Announce();
  --background_.flushes_running;
  BackgroundDone();
}

}  // namespace compassdb
