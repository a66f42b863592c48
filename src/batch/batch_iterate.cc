// SPDX-License-Identifier: Apache-2.0
// Reading batches back: for the engine (InsertInto) and for handlers (Iterate).
#include "batch/batch_protection.h"
#include "batch/write_batch_internal.h"

namespace compassdb {

using rocksdb::WriteBatch;

namespace {

// Whether a mark ends a transaction's part of the batch. `empty` says to handlers
// of a Noop whether anything preceded it.
Status HandleMark(WriteBatch::Handler* handler, const BatchRecord& r, bool* empty) {
  switch (r.tag) {
    case kTypeLogData:
      handler->LogData(r.key);
      *empty = false;
      return Status::OK();
    case kTypeBeginPrepareXID:
    case kTagBeginPersistedPrepareXID:
      *empty = false;
      return handler->MarkBeginPrepare(/*unprepare=*/false);
    case kTagBeginUnprepareXID:
      *empty = false;
      return handler->MarkBeginPrepare(/*unprepare=*/true);
    case kTypeEndPrepareXID:
      *empty = true;
      return handler->MarkEndPrepare(r.key);
    case kTypeCommitXID:
      *empty = true;
      return handler->MarkCommit(r.key);
    case kTagCommitXIDAndTimestamp:
      *empty = true;
      return handler->MarkCommitWithTimestamp(r.key, r.value);
    case kTypeRollbackXID:
      *empty = true;
      return handler->MarkRollback(r.key);
    case kTypeNoop: {
      const Status s = handler->MarkNoop(*empty);
      *empty = true;
      return s;
    }
    default:
      return Status::Corruption("unknown WriteBatch tag");
  }
}

Status HandleData(WriteBatch::Handler* handler, const BatchRecord& r) {
  switch (r.tag) {
    case kTypeValue:
      return handler->PutCF(r.column_family, r.key, r.value);
    case kTypeDeletion:
      return handler->DeleteCF(r.column_family, r.key);
    case kTypeSingleDeletion:
      return handler->SingleDeleteCF(r.column_family, r.key);
    case kTypeRangeDeletion:
      return handler->DeleteRangeCF(r.column_family, r.key, r.value);
    case kTypeMerge:
      return handler->MergeCF(r.column_family, r.key, r.value);
    case kTagBlobIndex:
      return handler->PutBlobIndexCF(r.column_family, r.key, r.value);
    default:
      return handler->PutEntityCF(r.column_family, r.key, r.value);
  }
}

}  // namespace

Status WriteBatchInternal::Iterate(const WriteBatch* batch, WriteBatch::Handler* handler,
                                   size_t begin, size_t end) {
  const std::string& rep = batch->rep_;
  if (begin > rep.size() || end > rep.size() || end < begin) {
    return Status::Corruption("Invalid start/end bounds for Iterate");
  }
  const bool whole = begin == kBatchHeaderBytes && end == rep.size();
  Slice input(rep.data() + begin, end - begin);
  BatchRecord record;
  uint32_t found = 0;
  bool empty = true;
  while (!input.empty() && handler->Continue()) {
    Status s = ReadBatchRecord(&input, &record);
    if (!s.ok()) return s;
    const bool data = record.IsData();
    s = data ? HandleData(handler, record) : HandleMark(handler, record, &empty);
    // A handler may ask once to be given the same record again.
    if (s.IsTryAgain()) {
      s = data ? HandleData(handler, record) : HandleMark(handler, record, &empty);
      if (s.IsTryAgain()) {
        return Status::Corruption(
            "two consecutive TryAgain in WriteBatch handler; this is either a software bug or "
            "data corruption.");
      }
    }
    if (!s.ok()) return s;
    if (data) {
      empty = false;
      ++found;
    }
  }
  if (whole && input.empty() && found != Count(batch)) {
    return Status::Corruption("WriteBatch has wrong count");
  }
  return Status::OK();
}

Status WriteBatchInternal::InsertInto(const WriteBatch* batch, BatchSink* sink,
                                      SequenceNumber* next) {
  if (batch->rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  Slice input(batch->rep_);
  input.remove_prefix(kBatchHeaderBytes);
  SequenceNumber sequence = Sequence(batch);
  uint32_t found = 0;
  BatchRecord r;
  while (!input.empty()) {
    Status s = ReadBatchRecord(&input, &r);
    if (!s.ok()) return s;
    if (r.IsData()) {
      if (r.tag == kTagBlobIndex) {
        return Status::NotSupported("write batch record of tag " + std::to_string(r.tag) +
                                    " for key " + r.key.ToString(/*hex=*/true));
      }
      if (batch->protection_ != nullptr) [[unlikely]] {
        s = CheckProtected(*batch->protection_, found, r);
        if (!s.ok()) return s;
      }
      s = sink->Add(r.column_family, sequence++, static_cast<ValueType>(r.tag), r.key, r.value);
      ++found;
    } else if (r.tag != kTypeLogData) {
      s = sink->Mark(r, &sequence);
    }
    if (!s.ok()) return s;
  }
  if (found != Count(batch)) return Status::Corruption("WriteBatch has wrong count");
  if (next != nullptr) *next = sequence;
  return Status::OK();
}

}  // namespace compassdb
