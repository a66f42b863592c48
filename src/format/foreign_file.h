// SPDX-License-Identifier: Apache-2.0
// Recognizes files that are not ours in plain text: encrypted, or of RocksDB, LevelDB or Pebble.
#pragma once

#include <cstddef>

#include "rocksdb/slice.h"

namespace compassdb {

// The beginning of every encrypted file (docs/formats/sealed_file.md).
inline constexpr char kSealMagic[8] = {'C', 'D', 'B', 'S', 'E', 'A', 'L', '\n'};

bool IsSealed(const rocksdb::Slice& start);
// The advice for an encrypted file that was opened without its key.
extern const char* const kSealedAdvice;
// For a file without any magic number of ours.
extern const char* const kDamagedOrEncrypted;

// The file begins as one of ours that is not encrypted: with text, or as a compaction file. False
// for a damaged seal.
bool StartsInTheClear(const rocksdb::Slice& start);

// The kind of a table file or blob file by its first and its last eight bytes or more; null if it is none.
const char* ForeignTableKind(const rocksdb::Slice& start, const rocksdb::Slice& end);

// The first record of a log or manifest of RocksDB, LevelDB or Pebble: `start` has the first block, or all of it.
inline constexpr size_t kForeignLogBlock = 32 << 10;
bool IsForeignLog(const rocksdb::Slice& start);

}  // namespace compassdb
