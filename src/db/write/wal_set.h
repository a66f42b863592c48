// SPDX-License-Identifier: Apache-2.0
// The write-ahead logs of an open database: the current one, older ones that
// may hold bytes not yet synced, and obsolete ones. Those wait to be deleted, or
// to be recycled (DBOptions::recycle_log_file_num).
//
// The directory entry of a log is durable before anything is appended to it. Several empty logs are
// created in advance with one sync of the directory (SpareFiles), or each has one when it is begun.
// A synced write is durable together with all writes before it: Sync first
// syncs older logs, then the current one.
//
// Thread safety: all methods; holds a lock of its own over its I/O, taken
// after the front of the write queue and never with the database mutex held.
// Invariants: after a failed append or sync nothing is appended to that log
// again; a log is deleted or recycled only when the manifest says that it is not
// needed. Only logs of this session without a failed call are recycled.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "format/file_names.h"
#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
#include "table/file/spare_files.h"
#include "util/mutex.h"
#include "wal/log_values.h"
#include "wal/synced_mark.h"
#include "wal/wal_writer.h"

namespace compassdb {

class WalSet {
 public:
  struct Options {
    FileOptions file;
    bool manual_flush = false;  // DBOptions::manual_wal_flush
    size_t recycle = 0;         // DBOptions::recycle_log_file_num
    rocksdb::Logger* info_log = nullptr;
    LogValues* values = nullptr;  // has what is not synced
  };
  // `new_number` gives file numbers; thread safe.
  WalSet(FileSystem* fs, std::string dir, const Options& options,
         const std::function<uint64_t()>& new_number, rocksdb::Statistics* statistics)
      : fs_(fs),
        dir_(std::move(dir)),
        options_(options),
        statistics_(statistics),
        new_number_(new_number),
        ahead_(fs, WalFileName, new_number),
        mark_(fs, dir_) {}

  // The first log of this session; `header` names the last log of recovery, and has no number yet. `db_id` is for the
  // synced mark.
  Status StartFirst(WalHeader header, const std::string& db_id);
  // Starts the next log; the current one gets no more records, unless this
  // fails: then it stays current. After a failed append, flush or sync
  // `give_up_failed` is needed: none of the logs so far is synced from now on.
  // The caller makes their data durable in another way, before the next write.
  Status Start(bool give_up_failed);
  // No record since it was started.
  bool CurrentIsEmpty() const { return current_empty_.load(std::memory_order_acquire); }
  // A log found at recovery that is still needed, until it is deleted.
  void AddRecovered(uint64_t number, uint64_t bytes);
  // Where their last record ends. They are durable up to there, and no unsynced bytes of a killed
  // process count. The padding of their last block may be behind it: no reader reads that.
  void SetRecoveredEnd(const SyncedLog& end) { SetSynced(end); }

  // One record; handed to the kernel unless manual_flush. Then synced if asked for.
  Status Append(const Slice& record, bool sync, BatchPlace* place = nullptr);
  Status Flush();
  Status Sync();
  // The same while abandoned logs before it may still be needed. No synced mark is written, because that would
  // mean that the logs before it are whole.
  Status SyncUnrecorded();
  bool failed() const {
    MutexLock lock(&mu_);
    return !Failure().ok();
  }
  // The data of abandoned logs is durable in another way. Until then no Flush or Sync succeeds.
  void NoneGivenUpIsNeeded() {
    MutexLock lock(&mu_);
    gap_ = Status::OK();
  }
  // No log up to this one is needed, as it was abandoned (Start); 0: none.
  uint64_t given_up() const {
    MutexLock lock(&mu_);
    return given_up_;
  }
  // Syncs the logs before the current one: the data that a flush commits must not
  // become durable before other families' parts of the same batches. Meanwhile the current log takes records.
  Status SyncClosed();
  // The same; true if the logs before the current one are durable, with all that was appended to them.
  bool EnsureClosedAreDurable();
  Status Close();
  // For logs that are begun from now on.
  void SetBytesPerSync(uint64_t bytes) {
    MutexLock lock(&mu_);
    options_.file.bytes_per_sync = bytes;
  }

