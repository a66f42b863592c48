// SPDX-License-Identifier: Apache-2.0
// Decompresses blocks of RocksDB's and LevelDB's files.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb::rocksdb_files {

using rocksdb::Slice;
using rocksdb::Status;

// How the uncompressed size is stored, and which numbers the types have.
enum class CompressionFormat {
  kLevelDb,   // no size; 2 is Zstandard, or zlib as forks have it, and 4 deflate
  kUnsized,   // format_version 0 and 1: none for zlib and bzip2, 8 bytes for LZ4
  kSized,     // from 2 on: a varint
};

// Replaces *out. `type` is the byte after the block. With `dictionary`, the block was compressed with it if its type
// takes one. What a damaged block claims costs at most some megabytes. NotSupported names a type that is not known.
Status DecompressFileBlock(CompressionFormat format, uint8_t type, const Slice& in, const Slice& dictionary,
                           std::string* out);

// One or several frames of Zstandard, of a record of a log.
Status DecompressZstdStream(const Slice& in, std::string* out);

}  // namespace compassdb::rocksdb_files
