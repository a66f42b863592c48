// SPDX-License-Identifier: Apache-2.0
// After a full disk, or memory: tries DB::Resume by itself until there is space again
// (max_bgerror_resume_count times, every bgerror_resume_retry_interval), by a thread that lives as
// long as it tries.
//
// Thread safety: all methods. Lock order: mu_ is a leaf; no attempt runs under it.
#pragma once

#include <atomic>
#include <thread>

#include "db/jobs/error_handler.h"
#include "db/open/db_config.h"
#include "db/report/listeners.h"
#include "db/space/space_reclaimer.h"
#include "util/mutex.h"

namespace compassdb {

class Resumer;

class AutoResume {
 public:
  // All of it outlives this. `dirs` has tables.
  AutoResume(const DbConfig& config, const Listeners& listeners, const ErrorHandler& errors, const TableDirs& dirs,
             SpaceReclaimer& space, Resumer& resumer)
      : config_(config), listeners_(listeners), errors_(errors), dirs_(dirs), space_(space), resumer_(resumer) {}
  // The error is set now. Does nothing if the error is not of a kind that may end by itself.
  void Begin(const rocksdb::Status& error, rocksdb::BackgroundErrorReason reason) EXCLUDES(mu_);
  // Tries again if the system had no thread for Begin. Costs nothing otherwise.
  void StartIfMissing() EXCLUDES(mu_);
  // Permanently; waits for a running attempt.
  void Stop() EXCLUDES(mu_);

 private:
  // `old_error`: the error at the beginning.
  void Loop(rocksdb::Status old_error) EXCLUDES(mu_);
  // Until the error is resolved, or cannot be; returns that error.
  rocksdb::Status Try() EXCLUDES(mu_);
  // Starts the thread; false if the system has none.
  bool Start() REQUIRES(mu_);

  const DbConfig& config_;
  const Listeners& listeners_;
  const ErrorHandler& errors_;
  const TableDirs& dirs_;
  SpaceReclaimer& space_;
  Resumer& resumer_;
  Mutex mu_;
  CondVar changed_{&mu_};
  std::thread thread_ GUARDED_BY(mu_);
  bool running_ GUARDED_BY(mu_) = false;  // thread_ will check the error again
  bool reporting_ GUARDED_BY(mu_) = false;  // thread_ calls listeners at the end; if running_ again, it continues then
  rocksdb::Status next_ GUARDED_BY(mu_);  // with this error
  std::atomic<bool> missing_{false};  // the system had no thread
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
