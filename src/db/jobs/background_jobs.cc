// SPDX-License-Identifier: Apache-2.0
// When background jobs are queued, scheduled, delayed and awaited.
#include "db/jobs/background_jobs.h"

#include <algorithm>
#include <utility>

#include "services/periodic_tasks.h"
#include "store/pages.h"
#include "store/value_space.h"
#include "util/no_memory.h"

namespace compassdb {

BackgroundJobs::BackgroundJobs(const JobEnvironment& env, const MemTableFlush::Deps& deps, Scheduler& scheduler)
    : env_(env),
      deps_(deps),
      config_(env.config),
      scheduler_(scheduler),
      mu_(env.mu),
      changed_(env.changed),
      idle_looks_(env.families, env.mu, *this) {
  scheduler_.EnsureThreads(JobPriority::kHigh, config_.max_flushes());
  scheduler_.EnsureThreads(JobPriority::kLow, config_.max_compactions());
}

void BackgroundJobs::Open() {
  mu_->AssertHeld();
  state_.opened = true;
  MaybeSchedule();
}

bool BackgroundJobs::opened() const {
  mu_->AssertHeld();
  return state_.opened;
}

void BackgroundJobs::BeginClose() {
  idle_looks_.Stop();
  MutexLock lock(mu_);
  state_.closing = true;
  EndWaits();
  if (std::exchange(state_.paused, 0) > 0) MaybeSchedule();  // no caller is left to continue it
}

void BackgroundJobs::Close() {
  AwaitManual();
  scheduler_.Shutdown();
}

// Separated values keep their bound: a flush that would exceed it waits for the collections that free
// space, and full memtables slow writers down until then. It does not wait if no collection is sure to
// follow.
bool BackgroundJobs::FlushReady(const ColumnFamily& family) const {
  if (!family.FlushPending()) return false;
  if (family.settings.disable_auto_compactions || env_.errors->compactions_stopped() || state_.closing) {
    return true;
  }
  ValueSpace* const values = family.store()->values();
  if (values == nullptr) return true;
  return !UnlessOutOfMemory(false, [&] {
    uint64_t load = 0;
    family.memtables().FitForFlush(&load);
    return values->AwaitsCollection(load);
  });
}

bool BackgroundJobs::FlushesTogether() const { return config_.options.atomic_flush || state_.flush_together; }

bool BackgroundJobs::FlushesHeld() const {
  if (state_.paused > 0 || env_.errors->background_stopped()) return true;
  if (!FlushesTogether()) return false;
  // A flush of all families waits for running ones.
  const Families all = env_.families.All();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& family) { return family->memtables().flush_running(); });
}

void BackgroundJobs::MaybeSchedule() {
  mu_->AssertHeld();
  if (*env_.shutting_down || state_.paused > 0 || !state_.opened) return;
  env_.space->JobsLook();
  PeriodicTasks::Shared()->StartIfMissing();
  AwaitSnapshots();  // before the search for work: so a release during the search is noticed
  const bool compacts = state_.exclusive_manual == 0;
  if (!env_.errors->background_stopped()) {
    bool long_work = false, collect = false;
    for (const auto& family : env_.families.All()) {
      const Store* const store = family->store();
      ValueSpace* const values = family->store()->values();
      Pages* const pages = family->store()->pages();
      const bool flush_queued = state_.flush_queue.Has(*family);
      if (!flush_queued && FlushReady(*family)) {
        state_.flush_queue.Push(family);
      } else if (!flush_queued && family->FlushPending()) {
        env_.space->Press();  // writers wait for room
        if (!collect && values != nullptr && !state_.collections.under_way() && MayCompact(*family)) {
          collect = UnlessOutOfMemory(false, [&] { return values->NeedsCollection(/*for_room=*/true); });
        }
      }
      if (!state_.compaction_queue.Has(*family) && MayCompact(*family) && !env_.errors->compactions_stopped() &&
          UnlessOutOfMemory(true, [&] {  // the job searches again
            if (compacts) return store->NeedsCompaction();
            return values != nullptr && values->NeedsCollection(/*for_room=*/false);
          })) {
        state_.compaction_queue.Push(family);
      }
      if (!long_work && pages != nullptr && compacts && !state_.long_work.under_way() && MayCompact(*family)) {
        long_work = UnlessOutOfMemory(true, [&] { return pages->NeedsLongWork(); });
      }
    }
    if (long_work && !env_.errors->compactions_stopped()) {
      Schedule(&BackgroundJobs::WorkLong, JobPriority::kLong, &state_.long_work.scheduled);
    }
    // Not on a thread for flushes: listeners of a collection may flush.
    if (collect && !env_.errors->compactions_stopped()) {
      Schedule(&BackgroundJobs::Collect, JobPriority::kSpace, &state_.collections.scheduled);
    }
  }
  StartQueued();
}

