// SPDX-License-Identifier: Apache-2.0
// What a record with a value in a blob file has instead of the value.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"

namespace compassdb::rocksdb_files {

using rocksdb::Slice;

struct BlobReference {
  enum Kind : uint8_t { kInline = 0, kInFile = 1, kInFileWithExpiry = 2 };
  Kind kind = kInline;
  uint64_t expiry = 0;  // of kInline and kInFileWithExpiry, which the old BlobDB wrote
  Slice value;          // of kInline
  uint64_t file = 0;    // 0: the table itself
  uint64_t offset = 0;
  uint64_t size = 0;
  uint8_t compression = 0;
};

// False if it is damaged.
bool DecodeBlobReference(Slice in, BlobReference* reference);

}  // namespace compassdb::rocksdb_files
