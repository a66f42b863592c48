// SPDX-License-Identifier: Apache-2.0
// The checksums of a batch with protection_bytes_per_key: made from the caller's data, and compared
// with the batch's bytes wherever these are used.
#pragma once

#include <vector>

#include "batch/batch_record.h"
#include "rocksdb/write_batch.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {

struct WriteBatch::ProtectionInfo {
  std::vector<uint64_t> checksums;  // of the records that take a sequence, in order
};

}  // namespace ROCKSDB_NAMESPACE

namespace compassdb {

inline constexpr size_t kProtectionBytes = 8;

// `tag`: as in BatchRecord.
inline uint64_t ChecksumOfWrite(uint8_t tag, uint32_t column_family, const Slice& key,
                                const Slice& value) {
  return Hash64(value, Hash64(key, (uint64_t{column_family} << 8) | tag));
}

// Corruption if write number `index` does not match its checksum.
inline Status CheckProtected(const rocksdb::WriteBatch::ProtectionInfo& protection, size_t index,
                             const BatchRecord& record) {
  if (index < protection.checksums.size() &&
      protection.checksums[index] ==
          ChecksumOfWrite(record.tag, record.column_family, record.key, record.value)) {
    return Status::OK();
  }
  return Status::Corruption("WriteBatch: checksum mismatch of write " + std::to_string(index));
}

}  // namespace compassdb