void BackgroundJobs::AwaitBackground(std::chrono::milliseconds most) {
  mu_->AssertHeld();
  if (scheduler_.Starved()) {
    mu_->Unlock();
    const bool ran = scheduler_.RunStarved();
    mu_->Lock();
    if (ran) return;
  }
  changed_->WaitFor(most);
}

bool BackgroundJobs::Schedule(void (BackgroundJobs::*job)(), JobPriority priority, int* scheduled) {
  ++*scheduled;
  if (scheduler_.Schedule([this, job] { (this->*job)(); }, priority, [this, scheduled] { Unscheduled(scheduled); })) {
    if (scheduler_.Starved()) changed_->SignalAll();  // a caller that waits does it
    return true;
  }
  --*scheduled;
  return false;
}

// Searches for work again when the oldest snapshot that prevents rewrites is released.
void BackgroundJobs::AwaitSnapshots() {
  SequenceNumber until;
  do {
    const SequenceNumber oldest = env_.snapshots->Oldest();
    until = kMaxSequenceNumber;
    for (const auto& family : env_.families.All()) {
      if (family->dropped() || family->settings.disable_auto_compactions) continue;
      until = std::min(until, family->store()->KeptUntil(oldest));
    }
  } while (!env_.snapshots->AwaitOldest(until));
}

// Every queued family gets a job; a job that finds the queue empty just ends.
void BackgroundJobs::StartQueued() {
  mu_->AssertHeld();
  if (state_.paused > 0) return;
  while (!FlushesHeld() && state_.flushes_scheduled < state_.flush_queue.size() &&
         state_.flushes_under_way() < config_.max_flushes()) {
    if (!Schedule(&BackgroundJobs::Flush, JobPriority::kHigh, &state_.flushes_scheduled)) break;
  }
  while (state_.compactions_scheduled < state_.compaction_queue.size() &&
         state_.compactions_under_way() < config_.max_compactions()) {
    if (!Schedule(&BackgroundJobs::Compact, JobPriority::kLow, &state_.compactions_scheduled)) break;
  }
}

void BackgroundJobs::Unscheduled(int* scheduled) {
  MutexLock lock(mu_);
  --*scheduled;
  changed_->SignalAll();
}

void BackgroundJobs::Changed() {
  mu_->AssertHeld();
  MaybeSchedule();
  changed_->SignalAll();
}

void BackgroundJobs::WaitAfterFailure(int waits_ended) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::microseconds(config_.options.bgerror_resume_retry_interval);
  while (!*env_.shutting_down && !env_.errors->background_stopped() && state_.waits_ended == waits_ended) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return;
    changed_->WaitFor(std::chrono::ceil<std::chrono::microseconds>(left));
  }
}

void BackgroundJobs::EndWaits() {
  mu_->AssertHeld();
  ++state_.waits_ended;
  changed_->SignalAll();
}

void BackgroundJobs::Pause() {
  MutexLock lock(mu_);
  ++state_.paused;
  changed_->SignalAll();
  while (state_.any_job_runs() || state_.manual_jobs > 0) changed_->Wait();
}

