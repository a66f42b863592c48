// SPDX-License-Identifier: Apache-2.0
// Background work: what is queued and started when, what a failure does, and
// what is deleted afterwards.
#include <algorithm>
#include <chrono>

#include "db/db_impl.h"
#include "db/report/statistics_util.h"
#include "services/periodic_tasks.h"
#include "store/pages.h"
#include "store/value_space.h"
#include "util/no_memory.h"

namespace compassdb {

// Separated values keep their bound: a flush that would break it comes after the collections that make
// room, and writers are slowed down by their full memtables meanwhile. It is not held up where no
// collection is sure to follow.
bool DBImpl::FlushReady(const ColumnFamily& family) const {
  if (!family.FlushPending()) return false;
  if (family.settings.disable_auto_compactions || errors_.compactions_stopped() || closed_) {
    return true;
  }
  ValueSpace* const values = family.store()->values();
  if (values == nullptr) return true;
  return !UnlessOutOfMemory(false, [&] {
    uint64_t load = 0;
    family.FitForFlush(&load);
    return values->AwaitsCollection(load);
  });
}

bool DBImpl::FlushesTogether() const { return config_.options.atomic_flush || background_.flush_together; }

bool DBImpl::FlushesHeld() const {
  if (background_.paused > 0 || errors_.background_stopped()) return true;
  if (!FlushesTogether()) return false;
  // One that takes all families comes after what is under way.
  const Families all = families_.All();
  return std::any_of(all.begin(), all.end(), [](const auto& family) { return family->flush_running; });
}

void DBImpl::MaybeSchedule() {
  if (read_only_ || shutting_down_ || background_.paused > 0 || !opened_) return;
  space_.JobsLook();
  PeriodicTasks::Shared()->StartIfMissing();
  AwaitSnapshots();  // before it is asked for work: what is released meanwhile is told after that
  const bool compacts = background_.exclusive_manual == 0;
  if (!errors_.background_stopped()) {
    bool long_work = false, collect = false;
    for (const auto& family : families_.All()) {
      const Store* const store = family->store();
      ValueSpace* const values = family->store()->values();
      Pages* const pages = family->store()->pages();
      if (!family->flush_queued && FlushReady(*family)) {
        family->flush_queued = true;
        background_.flush_queue.push_back(family);
      } else if (!family->flush_queued && family->FlushPending()) {
        space_.Press();  // writers wait for room
        if (!collect && values != nullptr && !background_.collections.under_way() && MayCompact(*family)) {
          collect = UnlessOutOfMemory(false, [&] { return values->NeedsCollection(/*for_room=*/true); });
        }
      }
      if (!family->compaction_queued && !family->dropped &&
          !errors_.compactions_stopped() &&
          !family->settings.disable_auto_compactions &&
          UnlessOutOfMemory(true, [&] {  // the job looks again
            if (compacts) return store->NeedsCompaction();
            return values != nullptr && values->NeedsCollection(/*for_room=*/false);
          })) {
        family->compaction_queued = true;
        background_.compaction_queue.push_back(family);
      }
      if (!long_work && pages != nullptr && compacts && !background_.long_work.under_way() && MayCompact(*family)) {
        long_work = UnlessOutOfMemory(true, [&] { return pages->NeedsLongWork(); });
      }
    }
    if (long_work && !errors_.compactions_stopped()) {
      ScheduleJob(&DBImpl::BackgroundLongWork, JobPriority::kLong, &background_.long_work.scheduled);
    }
    // Not on a thread for flushes: listeners of a collection may flush.
    if (collect && !errors_.compactions_stopped()) {
      ScheduleJob(&DBImpl::BackgroundCollection, JobPriority::kSpace, &background_.collections.scheduled);
    }
  }
  StartQueued();
}

void DBImpl::AwaitBackground(std::chrono::milliseconds most) {
  if (scheduler_->Starved()) {
    mu_.Unlock();
    const bool ran = scheduler_->RunStarved();
    mu_.Lock();
    if (ran) return;
  }
  background_changed_.WaitFor(most);
}

bool DBImpl::ScheduleJob(void (DBImpl::*job)(), JobPriority priority, int* scheduled) {
  ++*scheduled;
  if (scheduler_->Schedule([this, job] { (this->*job)(); }, priority,
                           [this, scheduled] { JobUnscheduled(scheduled); })) {
    if (scheduler_->Starved()) background_changed_.SignalAll();  // a caller that waits does it
    return true;
  }
  --*scheduled;
  return false;
}

// Looks for work again when the oldest snapshot is gone that keeps tables from being rewritten.
void DBImpl::AwaitSnapshots() {
  SequenceNumber until;
  do {
    const SequenceNumber oldest = snapshots_.Oldest();
    until = kMaxSequenceNumber;
    for (const auto& family : families_.All()) {
      if (family->dropped || family->settings.disable_auto_compactions) continue;
      until = std::min(until, family->store()->KeptUntil(oldest));
    }
  } while (!snapshots_.AwaitOldest(until));
}

// Every queued family gets a job; a job that finds the queue empty just ends.
void DBImpl::StartQueued() {
  if (background_.paused > 0) return;
  const auto queued = [](const auto& queue) { return static_cast<int>(queue.size()); };
  while (!FlushesHeld() && background_.flushes_scheduled < queued(background_.flush_queue) &&
         background_.flushes_under_way() < config_.max_flushes()) {
    if (!ScheduleJob(&DBImpl::BackgroundFlush, JobPriority::kHigh, &background_.flushes_scheduled)) break;
  }
  while (background_.compactions_scheduled < queued(background_.compaction_queue) &&
         background_.compactions_under_way() < config_.max_compactions()) {
    if (!ScheduleJob(&DBImpl::BackgroundCompaction, JobPriority::kLow, &background_.compactions_scheduled)) break;
  }
}

void DBImpl::JobUnscheduled(int* scheduled) {
  MutexLock lock(&mu_);
  --*scheduled;
  background_changed_.SignalAll();
}

void DBImpl::BackgroundDone() {
  MaybeSchedule();
  background_changed_.SignalAll();
}

void DBImpl::SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) {
  Status told(error, ErrorHandler::SeverityOf(error, reason));
  listeners_.BackgroundError(reason, &told);
  if (told.ok()) {
    // A listener took it upon itself; but not that of a log, which takes no more writes.
    if (!front_.logs.failed()) return;
    told = Status(error, ErrorHandler::SeverityOf(error, reason));
  }
  errors_.Set(told, reason).PermitUncheckedError();
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  Tick(statistics, rocksdb::ERROR_HANDLER_BG_ERROR_COUNT);
  if (error.IsIOError()) Tick(statistics, rocksdb::ERROR_HANDLER_BG_IO_ERROR_COUNT);
  LogInfo(config_.info_log.get(), "background error: " + error.ToString());
  {
    MutexLock lock(&mu_);
    background_changed_.SignalAll();
  }
  auto_resume_.Begin(told, reason);
}

