// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/blob_reference.h"

#include "util/coding.h"

namespace compassdb::rocksdb_files {

bool DecodeBlobReference(Slice in, BlobReference* reference) {
  if (in.empty() || static_cast<uint8_t>(in[0]) > BlobReference::kInFileWithExpiry) return false;
  reference->kind = static_cast<BlobReference::Kind>(in[0]);
  in.remove_prefix(1);
  if (reference->kind != BlobReference::kInFile && !GetVarint64(&in, &reference->expiry)) return false;
  if (reference->kind == BlobReference::kInline) {
    reference->value = in;
    return true;
  }
  if (!GetVarint64(&in, &reference->file) || !GetVarint64(&in, &reference->offset) || !GetVarint64(&in, &reference->size) ||
      in.size() != 1) {
    return false;
  }
  reference->compression = static_cast<uint8_t>(in[0]);
  return true;
}

}  // namespace compassdb::rocksdb_files
