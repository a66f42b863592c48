// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/job.h"

#include "db/jobs/run_task.h"
#include "db/report/info_log.h"

namespace compassdb {

JobPart* Job::AddPart(std::shared_ptr<ColumnFamily> family, std::unique_ptr<CompactionTask> task) {
  JobPart& part = parts_.emplace_back();
  part.item.family = family;
  part.family = std::move(family);
  part.task = std::move(task);
  return &part;
}

Status Job::Execute() {
  const int id = env_.next_job_id->fetch_add(1);
  for (JobPart& part : parts_) {
    part.context = {&env_.config, env_.db_id, id, part.family};
    part.listener = std::make_unique<JobListener>(&env_.listeners, part.context, kind_);
    part.report.observer = part.listener->observer();
  }
  Start();
  Status s;
  for (JobPart& part : parts_) {
    s = WritePart(&part);
    if (!s.ok()) break;
  }
  if (s.ok()) s = BeforeCommit();
  s = Commit(s);
  if (!s.ok() && IsBackgroundError(s)) env_.background_errors->SetBackgroundError(s, ReasonOf(commit_failed_));
  return s;
}

Status Job::WritePart(JobPart* part) {
  Status s = Work(part);
  part->report.checksums = part->item.edit.file_checksums;
  part->listener->JobEnded(part->report, s);
  // Before the commit: after it another job may delete the files.
  if (s.ok()) Track(part->report);
  if (s.ok()) s = PrepareItem(&part->item);
  return s;
}

// Where the files take more than the allowed space, writes are refused from now on.
void Job::Track(const JobReport& report) {
  const Status s = env_.space->Track(report);
  if (!s.ok()) env_.background_errors->SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
}

Status Job::Commit(Status s) {
  // The tasks pin replaced files, which the next purge should free.
  std::vector<std::unique_ptr<CompactionTask>> ended;
  ReadStateGarbage garbage(env_.space);
  MutexLock lock(env_.mu);
  const bool commits = s.ok() && WantsCommit();
  if (commits) {
    std::vector<CommitItem> items;
    for (JobPart& part : parts_) {
      part.item.edit.column_family = part.family->id();
      items.push_back(std::move(part.item));
    }
    AddItems(&items);
    s = env_.commits->Commit(&items, garbage.list());
    commit_failed_ = !s.ok();
    if (commit_failed_) CommitFailed();
  }
  for (JobPart& part : parts_) {
    if (part.task != nullptr) {
      part.family->store()->Release(part.task.get());
      ended.push_back(std::move(part.task));
    }
    if (commits && s.ok()) {
      PartCommitted(&part);
      continue;
    }
    PartFailed(&part);
    if (commits) continue;  // CommitQueue has the edits
    part.item.prepared.reset();
    part.family->store()->Abandon(part.item.edit);
  }
  if (commits && s.ok()) Committed();
  env_.stalls->Update();  // also wakes waits for background work
  return s;
}

void Job::Finish(const Status& s) {
  Report(s);
  const int id = parts_.empty() ? 0 : parts_.front().context.job_id;
  // These use the replaced files, which would stay until the next job.
  for (JobPart& part : parts_) {
    part.report.inputs.clear();
    ReleasePins(&part);
  }
  env_.space->Purge(id);
  env_.stalls->NotifyListeners();
}

Status Job::RunTask(JobPart* part, const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel) {
  return compassdb::RunTask(part->task.get(), snapshots, cancel, &part->item.edit, &part->report);
}

void Job::Log(const JobPart& part, const std::string& line) const {
  LogInfo(env_.config.info_log.get(), "[" + part.family->name() + "] " + line);
}

}  // namespace compassdb
