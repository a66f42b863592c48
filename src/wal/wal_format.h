// SPDX-License-Identifier: Apache-2.0
// The first record of a write-ahead log says what it is and what it follows;
// every other record is one WriteBatch as its writer serialised it
// (docs/formats/wal.md), behind the offset up to which the log was known to be
// synced when the record was written, and a byte that says how it is compressed.
// A record without a batch only says how far the log is synced: the last one of
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

// Logs before it have records that are the batch alone; if the header says that they are compressed,
// a byte before it says whether this one is.
inline constexpr uint32_t kWalWithSynced = 3;

// Flags of a header, which has none of them if they are not there.
// The file was an older log's: what that left may stand behind the last record.
inline constexpr uint32_t kWalOverOlderLog = 1;
// The write of a batch to the log before this one failed, and the field is there that says where that batch begins.
inline constexpr uint32_t kWalAfterFailedBatch = 2;

struct WalHeader {
  uint32_t version = kWalWithSynced;  // of what was read; what is written is the current one
  uint64_t number = 0;
  // The log that was written before this one: 0 if this is the first.
  uint64_t predecessor = 0;
  // Its length when this one was begun; if a write or sync of it had failed, the part before that
  // was synced.
  uint64_t predecessor_bytes = 0;
  // The last sequence in it, 0 if empty; of the first log of a session the database's. For people: recovery compares
  // the length, which verifies with every byte before it, and which is right of a log that was given up, too.
  uint64_t predecessor_last_sequence = 0;
  std::string db_id;                       // IDENTITY; empty if unknown
  // Of its records, of those that it makes smaller.
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  uint64_t predecessor_synced = 0;  // how much of predecessor_bytes was synced by then
  bool over_older_log = false;
  // Where the batch begins in the predecessor whose write failed; UINT64_MAX if none did.
  uint64_t predecessor_acknowledged = UINT64_MAX;
};

std::string EncodeWalHeader(const WalHeader& header);
// `path` is for messages. NotSupported for a newer version.
Status DecodeWalHeader(const std::string& path, const Slice& record, WalHeader* header);

// A place up to which a log is known to be durable, and all logs that it follows with it.
struct SyncedLog {
  uint64_t number = 0;  // 0: nothing is known
  uint64_t bytes = 0;
  auto operator<=>(const SyncedLog&) const = default;  // later logs are more, as all before them are whole
};

}  // namespace compassdb
