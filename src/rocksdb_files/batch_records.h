// SPDX-License-Identifier: Apache-2.0
// The records of a write batch, as RocksDB's and LevelDB's logs have it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "format/internal_key.h"
#include "rocksdb/status.h"

namespace compassdb::rocksdb_files {

using rocksdb::Status;

struct BatchRecord {
  // Of a point record, kTypeRangeDeletion, or one of the marks of transactions.
  ValueType type = kTypeNoop;
  uint32_t family = 0;
  SequenceNumber sequence = 0;  // the next record's, for a mark
  Slice key;                    // a mark's: the name of the transaction
  Slice value;                  // kTypeRangeDeletion: the end
};

struct BatchHead {
  SequenceNumber sequence = 0;
  uint32_t count = 0;  // of the records that take a sequence
};

// Calls `take` for each record, until it fails. NotSupported names kinds of records that are not known.
Status ReadBatchRecords(const Slice& batch, BatchHead* head, const std::function<Status(const BatchRecord&)>& take);

}  // namespace compassdb::rocksdb_files
