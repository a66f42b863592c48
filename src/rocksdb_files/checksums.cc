// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/checksums.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/crc32c.h"

namespace compassdb::rocksdb_files {

uint32_t MaskCrc(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

uint32_t BlockChecksum(ChecksumKind kind, const Slice& data) {
  switch (kind) {
    case ChecksumKind::kNone:
      return 0;
    case ChecksumKind::kCrc32c:
      return MaskCrc(Crc32c(data.data(), data.size()));
    case ChecksumKind::kXxHash:
      return XXH32(data.data(), data.size(), 0);
    case ChecksumKind::kXxHash64:
      return static_cast<uint32_t>(XXH64(data.data(), data.size(), 0));
    case ChecksumKind::kXxh3: {
      // The last byte is not hashed, but multiplied into the result.
      if (data.empty()) return 0;
      const uint8_t last = static_cast<uint8_t>(data[data.size() - 1]);
      return static_cast<uint32_t>(XXH3_64bits(data.data(), data.size() - 1)) ^ (last * 0x6b9083d9u);
    }
  }
  return 0;
}

uint32_t ContextModifier(uint32_t base, uint64_t offset) {
  if (base == 0) return 0;
  return base ^ (static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32));
}

}  // namespace compassdb::rocksdb_files
