// SPDX-License-Identifier: Apache-2.0
#include "db/open/recovery_sink.h"

#include <algorithm>

#include "db/write/add_logged.h"
#include "format/number_limits.h"
#include "format/user_timestamp.h"

namespace compassdb {

using rocksdb::WriteBatch;

namespace {

Status AddToBatch(WriteBatch* batch, uint32_t family, ValueType type, const Slice& key,
                  const Slice& value) {
  switch (type) {
    case kTypeWideColumnEntity:
      return WriteBatchInternal::PutEntity(batch, family, key, value);
    case kTypeDeletion:
      return WriteBatchInternal::Delete(batch, family, key);
    case kTypeSingleDeletion:
      return WriteBatchInternal::SingleDelete(batch, family, key);
    case kTypeMerge:
      return WriteBatchInternal::Merge(batch, family, key, value);
    case kTypeRangeDeletion:
      return WriteBatchInternal::DeleteRange(batch, family, key, value);
    default:
      return WriteBatchInternal::Put(batch, family, key, value);
  }
}

}  // namespace

Status RecoverySink::Decode(const Slice& record, WriteBatch* batch) {
  Status s = WriteBatchInternal::SetContents(batch, record);
  if (s.ok() && WriteBatchInternal::Sequence(batch) > kMaxKnownSequence) {
    return Status::Corruption("batch", "sequence out of range");
  }
  return s;
}

Status RecoverySink::Add(uint32_t id, SequenceNumber sequence, ValueType type, const Slice& key,
                         const Slice& value) {
  if (section_ != nullptr) return AddToBatch(section_.get(), id, type, key, value);
  if (sequence > kMaxKnownSequence) return Status::Corruption("batch", "sequence out of range");
  ColumnFamily* family = families_->ByIdAtFront(id);
  // Dropped, not opened (read only), or flushed already.
  if (family == nullptr || wal_number_ < family->memtables().log_number()) return Status::OK();
  const size_t timestamp_size = family->timestamp_size();
  if (key.size() < timestamp_size ||
      (type == kTypeRangeDeletion && value.size() < timestamp_size)) {
    return Status::Corruption("log: a key without timestamp, column family", family->name());
  }
  if (type == kTypeRangeDeletion && CompareKeys(family->user_comparator(), key, value) >= 0) {
    return Status::OK();
  }
  MemTables& memtables = family->memtables();
  if (prepared_log_ != UINT64_MAX) {
    MutexLock lock(mu_);
    memtables.KeepPreparedLog(prepared_log_);
  }
  Status s = AddLogged(memtables.active().get(), logged_, sequence, type, key, value,
                       /*concurrent=*/false);
  if (s.IsTryAgain()) return Status::OK();  // the same record again
  if (s.ok() && memtables.active()->ShouldFlush()) full_ = true;
  return s;
}

Status RecoverySink::Mark(const BatchRecord& mark, SequenceNumber* next) {
  const std::string xid = mark.key.ToString();
  switch (mark.tag) {
    case kTypeBeginPrepareXID:
      section_ = std::make_unique<WriteBatch>();
      section_start_ = *next;
      return WriteBatchInternal::InsertNoop(section_.get());
    case kTypeEndPrepareXID:
      if (section_ == nullptr) return Status::Corruption("prepared section without its begin");
      *next = section_start_;  // its records take their sequences at the commit
      (*prepared_)[xid] = {std::move(*section_), wal_number_, nullptr};
      section_.reset();
      return Status::OK();
    case kTypeCommitXID:
      return Commit(xid, Slice(), next);
    case kTagCommitXIDAndTimestamp:
      return Commit(xid, mark.value, next);
    case kTypeRollbackXID:
      prepared_->erase(xid);
      return Status::OK();
    default:
      return BatchSink::Mark(mark, next);
  }
}

// If the section of a commit is missing, its data was flushed, and so its
// preparation is no longer needed.
Status RecoverySink::Commit(const std::string& xid, const Slice& timestamp, SequenceNumber* next) {
  auto it = prepared_->find(xid);
  if (it == prepared_->end()) return Status::OK();
  if (!timestamp.empty()) {
    Status s = it->second.batch.UpdateTimestamps(timestamp, [this](uint32_t id) {
      const ColumnFamily* const family = families_->ByIdAtFront(id);
      return family == nullptr ? size_t{0} : family->timestamp_size();
    });
    if (!s.ok()) return s;
  }
  WriteBatchInternal::SetSequence(&it->second.batch, *next);
  prepared_log_ = it->second.log_number;
  Status s = WriteBatchInternal::InsertInto(&it->second.batch, this, next);
  prepared_log_ = UINT64_MAX;
  prepared_->erase(it);
  return s;
}

}  // namespace compassdb
