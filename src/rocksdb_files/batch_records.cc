// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/batch_records.h"

#include "rocksdb_files/table_file.h"
#include "util/coding.h"

namespace compassdb::rocksdb_files {

namespace {

enum BatchTag : uint8_t {
  kTagFamilyBlobIndex = 0x10,
  kTagBeginPersistedPrepare = 0x12,
  kTagBeginUnprepare = 0x13,
  kTagCommitWithTime = 0x15,
  kTagFamilyValueWithTime = 0x19,
};

// The type of the same record of the default family, and whether a family precedes the key.
uint8_t WithoutFamily(uint8_t tag, bool* family) {
  *family = true;
  switch (tag) {
    case kTypeColumnFamilyDeletion: return kTypeDeletion;
    case kTypeColumnFamilyValue: return kTypeValue;
    case kTypeColumnFamilyMerge: return kTypeMerge;
    case kTypeColumnFamilySingleDeletion: return kTypeSingleDeletion;
    case kTypeColumnFamilyRangeDeletion: return kTypeRangeDeletion;
    case kTypeColumnFamilyWideColumnEntity: return kTypeWideColumnEntity;
    case kTagFamilyBlobIndex: return kTypeBlobIndex;
    case kTagFamilyValueWithTime: return kTypeValueWithTime;
    default: *family = false; return tag;
  }
}

Status DamagedBatch() { return Status::Corruption("a write batch of the log is damaged"); }

// Takes one off the front of `in`. kTypeNoop and kTypeLogData have nothing.
Status TakeBatchRecord(Slice* in, BatchRecord* record) {
  bool family;
  const uint8_t type = WithoutFamily(static_cast<uint8_t>((*in)[0]), &family);
  in->remove_prefix(1);
  record->family = 0;
  record->value = Slice();
  if (family && !GetVarint32(in, &record->family)) return DamagedBatch();
  record->type = static_cast<ValueType>(type);
  switch (type) {
    case kTypeNoop:
    case kTypeBeginPrepareXID:
      record->key = Slice();
      return Status::OK();
    case kTypeLogData:
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeEndPrepareXID:
    case kTypeCommitXID:
    case kTypeRollbackXID:
      return GetLengthPrefixedSlice(in, &record->key) ? Status::OK() : DamagedBatch();
    case kTypeValue:
    case kTypeMerge:
    case kTypeRangeDeletion:
    case kTypeBlobIndex:
    case kTypeWideColumnEntity:
    case kTypeValueWithTime:
      if (!GetLengthPrefixedSlice(in, &record->key) || !GetLengthPrefixedSlice(in, &record->value)) return DamagedBatch();
      if (type != kTypeValueWithTime) return Status::OK();
      if (record->value.size() < 8) return DamagedBatch();
      record->value.remove_suffix(8);
      record->type = kTypeValue;
      return Status::OK();
    case kTagCommitWithTime:
      return Status::NotSupported("a transaction that was committed with a timestamp");
    case kTagBeginPersistedPrepare:
    case kTagBeginUnprepare:
      return Status::NotSupported("a log of transactions of write policy WRITE_PREPARED or WRITE_UNPREPARED");
    default:
      return Status::NotSupported("a record of type " + std::to_string(type) + " in a write batch");
  }
}

bool TakesSequence(ValueType type) { return IsPointType(type) || type == kTypeRangeDeletion; }

}  // namespace

Status ReadBatchRecords(const Slice& batch, BatchHead* head, const std::function<Status(const BatchRecord&)>& take) {
  Slice in = batch;
  if (!GetFixed64(&in, &head->sequence) || !GetFixed32(&in, &head->count)) return DamagedBatch();
  if (head->sequence > kMaxSequenceNumber) return DamagedBatch();
  uint32_t count = 0;
  BatchRecord record;
  while (!in.empty()) {
    Status s = TakeBatchRecord(&in, &record);
    if (!s.ok()) return s;
    if (record.type == kTypeNoop || record.type == kTypeLogData) continue;
    record.sequence = head->sequence + count;
    if (TakesSequence(record.type)) ++count;
    s = take(record);
    if (!s.ok()) return s;
  }
  return count == head->count ? Status::OK() : Status::Corruption("a write batch of the log has another number of records");
}

}  // namespace compassdb::rocksdb_files
