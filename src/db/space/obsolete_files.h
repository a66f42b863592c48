// SPDX-License-Identifier: Apache-2.0
// Deletes the files of an open database that are no longer used: compaction files, logs, manifests, files of pages.
// Logs may be moved to the archive instead. Deleted compaction files are reported to LOG and the listeners.
//
// Thread safety: all methods. mu_ is taken with no other lock held.
// Invariant: deletes no file while deletions are disabled, the manifest is in doubt, or after Close.
#pragma once

#include <atomic>
#include <string>
#include <unordered_set>
#include <vector>

#include "db/jobs/scheduler.h"
#include "db/open/db_config.h"
#include "db/report/event_log.h"
#include "db/report/listeners.h"
#include "db/space/database_files.h"
#include "db/space/tracked_files.h"
#include "db/space/wal_archive.h"
#include "util/mutex.h"

namespace compassdb {

// The observers of a file's deletion.
struct DeletionObservers {
  const EventLog& event_log;
  const Listeners& listeners;
};

class ObsoleteFiles {
 public:
  ObsoleteFiles(const DbConfig& config, const DatabaseFiles& files, Mutex* db_mu, TrackedFiles& tracked,
                Scheduler& scheduler, const DeletionObservers& observers);

  // Deletes what is obsolete. For listeners: after that job.
  void Purge(int job_id = 0) EXCLUDES(mu_, *db_mu_);
  // By a job of its own, if there is any.
  void SchedulePurge();
  // There is some that may be deleted.
  bool Any() const EXCLUDES(dead_pages_mu_);
  // Waits for a running purge.
  void Wait() EXCLUDES(mu_) { MutexLock lock(&mu_); }
  // From now on nothing is deleted: another process may own the files.
  void Close() EXCLUDES(mu_);

  // A file of pages that no reader uses.
  void AddPages(const std::string& path) EXCLUDES(dead_pages_mu_);
  // Compaction files with separated values: listeners are notified of them by another method.
  void AddValueFile(uint64_t number) EXCLUDES(mu_);
  // Makes the archive's directory, where logs are archived.
  Status OpenArchive() EXCLUDES(mu_);
  Status RetireLog(uint64_t number) EXCLUDES(mu_);

 private:
  struct Deleted {
    std::vector<ExtentLedger::Unlinked> tables, values;
  };
  void Purge(Deleted* deleted) EXCLUDES(mu_, *db_mu_);

  const DbConfig& config_;
  const DatabaseFiles files_;
  Mutex* const db_mu_;
  TrackedFiles& tracked_;
  Scheduler& scheduler_;
  const DeletionObservers observers_;
  std::atomic<bool> scheduled_{false};
  Mutex mu_;  // held while files are deleted
  WalArchive archive_ GUARDED_BY(mu_);
  std::unordered_set<uint64_t> value_files_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  mutable Mutex dead_pages_mu_;  // a leaf
  std::vector<std::string> dead_pages_ GUARDED_BY(dead_pages_mu_);
};

}  // namespace compassdb
