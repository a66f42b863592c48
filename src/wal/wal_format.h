// SPDX-License-Identifier: Apache-2.0
// The first record of a write-ahead log is a header that names the log and its
// predecessor. Every other record (docs/formats/wal.md) has the offset up to which
// the log was known to be synced when it was written, a byte that says how it is
// compressed, and one WriteBatch as its writer serialised it. A record without a
// batch only says how far the log is synced: the last one of
// a closed log.
//
//   record := synced:varint64 {compression:byte batch}?
//
//   header := magic:fixed64  version:varint32  number:varint64
//             predecessor:varint64  predecessor_bytes:varint64
//             predecessor_last_sequence:varint64  db_id:length-prefixed
//             compression:varint32  predecessor_synced:varint64
//             {flags:varint32  {predecessor_acknowledged:varint64}?}?
//             (later versions may append fields that readers skip)
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

// A batch is at least its sequence (8 bytes) and its count (4).
inline constexpr size_t kWriteBatchHeader = 12;

// In logs of earlier versions a record is the batch alone; if the header says that they are
// compressed, a byte before it says whether this one is.
inline constexpr uint32_t kWalWithSynced = 3;

// Flags of a header; none if the field is missing.
// The file was an older log's: its bytes may follow the last record.
inline constexpr uint32_t kWalOverOlderLog = 1;
// The write of a batch to the previous log failed; the field with the begin of that batch is present.
inline constexpr uint32_t kWalAfterFailedBatch = 2;

struct WalHeader {
  uint32_t version = kWalWithSynced;  // as read; new logs have the current one
  uint64_t number = 0;
  // The log that was written before this one: 0 if this is the first.
  uint64_t predecessor = 0;
  // Its length when this one began; if a write or sync of it had failed, the length that
  // was synced.
  uint64_t predecessor_bytes = 0;
  // The last sequence in it, 0 if empty; in the first log of a session the database's. For people only: recovery
  // compares the length, which is also right for an abandoned log.
  uint64_t predecessor_last_sequence = 0;
  std::string db_id;                       // IDENTITY; empty if unknown
  // For records that it makes smaller.
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  uint64_t predecessor_synced = 0;  // how much of predecessor_bytes was synced by then
  bool over_older_log = false;
  // The offset in the predecessor of the batch whose write failed; UINT64_MAX: none.
  uint64_t predecessor_acknowledged = UINT64_MAX;
};

std::string EncodeWalHeader(const WalHeader& header);
// `path` is for messages. NotSupported for a newer version.
Status DecodeWalHeader(const std::string& path, const Slice& record, WalHeader* header);

// Where a batch is in a log.
struct BatchPlace {
  uint64_t end = 0;  // of the log, before the batch's record was added
  // Of its first byte in the payload of that record; UINT64_MAX: it is compressed.
  uint64_t at = UINT64_MAX;
};

// The offset up to which a log, and all logs before it, are known to be durable.
struct SyncedLog {
  uint64_t number = 0;  // 0: nothing is known
  uint64_t bytes = 0;
  auto operator<=>(const SyncedLog&) const = default;  // later logs are greater, as all before them are whole
};

}  // namespace compassdb
