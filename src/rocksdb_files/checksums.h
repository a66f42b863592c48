// SPDX-License-Identifier: Apache-2.0
// The checksums of RocksDB's files. docs/formats/rocksdb_files.md has their rules.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"

namespace compassdb::rocksdb_files {

using rocksdb::Slice;

enum class ChecksumKind : uint8_t { kNone = 0, kCrc32c = 1, kXxHash = 2, kXxHash64 = 3, kXxh3 = 4 };
inline constexpr uint8_t kLastChecksumKind = 4;

// A CRC that is stored next to the bytes that it covers: rotated, plus a constant.
uint32_t MaskCrc(uint32_t crc);

// Of `data`, whose last byte is a block's type (or any byte); 0 for kNone.
uint32_t BlockChecksum(ChecksumKind kind, const Slice& data);

// What is added to the checksum of a block at `offset`, from format_version 6 on. `base` is the file's; 0: nothing.
uint32_t ContextModifier(uint32_t base, uint64_t offset);

}  // namespace compassdb::rocksdb_files
