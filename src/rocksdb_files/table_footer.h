// SPDX-License-Identifier: Apache-2.0
// The last bytes of a table file: where its index of blocks is, and how blocks are checked.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb_files/checksums.h"

namespace compassdb::rocksdb_files {

using rocksdb::Status;

// Where a block is. `size` is without the trailer.
struct BlockPlace {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Takes it off the front of `in`: two varints.
bool GetBlockPlace(Slice* in, BlockPlace* place);

// A block is followed by its compression type and its checksum.
inline constexpr uint64_t kTrailerSize = 5;
inline constexpr size_t kMaxFooterSize = 53;
inline constexpr uint32_t kNewestFormatVersion = 7;

struct TableFooter {
  uint32_t format_version = 0;  // 0: LevelDB's, which old versions of RocksDB wrote too
  ChecksumKind checksum = ChecksumKind::kCrc32c;
  uint32_t context_base = 0;  // of ContextModifier
  BlockPlace meta_index;
  BlockPlace index;   // from format_version 6 on the meta index has it instead
  uint64_t size = 0;  // of the footer
};

// The last eight bytes of a file say that it is such a table.
bool IsTableMagic(uint64_t magic);

// `tail` has the file's last bytes: kMaxFooterSize, or all of a smaller file. NotSupported names what is no block-based
// table, or a newer one.
Status DecodeTableFooter(const Slice& tail, uint64_t file_size, TableFooter* footer);

}  // namespace compassdb::rocksdb_files