Status BackgroundJobs::Continue() {
  MutexLock lock(mu_);
  if (state_.paused == 0) {
    return Status::InvalidArgument("ContinueBackgroundWork without PauseBackgroundWork");
  }
  --state_.paused;
  MaybeSchedule();
  return Status::OK();
}

bool BackgroundJobs::paused() const {
  mu_->AssertHeld();
  return state_.paused > 0;
}

void BackgroundJobs::Cancel(bool wait) {
  MutexLock lock(mu_);
  changed_->SignalAll();
  while (wait && (state_.any_job_runs() || state_.manual_running > 0)) changed_->Wait();
}

int BackgroundJobs::FlushesRunning() const {
  mu_->AssertHeld();
  return state_.flushes_running;
}

int BackgroundJobs::CompactionsRunning() const {
  mu_->AssertHeld();
  return state_.compactions_running + state_.manual_running;
}

void BackgroundJobs::FlushTogether(bool together) {
  mu_->AssertHeld();
  state_.flush_together = together;
}

void BackgroundJobs::Remove(const std::shared_ptr<ColumnFamily>& family) {
  mu_->AssertHeld();
  state_.flush_queue.Remove(family);
  state_.compaction_queue.Remove(family);
  EndWaits();  // perhaps of a job that keeps it
}

void BackgroundJobs::BeginManual(bool exclusive) {
  MutexLock lock(mu_);
  if (exclusive) ++state_.exclusive_manual;
  ++state_.manual_running;
  while (exclusive && state_.compactions_running > state_.collections_running) changed_->Wait();
}

void BackgroundJobs::EndManual(bool exclusive) {
  MutexLock lock(mu_);
  if (exclusive) --state_.exclusive_manual;
  --state_.manual_running;
  Changed();
}

void BackgroundJobs::AwaitManual() {
  MutexLock lock(mu_);
  changed_->SignalAll();
  while (state_.manual_running > 0) changed_->Wait();
}

void BackgroundJobs::ManualJobBegins() {
  mu_->AssertHeld();
  ++state_.manual_jobs;
}

void BackgroundJobs::ManualJobEnds() {
  mu_->AssertHeld();
  --state_.manual_jobs;
  Changed();
}

bool BackgroundJobs::Idle() const {
  const State& s = state_;
  if (s.flushes_under_way() > 0 || s.compactions_running > 0 || s.compactions_scheduled > 0 ||
      s.collections.under_way() || s.long_work.under_way() || s.manual_running > 0 || !s.flush_queue.empty() ||
      !s.compaction_queue.empty()) {
    return false;
  }
  const Families families = env_.families.All();
  return std::none_of(families.begin(), families.end(), [](const auto& family) {
    const Pages* const pages = family->store()->pages();
    return !family->dropped() &&
           (family->FlushPending() ||
            (!family->settings.disable_auto_compactions &&
             (family->store()->NeedsCompaction() || (pages != nullptr && pages->NeedsLongWork()))));
  });
}

Status BackgroundJobs::WaitUntilIdle(const rocksdb::WaitForCompactOptions& options) {
  const uint64_t begun = config_.clock->NowMicros();
  const auto limit = static_cast<uint64_t>(std::max<int64_t>(0, options.timeout.count()));
  MutexLock lock(mu_);
  while (true) {
    if (*env_.shutting_down) return Status::ShutdownInProgress("WaitForCompact");
    if (state_.paused > 0 && options.abort_on_pause) {
      return Status::Aborted("WaitForCompact: background work is paused");
    }
    if (Status s = env_.errors->error(); !s.ok()) return s;
    if (state_.paused == 0 && Idle()) return Status::OK();
    if (state_.paused == 0) MaybeSchedule();
    const uint64_t waited = config_.clock->NowMicros() - begun;
    if (limit > 0 && waited >= limit) return Status::TimedOut("WaitForCompact");
    AwaitBackground(
        std::chrono::milliseconds(limit == 0 ? 100 : std::min<uint64_t>(100, (limit - waited) / 1000 + 1)));
  }
}

}  // namespace compassdb
