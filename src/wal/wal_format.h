// SPDX-License-Identifier: Apache-2.0
// The first record of a write-ahead log says what it is and what it follows;
// every other record is one WriteBatch as its writer serialised it
// (docs/formats/wal.md). In a compressed log a byte stands before it: 0, or 1
// if what follows is the compressed batch.
//
//   header := magic:fixed64  version:varint32  number:varint64
//             predecessor:varint64  predecessor_bytes:varint64
//             predecessor_last_sequence:varint64  db_id:length-prefixed
//             compression:varint32
//             (later versions may append fields that readers skip)
#pragma once

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

struct WalHeader {
  uint64_t number = 0;
  // The log that was written before this one: 0 if this is the first.
  uint64_t predecessor = 0;
  uint64_t predecessor_bytes = 0;          // its length when this one was begun
  uint64_t predecessor_last_sequence = 0;  // the last sequence in it, 0 if empty
  std::string db_id;                       // IDENTITY; empty if unknown
  rocksdb::CompressionType compression = rocksdb::kNoCompression;  // of its records
};

std::string EncodeWalHeader(const WalHeader& header);
// `path` is for messages. NotSupported for a newer version.
Status DecodeWalHeader(const std::string& path, const Slice& record, WalHeader* header);

}  // namespace compassdb
