// SPDX-License-Identifier: Apache-2.0
// Background jobs pick memtables or a task of some store, and run it as a Job.
#include <algorithm>
#include <utility>

#include "db/jobs/background_jobs.h"
#include "db/jobs/run_task.h"
#include "db/jobs/table_compaction.h"
#include "store/pages.h"
#include "store/value_space.h"

namespace compassdb {
namespace {

std::unique_ptr<CompactionTask> PickCollectionOf(Store* store, bool for_room) {
  ValueSpace* const values = store->values();
  return values == nullptr ? nullptr : values->PickCollection(for_room);
}

}  // namespace

void BackgroundJobs::Flush() {
  MemTableFlush flush(env_, deps_, *this);
  int waits_ended = 0;
  {
    MutexLock lock(mu_);
    waits_ended = state_.waits_ended;
    --state_.flushes_scheduled;
    ++state_.flushes_running;
    AddFamilies(&flush);
  }
  if (!flush.empty()) flush.Run().PermitUncheckedError();  // Run sets the background error
  MutexLock lock(mu_);
  if (flush.failed()) WaitAfterFailure(waits_ended);
  flush.End();
  --state_.flushes_running;
  Changed();
}

void BackgroundJobs::AddFamilies(MemTableFlush* flush) {
  Families picked;
  const bool together = FlushesTogether();
  // If none may begin, families stay in the queue for StartQueued.
  while (!state_.flush_queue.empty() && picked.empty() && !FlushesHeld()) {
    const std::shared_ptr<ColumnFamily> family = state_.flush_queue.Pop();
    if (FlushReady(*family)) picked.push_back(family);
  }
  if (!picked.empty() && together) {
    picked.clear();
    for (const auto& family : env_.families.All()) {
      if (family->memtables().immutable_count() > 0) picked.push_back(family);
    }
  }
  const uint32_t threads = state_.compactions_running == 0 ? 2 : 1;
  for (const auto& family : picked) flush->AddFamily(family, together, threads);
}

void BackgroundJobs::Compact() { RunPicked(&BackgroundJobs::PickCompaction, &state_.compactions_scheduled, nullptr); }

void BackgroundJobs::Collect() {
  RunPicked(&BackgroundJobs::PickCollection, &state_.collections.scheduled, &state_.collections.running);
}

void BackgroundJobs::WorkLong() {
  RunPicked(&BackgroundJobs::PickLongWork, &state_.long_work.scheduled, &state_.long_work.running);
}

void BackgroundJobs::RunPicked(Picked (BackgroundJobs::*pick)(), int* scheduled, int* extra) {
  Picked picked;
  bool collects = false;
  int waits_ended = 0;
  {
    MutexLock lock(mu_);
    waits_ended = state_.waits_ended;
    --*scheduled;
    if (extra != nullptr) ++*extra;
    ++state_.compactions_running;
    picked = (this->*pick)();
    collects = picked.task != nullptr && picked.task->collects();
    if (collects) ++state_.collections_running;
    if (picked.family != nullptr) MaybeSchedule();  // perhaps there is work for another thread, too
  }
  const Status s = Run(&picked);
  MutexLock lock(mu_);
  if (TableCompaction::Failed(s)) WaitAfterFailure(waits_ended);
  if (picked.family != nullptr && !s.ok()) --picked.family->failed_compactions;
  --state_.compactions_running;
  if (extra != nullptr) --*extra;
  if (collects) --state_.collections_running;
  if (picked.family != nullptr || !s.ok()) {
    picked.family.reset();
    Changed();  // also without memory for the search: a flush may wait for its result
  } else {
    // Not MaybeSchedule: it might find the same task again, which cannot run now.
    StartQueued();
    changed_->SignalAll();
  }
}

bool BackgroundJobs::PickOf(const std::shared_ptr<ColumnFamily>& family, const char* what,
                    const Look& look, Picked* picked) {
  if (!MayCompact(*family)) return false;
  picked->status = CatchOutOfMemory(what, [&] {
    picked->task = look(family->store());
    return Status::OK();
  });
  if (picked->task == nullptr) return false;
  picked->family = family;
  return true;
}

BackgroundJobs::Picked BackgroundJobs::PickCompaction() {
  Picked picked;
  const bool all = state_.exclusive_manual == 0;
  const auto look = [all](Store* store) {
    return all ? store->PickCompaction() : PickCollectionOf(store, /*for_room=*/false);
  };
  while (!state_.compaction_queue.empty()) {
    const std::shared_ptr<ColumnFamily> family = state_.compaction_queue.Pop();
    if (PickOf(family, "a compaction", look, &picked)) break;
  }
  return picked;
}

// For a flush that still waits.
BackgroundJobs::Picked BackgroundJobs::PickCollection() {
  Picked picked;
  const auto look = [](Store* store) { return PickCollectionOf(store, /*for_room=*/true); };
  for (const auto& family : env_.families.All()) {
    const bool waits = family->FlushPending() && !state_.flush_queue.Has(*family);
    if (waits && PickOf(family, "a collection", look, &picked)) break;
  }
  return picked;
}

BackgroundJobs::Picked BackgroundJobs::PickLongWork() {
  Picked picked;
  if (state_.exclusive_manual > 0) return picked;
  const auto look = [](Store* store) {
    Pages* const pages = store->pages();
    return pages == nullptr ? nullptr : pages->PickLongWork();
  };
  Families families = env_.families.All();
  const uint32_t last = state_.last_long_work;
  std::stable_partition(families.begin(), families.end(), [last](const auto& f) { return f->id() > last; });
  for (const auto& family : families) {
    if (!PickOf(family, "long work", look, &picked)) continue;
    state_.last_long_work = family->id();
    break;
  }
  return picked;
}

bool BackgroundJobs::MayCompact(const ColumnFamily& family) const {
  return !family.dropped() && !*env_.shutting_down && state_.paused == 0 && !env_.errors->background_stopped() &&
         !family.settings.disable_auto_compactions && family.failed_compactions == 0;
}

Status BackgroundJobs::Run(Picked* picked) {
  if (picked->task == nullptr) return picked->status;
  if (picked->task->silent()) return RunSilently(picked);
  return TableCompaction(env_, picked->family, std::move(picked->task), /*manual=*/false, env_.shutting_down).Run();
}

Status BackgroundJobs::RunSilently(Picked* picked) {
  const std::unique_ptr<CompactionTask> task = std::move(picked->task);
  VersionEdit none;
  JobReport report;
  const Status s = RunTask(task.get(), env_.snapshots->Sequences(), env_.shutting_down, &none, &report);
  {
    MutexLock lock(mu_);
    picked->family->store()->Release(task.get());
    if (!s.ok()) ++picked->family->failed_compactions;
    changed_->SignalAll();
  }
  if (!s.ok() && !s.IsShutdownInProgress()) {
    env_.background_errors->SetBackgroundError(s, rocksdb::BackgroundErrorReason::kCompaction);
  }
  return s;
}

}  // namespace compassdb
