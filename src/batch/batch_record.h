// SPDX-License-Identifier: Apache-2.0
// The byte format of a write batch, in memory and in the WAL. It is RocksDB's,
// so that batches can be exchanged:
//
//   batch  := sequence fixed64, count fixed32, record*
//   record := tag, [column family varint32], [key slice], [value slice]
//   slice  := length varint32, bytes
//
//   tag                       column family  slices
//   0x01 Put          0x05    second only    key, value
//   0x00 Delete       0x04    second only    key
//   0x07 SingleDelete 0x08    second only    key
//   0x02 Merge        0x06    second only    key, operand
//   0x0F DeleteRange  0x0E    second only    begin, end
//   0x11 BlobIndex    0x10    second only    key, value
//   0x16 PutEntity    0x17    second only    key, entity
//   0x03 LogData              no             blob
//   0x09 BeginPrepare, 0x12 (persisted), 0x13 (unprepared), 0x0D Noop: none
//   0x0A EndPrepare, 0x0B Commit, 0x0C Rollback: no, xid
//   0x15 CommitWithTimestamp  no             timestamp, xid
//
// `count` is the number of records that take a sequence: all but LogData and
// the transaction marks. The first of them has the batch's sequence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/internal_key.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

inline constexpr size_t kBatchHeaderBytes = 12;

// Tags that only batches use, beyond those of format/internal_key.h.
inline constexpr uint8_t kTagColumnFamilyBlobIndex = 0x10;
inline constexpr uint8_t kTagBlobIndex = 0x11;
inline constexpr uint8_t kTagBeginPersistedPrepareXID = 0x12;
inline constexpr uint8_t kTagBeginUnprepareXID = 0x13;
inline constexpr uint8_t kTagCommitXIDAndTimestamp = 0x15;

struct BatchRecord {
  uint8_t tag = 0;             // as the tag without column family if there are two
  uint32_t column_family = 0;
  Slice key;    // begin of a range; xid of a mark; blob of LogData
  Slice value;  // end of a range; timestamp of a commit

  // True if it takes a sequence number.
  bool IsData() const {
    return tag == kTypeValue || tag == kTypeDeletion || tag == kTypeSingleDeletion ||
           tag == kTypeMerge || tag == kTypeRangeDeletion || tag == kTagBlobIndex ||
           tag == kTypeWideColumnEntity;
  }
};

// Takes one record from the front of `input`, which is not empty. Corruption
// if it does not fit, naming the part.
Status ReadBatchRecord(Slice* input, BatchRecord* record);

}  // namespace compassdb
