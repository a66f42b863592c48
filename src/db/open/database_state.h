// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "db/jobs/commit.h"
#include "db/jobs/error_handler.h"
#include "db/jobs/manifest_state.h"
#include "db/open/db_config.h"
#include "db/report/event_log.h"
#include "db/report/listeners.h"
#include "db/space/database_files.h"
#include "db/write/write_front.h"
#include "family/column_family.h"
#include "manifest/extent_ledger.h"
#include "manifest/ownership.h"
#include "store/store.h"
#include "table/file/spare_files.h"
#include "util/mutex.h"

namespace compassdb {

// What a database is, without what works on it: recovery fills it, when nothing else uses it. The
// parts of the Engine share it, and each gets only what its constructor names.
//
// Lock order (outermost first):
//   front of the write queue (WriteThread)
//   > database mutex `mu` > { ColumnFamilySet, ReadStateHolder, SnapshotList,
//     ErrorHandler, ExtentLedger, scheduler: leaf locks }
//   WalSet's lock is taken at the front or without any lock, never under `mu`.
//   The locks of SpaceReclaimer's passes are taken without any other lock held.
// No I/O with `mu` held; a manifest commit has a turn (CommitQueue) instead.
// Listeners are called without any of these locks, with two exceptions. Those of sealed memtables,
// stalls and errors (OnBackgroundError, OnErrorRecoveryBegin) may run at the front of the write
// queue. Those of file I/O run inside the call, with the caller's locks.
struct DatabaseState {
  DatabaseState(DbConfig database_config, std::unique_ptr<Ownership> database_ownership,
                std::unique_ptr<FileLock> database_lock);
  DatabaseFiles files() { return {*tables, *ledger, commits, front.logs}; }

  DbConfig config;
  StoreContext stores;
  std::unique_ptr<FileLock> lock;              // null: it is only read
  const std::unique_ptr<Ownership> ownership;  // null: of a database that is repaired
  const std::unique_ptr<FileCache> tables;
  const std::unique_ptr<ExtentLedger> ledger;
  Listeners listeners;
  const EventLog event_log;

  Mutex mu;
  CondVar changed{&mu};  // jobs ended, states installed, errors
  ColumnFamilySet families;
  ManifestState manifest_state{&mu, families, *ledger, front};
  CommitQueue commits;
  SpareFiles spare_files;
  WriteFront front;
  ErrorHandler errors;
  std::atomic<bool> shutting_down{false};
  std::atomic<int> next_job_id{1};
};

}  // namespace compassdb
