// SPDX-License-Identifier: Apache-2.0
// A write-ahead log that failed ends at an unknown place. So before the first
// write is let in, the memtables are flushed and a new log is begun: recovery
// never needs to read across the gap. All families are flushed in one commit. So
// a power cut leaves all or nothing of a batch that only the failed log held,
// without a sync. Prepared sections exist in logs alone. They are written into
// the new log after the flushes, because they must not survive without earlier
// writes. If a commit or a rollback failed, its section may be open or ended in
// the old log, and only recovery can find out: such an error is fatal.
#include "db/jobs/resumer.h"

#include "db/report/info_log.h"

namespace compassdb {

Status Resumer::Resume() {
  if (ResumeFromSoft()) return Status::OK();
  Status old;
  Status s = TryResume(/*asked=*/true, &old);
  if (!s.ok() && s.severity() < Status::kFatalError) {
    env_.background_errors->SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
  }
  return s;
}

Status Resumer::ResumeUnasked() {
  {
    MutexLock lock(mu_);
    if (jobs_.paused()) return Status::Busy("background work is paused");
  }
  if (ResumeFromSoft()) return Status::OK();
  Status old;
  Status s = TryResume(/*asked=*/false, &old);
  old.PermitUncheckedError();
  return s;
}

// Not at the front, where a writer may wait for the compactions that such an error stopped.
bool Resumer::ResumeFromSoft() {
  const Status old = env_.errors->error();
  if (old.ok() || old.severity() > Status::kSoftError) return false;
  env_.errors->ClearSoft();
  Resumed(old);
  return true;
}

void Resumer::Resumed(const Status& old) {
  LogInfo(env_.config.info_log.get(), "resumed after: " + old.ToString());
  env_.listeners.ErrorRecoveryEnds(old, Status::OK());
  if (old.severity() > Status::kSoftError) env_.space->Purge();
  MutexLock lock(mu_);
  jobs_.Changed();
}

// A running flush would take one family's part of such a batch. None begins: the error stops them, and is cleared
// at the front alone. The front does not wait for them, because their listeners may need the front, too.
std::unique_ptr<ExclusiveWrite> Resumer::FrontWithoutFlushes() {
  while (true) {
    {
      MutexLock lock(mu_);
      while (env_.errors->background_stopped() && !*env_.shutting_down && jobs_.FlushesRunning() > 0) {
        env_.changed->Wait();
      }
    }
    auto front = std::make_unique<ExclusiveWrite>(&front_.queue);
    MutexLock lock(mu_);
    if (!env_.errors->background_stopped() || *env_.shutting_down || jobs_.FlushesRunning() == 0) return front;
  }
}

Status Resumer::Switch(Flusher::Targets* targets) {
  front_.queue.AssertAtFront();
  Status s;
  {
    MutexLock lock(mu_);
    if (env_.commits->in_doubt()) s = env_.commits->Rotate();
  }
  if (s.ok()) s = flusher_.SealAndRequest(env_.families.All(), rocksdb::FlushReason::kErrorRecovery, targets);
  if (!s.ok()) return s;
  MutexLock lock(mu_);
  jobs_.FlushTogether(true);  // before the error, which stops flushes, is cleared
  env_.errors->Clear();
  jobs_.MaybeSchedule();
  return s;
}

// Families without data record, too, that they need nothing of the old log.
Status Resumer::CommitLogNumbers() {
  front_.queue.AssertAtFront();
  ReadStateGarbage garbage(env_.space);
  MutexLock lock(mu_);
  std::vector<CommitItem> items;
  for (const auto& family : env_.families.All()) {
    CommitItem& item = items.emplace_back();
    item.family = family;
    item.edit.column_family = family->id();
    item.edit.log_number = family->memtables().OldestRecordLog();
  }
  Status s = env_.commits->Commit(&items, garbage.list());
  if (s.ok()) jobs_.FlushTogether(false);
  return s;
}

Status Resumer::TryResume(bool asked, Status* old) {
  {
    const std::unique_ptr<ExclusiveWrite> front = FrontWithoutFlushes();
    *old = env_.errors->error();
    if (old->ok() || old->severity() >= Status::kFatalError) return *old;
    Flusher::Targets targets;
    Status s = Switch(&targets);
    if (s.ok()) s = flusher_.Wait(targets, /*for_listeners=*/false, /*while_paused=*/asked);
    if (s.ok()) {
      s = front_.SaveOpenSections(env_.config.info_log.get());
      if (!s.ok()) env_.errors->SetWalFailed();
    }
    if (s.ok()) s = CommitLogNumbers();
    if (!s.ok()) {
      // Before another thread gets the front: no write may be durable in a log behind a gap.
      if (!env_.errors->writes_refused()) {
        env_.errors->Set(s.IsBusy() ? *old : s, rocksdb::BackgroundErrorReason::kFlush).PermitUncheckedError();
      }
      return s;
    }
    front_.logs.NoneGivenUpIsNeeded();
  }
  Resumed(*old);
  return Status::OK();
}

}  // namespace compassdb