void DBImpl::WaitAfterFailure() {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::microseconds(config_.options.bgerror_resume_retry_interval);
  while (!shutting_down_ && !errors_.background_stopped()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return;
    background_changed_.WaitFor(std::chrono::ceil<std::chrono::microseconds>(left));
  }
}

void DBImpl::TrackFiles(const JobReport& report) {
  if (Status s = space_.Track(report); !s.ok()) SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
}

Status DBImpl::FlushAll() {
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  return FlushFamilies(families_.All(), flush, rocksdb::FlushReason::kGetLiveFiles);
}

void DBImpl::AwaitDeletions() {
  {
    MutexLock lock(&mu_);
    for (const auto& family : families_.All()) {
      const Pages* const pages = family->store()->pages();
      while (pages != nullptr && pages->WritesInPlace() && !shutting_down_) background_changed_.Wait();
    }
    stalls_.Update();  // nor do writers wait for that
    background_changed_.SignalAll();
  }
  stalls_.NotifyListeners();
  space_.Wait();
}

void DBImpl::ResumeDeletions() {
  space_.Purge();
  MutexLock lock(&mu_);
  MaybeSchedule();
}

Status DBImpl::PauseBackgroundWork() {
  MutexLock lock(&mu_);
  ++background_.paused;
  background_changed_.SignalAll();
  while (background_.flushes_running > 0 || background_.compactions_running > 0 || background_.manual_jobs > 0) {
    background_changed_.Wait();
  }
  return Status::OK();
}

void DBImpl::CancelBackgroundWork(bool wait) {
  if (process_.Inherited()) return;
  if (!shutting_down_) FlushUnloggedData();
  MutexLock lock(&mu_);
  shutting_down_ = true;
  manual_cancelled_ = true;
  background_changed_.SignalAll();
  while (wait && (background_.flushes_running > 0 || background_.compactions_running > 0 ||
                  background_.manual_running > 0)) {
    background_changed_.Wait();
  }
}

Status DBImpl::ContinueBackgroundWork() {
  MutexLock lock(&mu_);
  if (background_.paused == 0) {
    return Status::InvalidArgument("ContinueBackgroundWork without PauseBackgroundWork");
  }
  --background_.paused;
  MaybeSchedule();
  return Status::OK();
}

Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* handle : families) {
    if (Status s = SetOptions(handle, {{"disable_auto_compactions", "false"}}); !s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace compassdb
