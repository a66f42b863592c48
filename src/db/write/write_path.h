// SPDX-License-Identifier: Apache-2.0
// Writes: a group's records go to the write-ahead log, then into memtables, then their sequence is published.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "db/write/log_lock.h"
#include "db/write/write_admission.h"
#include "rocksdb/db.h"
#include "trace/tracing.h"

namespace compassdb {

using rocksdb::ColumnFamilyHandle;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class WritePath final : public LogLock {
 public:
  // A write that waits at low priority ends early at `shutting_down`.
  WritePath(const DbConfig& config, WriteFront& front, Mutex* mu, ColumnFamilySet& families,
            MemTableSwitch& memtable_switch, WriteAdmission& admission, WriteStalls& stalls, ErrorHandler& errors,
            BackgroundErrors& background_errors, Tracing& tracing, const std::atomic<bool>& shutting_down)
      : config_(config),
        front_(front),
        mu_(mu),
        families_(families),
        memtable_switch_(memtable_switch),
        admission_(admission),
        stalls_(stalls),
        errors_(errors),
        background_errors_(background_errors),
        tracing_(tracing),
        shutting_down_(shutting_down) {}

  // single_writes.cc
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value);
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& ts,
             const Slice& value);
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key);
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& ts);
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key);
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& ts);
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin, const Slice& end);
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                     const Slice& ts);
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value);
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const rocksdb::WideColumns& columns);

  Status Write(const WriteOptions& options, WriteBatch* batch) {
    return Write(options, batch, TransactionWrite(), /*marks=*/false);
  }
  // `marks`: the batch may hold marks of two-phase commit.
  Status Write(const WriteOptions& options, WriteBatch* batch, const TransactionWrite& transaction, bool marks);
  // Logs a section, which is open afterwards.
  Status LogSection(const WriteOptions& options, const std::shared_ptr<PreparedSection>& section);

  Status FlushLog(bool sync);
  // The front of the queue stays taken until UnlockLog: no write, no switch.
  Status LockLog() override EXCLUDES(*mu_);
  Status UnlockLog() override EXCLUDES(*mu_);
  // The database is closed, perhaps without UnlockLog.
  void AbandonLogLock() EXCLUDES(*mu_);

 private:
  using Group = std::vector<WriteThread::Writer*>;
  Status CheckBatch(const WriteOptions& options, const WriteBatch* batch, bool marks);
  Status Join(const WriteOptions& options, WriteBatch* batch, const TransactionWrite& transaction);
  Status WriteAsLeader(WriteThread::Writer* leader);
  Status LogGroup(const Group& group, bool sync);
  void OpenLog();
  void KeepPreparedLogs(const Group& group) EXCLUDES(*mu_);
  void InsertGroup(const Group& group, std::atomic<int>* running);
  Status InsertBatch(const WriteThread::Writer& writer, bool concurrent);

  const DbConfig& config_;
  WriteFront& front_;
  Mutex* const mu_;
  ColumnFamilySet& families_;
  MemTableSwitch& memtable_switch_;
  WriteAdmission& admission_;
  WriteStalls& stalls_;
  ErrorHandler& errors_;
  BackgroundErrors& background_errors_;
  Tracing& tracing_;
  const std::atomic<bool>& shutting_down_;
  uint64_t log_number_ = 0;                  // [front]
  std::shared_ptr<LogFile> log_file_;  // [front] of that log; null: it cannot be read
  int log_locks_ GUARDED_BY(*mu_) = 0;
  std::unique_ptr<ExclusiveWrite> log_lock_ GUARDED_BY(*mu_);
};

}  // namespace compassdb