  // How far the logs are durable, as far as that is known: for the manifest. May be called with
  // the database mutex held.
  SyncedLog synced() const;
  uint64_t current_number() const { return current_number_.load(std::memory_order_acquire); }
  uint64_t TotalBytes() const { return total_bytes_.load(std::memory_order_relaxed); }
  // Since open or ResetCounts: what was appended, and how often a log was synced.
  uint64_t BytesAppended() const { return bytes_appended_.load(std::memory_order_relaxed); }
  uint64_t Syncs() const { return syncs_.load(std::memory_order_relaxed); }
  void ResetCounts() { bytes_appended_ = syncs_ = 0; }
  struct LogInfo {
    uint64_t number;
    uint64_t bytes;
  };
  std::vector<LogInfo> Logs() const;
  // The same, after all of their bytes were passed to the kernel.
  Status FlushedLogs(std::vector<LogInfo>* logs);
  // Removes the logs below `number`, keeps the files of some for future logs, and returns the others
  // for deletion.
  std::vector<uint64_t> TakeBelow(uint64_t number);
  // The obsolete logs whose files are kept, the oldest first. They are not among Logs().
  std::vector<uint64_t> Spares() const;
  // The same, after Close: for deletion, too.
  std::vector<uint64_t> TakeSpares();
  // The offset of the batch whose append to that log failed since open; UINT64_MAX if none did.
  uint64_t AcknowledgedEnd(uint64_t number) const;

 private:
  struct Log {
    uint64_t number = 0;
    uint64_t bytes = 0;
    std::unique_ptr<WalWriter> writer;  // null: synced and closed
    bool unsynced = false;
    bool reusable = false;  // begun by this object, and nothing has failed since
  };
  Status FlushLocked() REQUIRES(mu_);
  // The error if some appended data is not in logs that can be flushed.
  Status Failure() const REQUIRES(mu_) { return error_.ok() ? gap_ : error_; }
  Status SyncLogs(bool with_current) REQUIRES(mu_);
  // The first log before the current one that is not synced; null: there is none.
  Log* FirstUnsyncedClosed() REQUIRES(mu_);
  // Releases mu_ while it syncs.
  Status SyncClosedLogs() REQUIRES(mu_);
  void NoteSynced(Log* log) REQUIRES(mu_);
  // SyncClosed uses a writer without mu_ until then: no writer before the current one may be used or freed.
  void AwaitClosedSync() REQUIRES(mu_) {
    while (syncing_closed_) closed_synced_.Wait();
  }
  // A synced mark means that all logs before it are whole. A log without a batch needs none.
  bool NeedsMark(const Log& log) const REQUIRES(mu_) {
    return gap_.ok() && log.writer->last_sequence() != 0;
  }
  void Fail(const Status& error) REQUIRES(mu_);
  Status StartLocked(const WalHeader& header) REQUIRES(mu_);
  Status NextNumber(uint64_t* number) REQUIRES(mu_);
  Status CreateLog(const WalHeader& header, std::unique_ptr<WalWriter>* writer) REQUIRES(mu_);
  void SetSynced(const SyncedLog& synced);

  FileSystem* const fs_;
  const std::string dir_;
  Options options_;
  rocksdb::Statistics* const statistics_;
  const std::function<uint64_t()> new_number_;
  SpareFiles ahead_;  // none if logs are recycled: each new name is a sync then, anyway
  std::atomic<uint64_t> current_number_{0};
  std::atomic<uint64_t> total_bytes_{0};
  std::atomic<uint64_t> bytes_appended_{0}, syncs_{0};
  std::atomic<bool> current_empty_{false};  // false after a failure, too
  mutable Mutex mu_;
  CondVar closed_synced_{&mu_};
  bool syncing_closed_ GUARDED_BY(mu_) = false;
  std::deque<Log> logs_ GUARDED_BY(mu_);  // oldest first, the last is the current one
  SyncedMarkWriter mark_ GUARDED_BY(mu_);
  std::deque<uint64_t> spares_ GUARDED_BY(mu_);     // to be recycled, the oldest first
  std::vector<uint64_t> rejected_ GUARDED_BY(mu_);  // were spares; to be deleted
  bool leftover_ GUARDED_BY(mu_) = false;  // a log that was not begun was deleted, not yet durably
  Status error_ GUARDED_BY(mu_);  // of the current log
  uint64_t given_up_ GUARDED_BY(mu_) = 0;  // the last log that failed, or that followed a failed one
  Status gap_ GUARDED_BY(mu_);  // why logs up to given_up_ were abandoned, while they may be needed
  mutable Mutex synced_mu_;       // a leaf; no waits with it held
  SyncedLog synced_ GUARDED_BY(synced_mu_);
  std::map<uint64_t, uint64_t> acknowledged_ends_ GUARDED_BY(synced_mu_);  // of logs with a failed append
};

}  // namespace compassdb
