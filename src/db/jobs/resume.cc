// SPDX-License-Identifier: Apache-2.0
// DB::Resume: after a failure whose cause is gone; asked for by the user, or by AutoResume.
//
// A write-ahead log that failed ends at an unknown place, so the memtables are
// flushed and a new log is begun before the first write is let in: recovery
// never needs to read across the gap. All families are flushed in one commit: of a
// batch that only the failed log held, not synced, a power cut leaves all or
// nothing. What is prepared is in logs alone: it is
// written into the new one, behind the flushes, as it must not outlive what was
// written before it. Whose commit or rollback was what failed may be open or
// ended in the old log, and only recovery can tell: such an error is fatal
// (WritePath::LogGroup).
#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::Resume() {
  if (Status s = CheckWritable("Resume"); !s.ok()) return s;
  if (ResumeFromSoft()) return Status::OK();
  Status old;
  Status s = TryResume(/*asked=*/true, &old);
  if (!s.ok() && s.severity() < Status::kFatalError) {
    SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
  }
  return s;
}

Status DBImpl::ResumeUnasked() {
  {
    MutexLock lock(&mu_);
    if (background_.paused > 0) return Status::Busy("background work is paused");
  }
  if (ResumeFromSoft()) return Status::OK();
  Status old;
  Status s = TryResume(/*asked=*/false, &old);
  old.PermitUncheckedError();
  return s;
}

// Not at the front, where a writer may wait for the compactions that such an error stopped.
bool DBImpl::ResumeFromSoft() {
  const Status old = errors_.error();
  if (old.ok() || old.severity() > Status::kSoftError) return false;
  errors_.ClearSoft();
  LogInfo(config_.info_log.get(), "resumed after: " + old.ToString());
  listeners_.ErrorRecoveryEnds(old, Status::OK());
  MutexLock lock(&mu_);
  BackgroundDone();
  return true;
}

// A flush that still runs would take one family's part of such a batch. None begins: the error stops them, and is cleared
// at the front alone. They are not waited for there, where their listeners may want to be, too.
std::unique_ptr<ExclusiveWrite> DBImpl::FrontWithoutFlushes() {
  while (true) {
    {
      MutexLock lock(&mu_);
      while (errors_.background_stopped() && !shutting_down_ && background_.flushes_running > 0) background_changed_.Wait();
    }
    auto front = std::make_unique<ExclusiveWrite>(&front_.queue);
    MutexLock lock(&mu_);
    if (!errors_.background_stopped() || shutting_down_ || background_.flushes_running == 0) return front;
  }
}

// *old: the error that was in force.
Status DBImpl::TryResume(bool asked, Status* old) {
  Status s;
  {
    const std::unique_ptr<ExclusiveWrite> front = FrontWithoutFlushes();
    *old = errors_.error();
    if (old->ok() || old->severity() >= Status::kFatalError) return *old;
    std::vector<std::pair<std::shared_ptr<ColumnFamily>, uint64_t>> targets;
    {
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      if (commits_.in_doubt()) s = commits_.Rotate();
      const Families all = families_.All();
      if (s.ok()) s = memtables_.SwitchMemTables(all, rocksdb::FlushReason::kErrorRecovery, &garbage);
      if (s.ok()) {
        for (const auto& family : all) {
          targets.emplace_back(family, family->sealed_count);
          family->flush_requested = !family->immutables.empty();
        }
        background_.flush_together = true;
        errors_.Clear();
        MaybeSchedule();
      }
    }
    stalls_.NotifyListeners();
    if (s.ok()) s = WaitForFlush(targets, /*for_listeners=*/false, /*while_paused=*/asked);
    if (s.ok()) s = memtables_.SaveOpenSections();
    if (s.ok()) {
      // Also families without data say that they need nothing of the old log.
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      std::vector<CommitItem> items;
      for (const auto& family : families_.All()) {
        CommitItem item;
        item.family = family;
        item.edit.column_family = family->id();
        item.edit.log_number = family->OldestRecordLog();
        items.push_back(std::move(item));
      }
      s = commits_.Commit(&items, garbage.list());
      if (s.ok()) background_.flush_together = false;
    }
    if (!s.ok()) {
      // Before the front is anybody else's: no write may be durable in a log behind a gap.
      if (!errors_.writes_refused()) {
        errors_.Set(s.IsBusy() ? *old : s, rocksdb::BackgroundErrorReason::kFlush).PermitUncheckedError();
      }
      return s;
    }
    front_.logs.NoneGivenUpIsNeeded();
  }
  LogInfo(config_.info_log.get(), "resumed after: " + old->ToString());
  listeners_.ErrorRecoveryEnds(*old, Status::OK());
  space_.Purge();
  MutexLock lock(&mu_);
  BackgroundDone();
  return Status::OK();
}

}  // namespace compassdb
