// SPDX-License-Identifier: Apache-2.0
// Puts the records of a log into the memtables of the families that still need
// that log. Prepared sections are kept until their commit. The commit's place in
// the logs and in the order of sequences counts.
//
// Thread safety: one thread, the only writer of the memtables, with concurrent readers.
#pragma once

#include <memory>
#include <string>

#include "batch/write_batch_internal.h"
#include "db/write/transaction_support.h"
#include "family/column_family.h"
#include "wal/log_values.h"

namespace compassdb {

class RecoverySink final : public BatchSink {
 public:
  // `mu`: the database mutex. `logged`: where the batch is in the log, for memtables that are an
  // index of it.
  RecoverySink(ColumnFamilySet* families, Mutex* mu, uint64_t wal_number, const LoggedBatch& logged,
               RecoveredTransactions* prepared)
      : families_(families),
        mu_(mu),
        wal_number_(wal_number),
        logged_(logged),
        prepared_(prepared) {}

  // A record of a log as a batch; Corruption if it is not a batch, or its sequence is impossibly high.
  static Status Decode(const Slice& record, rocksdb::WriteBatch* batch);

  Status Add(uint32_t id, SequenceNumber sequence, ValueType type, const Slice& key,
             const Slice& value) override;
  Status Mark(const BatchRecord& mark, SequenceNumber* next) override;
  bool full() const { return full_; }
  bool inside_section() const { return section_ != nullptr; }

 private:
  // `timestamp`: for keys in families with timestamps; empty: they have it already.
  Status Commit(const std::string& xid, const Slice& timestamp, SequenceNumber* next);

  ColumnFamilySet* const families_;
  Mutex* const mu_;
  const uint64_t wal_number_;
  const LoggedBatch& logged_;
  RecoveredTransactions* const prepared_;
  std::unique_ptr<rocksdb::WriteBatch> section_;  // being read
  SequenceNumber section_start_ = 0;
  uint64_t prepared_log_ = UINT64_MAX;  // of the section that is being committed
  bool full_ = false;
};

}  // namespace compassdb
