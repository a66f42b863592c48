// SPDX-License-Identifier: Apache-2.0
// After a full disk, or memory: tries DB::Resume by itself until there is space again
// (max_bgerror_resume_count times, every bgerror_resume_retry_interval), by a thread that lives as
// long as it tries.
//
// Thread safety: all methods. Lock order: mu_ is a leaf; no attempt runs under it.
#pragma once

#include <atomic>
#include <thread>

#include "rocksdb/listener.h"
#include "rocksdb/status.h"
#include "util/mutex.h"

namespace compassdb {

class DBImpl;

class AutoResume {
 public:
  explicit AutoResume(DBImpl* db) : db_(db) {}
  // The error is in force now. Does nothing if it is not of the kind that goes away.
  void Begin(const rocksdb::Status& error, rocksdb::BackgroundErrorReason reason) EXCLUDES(mu_);
  // Tries again where the system had no thread for Begin. Costs nothing otherwise.
  void StartIfMissing() EXCLUDES(mu_);
  // For good; waits for an attempt under way.
  void Stop() EXCLUDES(mu_);

 private:
  // `old_error`: that it began with.
  void Loop(rocksdb::Status old_error) EXCLUDES(mu_);
  // Until the error is gone, or will not go; that error is returned.
  rocksdb::Status Try() EXCLUDES(mu_);
  // Of the thread; false if the system has none.
  bool Start() REQUIRES(mu_);

  DBImpl* const db_;
  Mutex mu_;
  CondVar changed_{&mu_};
  std::thread thread_ GUARDED_BY(mu_);
  bool running_ GUARDED_BY(mu_) = false;  // thread_ will look at the error once more
  bool telling_ GUARDED_BY(mu_) = false;  // thread_ tells of attempts that are over; if running_ again, it goes on after that
  rocksdb::Status next_ GUARDED_BY(mu_);  // with this error
  std::atomic<bool> missing_{false};  // the system had no thread
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
