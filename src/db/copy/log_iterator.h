// SPDX-License-Identifier: Apache-2.0
// rocksdb::TransactionLogIterator: the batches of the logs, one per record, in
// the order of their sequences.
//
// A log is read only as far as its batches are published, so a batch is never
// seen before readers of the database see it. The last log may still be
// written: each Next() reads its end again. Bytes that do not verify end an
// older log (recovery continued elsewhere, which the sequences show) and are
// Corruption in the last one. A batch whose write failed is skipped, as readers
// never see it. A log whose file was recycled is PathNotFound. If the last log
// is deleted after it was read to its end, TryAgain asks for a new
// iterator.
//
// Thread safety: one thread at a time, concurrently with the database.
// The database outlives the iterator.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "db/space/wal_archive.h"
#include "db/write/wal_set.h"
#include "rocksdb/transaction_log.h"
#include "util/process.h"

namespace compassdb {

class LogIterator final : public rocksdb::TransactionLogIterator {
 public:
  struct Source {
    FileSystem* fs;
    const std::string& wal_dir;
    const std::atomic<rocksdb::SequenceNumber>& latest;  // published
    const WalSet& wals;
  };
  // Begins at the batch with `since`, or at the next one. `logs` begin with the log that
  // has it, if any.
  LogIterator(const Source& source, std::vector<WalFileInfo> logs, rocksdb::SequenceNumber since);

  COMPASSDB_DELETED_BY_ITS_PROCESS(LogIterator, process_)

  bool Valid() override { return valid_ && !process_.Inherited(); }
  void Next() override;
  Status status() override { return process_.Inherited() ? InheritedStatus() : status_; }
  rocksdb::BatchResult GetBatch() override;

 private:
  void SeekToStart();
  // Reads the next record into batch_. False at the end of what is published, or on an error.
  bool Read();
  // The same within the current log; kEnd at its end, even if it is damaged.
  LogRead ReadFromLog();
  bool OpenLog(size_t index, uint64_t offset);
  Status FindAcknowledgedEnd();
  Status Parse(const Slice& record);
  void AtEnd();

  const ProcessMark process_;
  const Source source_;
  std::vector<WalFileInfo> logs_;
  const rocksdb::SequenceNumber since_;
  size_t index_ = 0;
  std::unique_ptr<WalReader> reader_;
  uint64_t acknowledged_end_ = UINT64_MAX;  // as the next log says
  bool fresh_ = false;    // reader_ has seen the log's end as it is now
  bool started_ = false;  // a batch has been found

  std::unique_ptr<rocksdb::WriteBatch> batch_;
  uint64_t offset_ = 0;  // of its record
  rocksdb::SequenceNumber first_ = 0;
  rocksdb::SequenceNumber last_ = 0;
  // It commits prepared records, which take sequences that the batch does not count.
  bool open_ended_ = false;
  bool refused_ = false;  // its write failed: it is skipped, with its sequences
  bool valid_ = false;
  Status status_;
};

}  // namespace compassdb
