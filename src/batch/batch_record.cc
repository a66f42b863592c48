// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_record.h"

#include "util/coding.h"

namespace compassdb {

namespace {

struct TagLayout {
  uint8_t tag;         // without column family
  bool column_family;  // a varint32 follows the tag
  int slices;
  const char* error;
};

// Null if the tag is unknown.
const TagLayout* LayoutOf(uint8_t tag) {
  static constexpr TagLayout kLayouts[] = {
      {kTypeDeletion, false, 1, "bad WriteBatch Delete"},
      {kTypeValue, false, 2, "bad WriteBatch Put"},
      {kTypeMerge, false, 2, "bad WriteBatch Merge"},
      {kTypeLogData, false, 1, "bad WriteBatch Blob"},
      {kTypeDeletion, true, 1, "bad WriteBatch Delete"},
      {kTypeValue, true, 2, "bad WriteBatch Put"},
      {kTypeMerge, true, 2, "bad WriteBatch Merge"},
      {kTypeSingleDeletion, false, 1, "bad WriteBatch Delete"},
      {kTypeSingleDeletion, true, 1, "bad WriteBatch Delete"},
      {kTypeBeginPrepareXID, false, 0, ""},
      {kTypeEndPrepareXID, false, 1, "bad EndPrepare XID"},
      {kTypeCommitXID, false, 1, "bad Commit XID"},
      {kTypeRollbackXID, false, 1, "bad Rollback XID"},
      {kTypeNoop, false, 0, ""},
      {kTypeRangeDeletion, true, 2, "bad WriteBatch DeleteRange"},
      {kTypeRangeDeletion, false, 2, "bad WriteBatch DeleteRange"},
      {kTagBlobIndex, true, 2, "bad WriteBatch BlobIndex"},
      {kTagBlobIndex, false, 2, "bad WriteBatch BlobIndex"},
      {kTagBeginPersistedPrepareXID, false, 0, ""},
      {kTagBeginUnprepareXID, false, 0, ""},
      {0, false, -1, ""},  // 0x14 is not used in batches
      {kTagCommitXIDAndTimestamp, false, 2, "bad commit timestamp"},
      {kTypeWideColumnEntity, false, 2, "bad WriteBatch PutEntity"},
      {kTypeWideColumnEntity, true, 2, "bad WriteBatch PutEntity"},
  };
  constexpr size_t kCount = sizeof(kLayouts) / sizeof(kLayouts[0]);
  static_assert(kCount == kTypeColumnFamilyWideColumnEntity + 1, "indexed by tag");
  return tag < kCount && kLayouts[tag].slices >= 0 ? &kLayouts[tag] : nullptr;
}

}  // namespace

Status ReadBatchRecord(Slice* input, BatchRecord* record) {
  const auto tag = static_cast<uint8_t>((*input)[0]);
  const TagLayout* layout = LayoutOf(tag);
  if (layout == nullptr) return Status::Corruption("unknown WriteBatch tag");
  input->remove_prefix(1);
  record->tag = layout->tag;
  record->column_family = 0;
  record->key = record->value = Slice();
  const bool ok =
      (!layout->column_family || GetVarint32(input, &record->column_family)) &&
      (layout->slices < 1 || GetLengthPrefixedSlice(input, &record->key)) &&
      (layout->slices < 2 || GetLengthPrefixedSlice(input, &record->value));
  if (!ok) return Status::Corruption(layout->error);
  if (tag == kTagCommitXIDAndTimestamp) std::swap(record->key, record->value);
  return Status::OK();
}

}  // namespace compassdb
