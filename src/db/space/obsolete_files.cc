// SPDX-License-Identifier: Apache-2.0
#include "db/space/obsolete_files.h"

#include <algorithm>

#include "db/report/info_log.h"
#include "db/space/schedule_once.h"

namespace compassdb {

ObsoleteFiles::ObsoleteFiles(const DbConfig& config, const DatabaseFiles& files, Mutex* db_mu, TrackedFiles& tracked,
                             Scheduler& scheduler, const DeletionObservers& observers)
    : config_(config),
      files_(files),
      db_mu_(db_mu),
      tracked_(tracked),
      scheduler_(scheduler),
      observers_(observers),
      archive_(config.fs, config.clock, config.wal_dir, config.options.WAL_ttl_seconds,
               std::min(config.options.WAL_size_limit_MB, UINT64_MAX >> 20) << 20) {
  files_.ledger.DeleteBy([this](const std::string& path) { return tracked_.Delete(path); });
}

void ObsoleteFiles::Purge(int job_id) {
  Deleted deleted;
  Purge(&deleted);
  for (const ExtentLedger::Unlinked& file : deleted.tables) {
    observers_.event_log.FileDeleted(job_id, file.number, /*values=*/false);
    observers_.listeners.FileDeleted(config_.name, file.path, job_id, Status::OK());
  }
  for (const ExtentLedger::Unlinked& file : deleted.values) {
    observers_.event_log.FileDeleted(job_id, file.number, /*values=*/true);
    observers_.listeners.ValueFileDeleted(config_.name, file.path, job_id, Status::OK());
  }
}

void ObsoleteFiles::Purge(Deleted* deleted) {
  CommitQueue& commits = files_.commits;
  // A manifest in doubt may name files that the state in memory does not.
  if (commits.in_doubt()) return;
  MutexLock lock(&mu_);
  if (closed_ || !files_.ledger.deletions_enabled()) return;
  rocksdb::Logger* const log = config_.info_log.get();
  for (uint64_t number : files_.logs.TakeBelow(commits.min_log_number())) {
    if (Status s = archive_.Retire(number); !s.ok()) LogInfo(log, "cannot put a log away: " + s.ToString());
  }
  if (Status s = archive_.Purge(); !s.ok()) LogInfo(log, "cannot purge the archive of logs: " + s.ToString());
  std::vector<uint64_t> manifests;
  {
    MutexLock guard(db_mu_);
    manifests = commits.TakeObsoleteManifests();
  }
  for (uint64_t number : manifests) commits.DeleteManifest(number);
  std::vector<std::string> dead_pages;
  {
    MutexLock guard(&dead_pages_mu_);
    dead_pages.swap(dead_pages_);
  }
  for (const std::string& path : dead_pages) {
    // If this fails, the next open deletes it.
    tracked_.Delete(path).PermitUncheckedError();
  }
  std::vector<ExtentLedger::Unlinked> unlinked;
  Status s = files_.ledger.Purge(&unlinked);
  if (!s.ok()) LogInfo(log, "cannot free space: " + s.ToString());
  for (const ExtentLedger::Unlinked& file : unlinked) {
    tracked_.Untrack(file.path);
    (value_files_.erase(file.number) != 0 ? deleted->values : deleted->tables).push_back(file);
  }
  SchedulePurge();
}

void ObsoleteFiles::SchedulePurge() {
  if (!Any()) return;
  ScheduleOnce(scheduler_, &scheduled_, [this] {
    scheduled_ = false;
    Purge();
  });
}

bool ObsoleteFiles::Any() const {
  if (files_.ledger.HasDeadFiles()) return true;
  MutexLock lock(&dead_pages_mu_);
  return !dead_pages_.empty();
}

void ObsoleteFiles::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
}

void ObsoleteFiles::AddPages(const std::string& path) {
  MutexLock lock(&dead_pages_mu_);
  dead_pages_.push_back(path);
}

void ObsoleteFiles::AddValueFile(uint64_t number) {
  MutexLock lock(&mu_);
  value_files_.insert(number);
}

Status ObsoleteFiles::OpenArchive() {
  MutexLock lock(&mu_);
  return archive_.Open();
}

Status ObsoleteFiles::RetireLog(uint64_t number) {
  MutexLock lock(&mu_);
  return archive_.Retire(number);
}

}  // namespace compassdb
