// SPDX-License-Identifier: Apache-2.0
//
// The write-ahead log as a stream of batches, for replication.

#pragma once

#include <memory>
#include <vector>

#include "rocksdb/status.h"
#include "rocksdb/types.h"
#include "rocksdb/write_batch.h"

namespace ROCKSDB_NAMESPACE {

class LogFile;
using VectorLogPtr = std::vector<std::unique_ptr<LogFile>>;

// Kept for readers only, or still needed for recovery.
enum WalFileType {
  kArchivedLogFile = 0,
  kAliveLogFile = 1
};

// A log file.
class LogFile {
 public:
  LogFile() {}
  virtual ~LogFile() {}

  // Relative to the directory of the logs.
  virtual std::string PathName() const = 0;
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;

  // The sequence of its first write.
  virtual SequenceNumber StartSequence() const = 0;
  virtual uint64_t SizeFileBytes() const = 0;
};

// A batch and the sequence number of its first write.
struct BatchResult {
  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;
  BatchResult() {}
  ~BatchResult() {}
  BatchResult(const BatchResult&) = delete;
  BatchResult& operator=(const BatchResult&) = delete;
  BatchResult(BatchResult&& bResult)
      : sequence(std::move(bResult.sequence)),
        writeBatchPtr(std::move(bResult.writeBatchPtr)) {}
  BatchResult& operator=(BatchResult&& bResult) {
    sequence = std::move(bResult.sequence);
    writeBatchPtr = std::move(bResult.writeBatchPtr);
    return *this;
  }
};

// Iterates over the batches from a sequence number on. One thread at a time.
class TransactionLogIterator {
 public:
  TransactionLogIterator() {}
  virtual ~TransactionLogIterator() {}

  // False at the end of what is written so far, and on errors.
  virtual bool Valid() = 0;

  // REQUIRES: Valid().
  virtual void Next() = 0;

  // OK at the end; new writes can be read later by Next() again. TryAgain if the log was switched:
  // make a new iterator.
  virtual Status status() = 0;

  // The batch; moves it out. REQUIRES: Valid().
  virtual BatchResult GetBatch() = 0;

  // Whether checksums of records are checked.
  struct ReadOptions {
    bool verify_checksums_;
    ReadOptions() : verify_checksums_(true) {}
    explicit ReadOptions(bool verify_checksums)
        : verify_checksums_(verify_checksums) {}
  };
};

}  // namespace ROCKSDB_NAMESPACE
