// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {

// CRC-32C of bytes and their place (docs/formats/tableless.md): the file, by number or id, and the page or offset
// in it. So they do not verify in another place.
inline uint32_t PlaceChecksum(uint64_t file, uint64_t place, const rocksdb::Slice& bytes) {
  char at[16];
  EncodeFixed64(at, file);
  EncodeFixed64(at + 8, place);
  return Crc32cExtend(Crc32c(at, sizeof(at)), bytes.data(), bytes.size());
}

}  // namespace compassdb
