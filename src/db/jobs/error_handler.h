// SPDX-License-Identifier: Apache-2.0
// Errors of background work, and whether writes may continue.
//
// Severity follows RocksDB's: a soft error stops background work that would
// repeat it, but writes continue. A hard error refuses writes until
// DB::Resume. A fatal one lasts until the database is reopened.
//
// Thread safety: all methods; holds a leaf lock of its own. The caller notifies
// listeners, outside the database mutex.
#pragma once

#include <atomic>
#include <cstdint>

#include "rocksdb/listener.h"
#include "rocksdb/status.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::Status;

class ErrorHandler {
 public:
  // Severity that an error of this origin has.
  static Status::Severity SeverityOf(const Status& error, rocksdb::BackgroundErrorReason reason);

  // Records the error unless the current one is worse. Returns the current one, with severity.
  Status Set(const Status& error, rocksdb::BackgroundErrorReason reason);
  Status error() const;
  // Clears anything but a fatal error.
  bool Clear();

  bool writes_refused() const { return writes_refused_.load(std::memory_order_acquire); }
  // No flush is started while true; nor a compaction, which soft errors stop, too.
  bool background_stopped() const { return background_stopped_.load(std::memory_order_acquire); }
  bool compactions_stopped() const { return compactions_stopped_.load(std::memory_order_acquire); }
  // A flush succeeded: a soft error that stopped compactions may be over.
  void ClearSoft();
  // True if writes failed to reach the write-ahead log: it takes no more of them.
  bool wal_failed() const { return wal_failed_.load(std::memory_order_acquire); }
  void SetWalFailed() { wal_failed_.store(true, std::memory_order_release); }
  // Errors since open or ResetCount.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  void ResetCount() { count_ = 0; }

 private:
  mutable Mutex mu_;
  Status error_ GUARDED_BY(mu_);
  std::atomic<bool> writes_refused_{false};
  std::atomic<bool> background_stopped_{false};
  std::atomic<bool> compactions_stopped_{false};
  std::atomic<bool> wal_failed_{false};
  std::atomic<uint64_t> count_{0};
};

}  // namespace compassdb
