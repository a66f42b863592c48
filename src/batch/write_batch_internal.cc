// SPDX-License-Identifier: Apache-2.0
#include "batch/write_batch_internal.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <vector>

#include "batch/batch_protection.h"
#include "util/coding.h"

namespace compassdb {

namespace {

constexpr size_t kMaxSliceBytes = std::numeric_limits<uint32_t>::max();

size_t TotalBytes(const rocksdb::SliceParts& parts) {
  size_t bytes = 0;
  for (int i = 0; i < parts.num_parts; ++i) bytes += parts.parts[i].size();
  return bytes;
}

void PutParts(std::string* dst, const rocksdb::SliceParts& parts) {
  PutVarint32(dst, static_cast<uint32_t>(TotalBytes(parts)));
  for (int i = 0; i < parts.num_parts; ++i) {
    dst->append(parts.parts[i].data(), parts.parts[i].size());
  }
}

// The bytes of all parts; `*room` keeps them if there are several.
Slice Joined(const rocksdb::SliceParts& parts, std::string* room) {
  if (parts.num_parts == 1) return parts.parts[0];
  for (int i = 0; i < parts.num_parts; ++i) {
    room->append(parts.parts[i].data(), parts.parts[i].size());
  }
  return *room;
}

uint64_t ChecksumOfParts(uint8_t tag, uint32_t column_family, const rocksdb::SliceParts& key,
                         const rocksdb::SliceParts* value) {
  std::string key_room, value_room;
  const Slice second = value == nullptr ? Slice() : Joined(*value, &value_room);
  return ChecksumOfWrite(tag, column_family, Joined(key, &key_room), second);
}

// Calls add(key + ts, end + ts); `end` may be null.
template <typename Add>
Status WithTimestamp(const rocksdb::SliceParts& key, const rocksdb::SliceParts* end,
                     const Slice& ts, const Add& add) {
  const auto timed = [&ts](const rocksdb::SliceParts& parts) {
    std::vector<Slice> all(parts.parts, parts.parts + parts.num_parts);
    all.push_back(ts);
    return all;
  };
  const std::vector<Slice> key_parts = timed(key);
  const rocksdb::SliceParts timed_key(key_parts.data(), static_cast<int>(key_parts.size()));
  if (end == nullptr) return add(timed_key, nullptr);
  const std::vector<Slice> end_parts = timed(*end);
  const rocksdb::SliceParts timed_end(end_parts.data(), static_cast<int>(end_parts.size()));
  return add(timed_key, &timed_end);
}

}  // namespace

Status BatchSink::Mark(const BatchRecord& mark, SequenceNumber* /*next*/) {
  if (mark.tag == kTypeNoop) return Status::OK();
  return Status::NotSupported("write batch holds a two-phase commit mark, tag " +
                              std::to_string(mark.tag));
}

uint32_t ContentFlagOfTag(uint8_t tag) {
  switch (tag) {
    case kTypeValue:
      return kBatchHasPut;
    case kTypeDeletion:
      return kBatchHasDelete;
    case kTypeSingleDeletion:
      return kBatchHasSingleDelete;
    case kTypeMerge:
      return kBatchHasMerge;
    case kTypeRangeDeletion:
      return kBatchHasDeleteRange;
    case kTagBlobIndex:
      return kBatchHasBlobIndex;
    case kTypeWideColumnEntity:
      return kBatchHasPutEntity;
    case kTypeBeginPrepareXID:
    case kTagBeginPersistedPrepareXID:
      return kBatchHasBeginPrepare;
    case kTagBeginUnprepareXID:
      return kBatchHasBeginPrepare | kBatchHasBeginUnprepare;
    case kTypeEndPrepareXID:
      return kBatchHasEndPrepare;
    case kTypeCommitXID:
    case kTagCommitXIDAndTimestamp:
      return kBatchHasCommit;
    case kTypeRollbackXID:
      return kBatchHasRollback;
    default:
      return 0;
  }
}

SequenceNumber WriteBatchInternal::Sequence(const WriteBatch* batch) {
  return DecodeFixed64(batch->rep_.data());
}
void WriteBatchInternal::SetSequence(WriteBatch* batch, SequenceNumber sequence) {
  EncodeFixed64(batch->rep_.data(), sequence);
}
uint32_t WriteBatchInternal::Count(const WriteBatch* batch) {
  // Bytes from outside may be no batch at all.
  return batch->rep_.size() < kBatchHeaderBytes ? 0 : DecodeFixed32(batch->rep_.data() + 8);
}
void WriteBatchInternal::SetCount(WriteBatch* batch, uint32_t count) {
  EncodeFixed32(batch->rep_.data() + 8, count);
}

void WriteBatchInternal::AddFlags(WriteBatch* batch, uint32_t flags) {
  batch->content_flags_.store(batch->content_flags_.load(std::memory_order_relaxed) | flags,
                              std::memory_order_relaxed);
}

Status WriteBatchInternal::SetContents(WriteBatch* batch, const Slice& contents) {
  if (contents.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  batch->rep_.assign(contents.data(), contents.size());
  batch->protection_.reset();
  batch->content_flags_.store(kBatchDeferred, std::memory_order_relaxed);
  return Status::OK();
}

Status WriteBatchInternal::Append(WriteBatch* dst, const WriteBatch* src, bool wal_only) {
  if (src->rep_.size() < kBatchHeaderBytes || dst->rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  const rocksdb::SavePoint& end = src->GetWalTerminationPoint();
  size_t bytes = src->rep_.size() - kBatchHeaderBytes;
  uint32_t count = Count(src);
  uint32_t flags = src->content_flags_.load(std::memory_order_relaxed);
  if (wal_only && !end.is_cleared()) {
    bytes = end.size - kBatchHeaderBytes;
    count = static_cast<uint32_t>(end.count);
    flags = end.content_flags;
  }
  if (count > std::numeric_limits<uint32_t>::max() - Count(dst)) {
    return Status::InvalidArgument("too many records in one WriteBatch");
  }
  SetCount(dst, Count(dst) + count);
  const size_t old_size = dst->rep_.size();
  dst->rep_.append(src->rep_.data() + kBatchHeaderBytes, bytes);
  AddFlags(dst, flags);
  if (dst->protection_ == nullptr) return Status::OK();
  if (src->protection_ == nullptr) return AddChecksums(dst, old_size);
  const std::vector<uint64_t>& from = src->protection_->checksums;
  std::vector<uint64_t>* const to = &dst->protection_->checksums;
  to->insert(to->end(), from.begin(), from.begin() + std::min<size_t>(count, from.size()));
  return Status::OK();
}

Status WriteBatchInternal::AddChecksums(WriteBatch* batch, size_t begin) {
  Slice input(batch->rep_);
  input.remove_prefix(begin);
  for (BatchRecord record; !input.empty();) {
    if (Status s = ReadBatchRecord(&input, &record); !s.ok()) return s;
    if (!record.IsData()) continue;
    batch->protection_->checksums.push_back(
        ChecksumOfWrite(record.tag, record.column_family, record.key, record.value));
  }
  return Status::OK();
}

Status WriteBatchInternal::Protect(WriteBatch* batch) {
  if (batch->protection_ != nullptr) return Status::OK();
  if (Status s = CheckSupported(batch); !s.ok()) return s;
  batch->protection_ = std::make_unique<WriteBatch::ProtectionInfo>();
  return AddChecksums(batch, kBatchHeaderBytes);
}

size_t WriteBatchInternal::AppendedByteSize(size_t left, size_t right) {
  if (left == 0 || right == 0) return left + right;
  return left + right - kBatchHeaderBytes;
}

Status WriteBatchInternal::CheckSupported(const WriteBatch* batch) {
  const uint32_t flags = batch->content_flags_.load(std::memory_order_relaxed);
  if (flags & kBatchAskedForProtection) {
    return Status::NotSupported("WriteBatch: protection_bytes_per_key must be 0 or 8");
  }
  if (batch->rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  return Status::OK();
}

Status WriteBatchInternal::CheckSizes(uint64_t key_bytes, uint64_t value_bytes) {
  constexpr uint64_t kMost = kMaxSliceBytes - (1 << 20);
  if (key_bytes <= kMost && value_bytes <= kMost - key_bytes) [[likely]] return Status::OK();
  return Status::InvalidArgument("a key of " + std::to_string(key_bytes) + " bytes and a value of " + std::to_string(value_bytes),
                                 "are too large together: " + std::to_string(kMost) + " bytes are the most");
}

Status WriteBatchInternal::AddRecord(WriteBatch* batch, ValueType tag, ValueType tag_with_family,
                                     uint32_t column_family, const SliceParts& key,
                                     const SliceParts* value, const char* second_name) {
  Status s = CheckSupported(batch);
  if (!s.ok()) return s;
  if (TotalBytes(key) > kMaxSliceBytes) return Status::InvalidArgument("key is too large");
  if (value != nullptr && TotalBytes(*value) > kMaxSliceBytes) {
    return Status::InvalidArgument(std::string(second_name) + " is too large");
  }
  if (s = CheckSizes(TotalBytes(key), value == nullptr ? 0 : TotalBytes(*value)); !s.ok()) return s;
  const uint32_t count = Count(batch);
  if (count == std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("too many records in one WriteBatch");
  }
  std::string* rep = &batch->rep_;
  const size_t old_size = rep->size();
  if (column_family == 0) {
    rep->push_back(static_cast<char>(tag));
  } else {
    rep->push_back(static_cast<char>(tag_with_family));
    PutVarint32(rep, column_family);
  }
  PutParts(rep, key);
  if (value != nullptr) PutParts(rep, *value);
  if (batch->max_bytes_ != 0 && rep->size() > batch->max_bytes_) {
    rep->resize(old_size);
    return Status::MemoryLimit();
  }
  if (batch->protection_ != nullptr) {
    batch->protection_->checksums.push_back(ChecksumOfParts(tag, column_family, key, value));
  }
  SetCount(batch, count + 1);
  AddFlags(batch, ContentFlagOfTag(tag));
  return Status::OK();
}

Status WriteBatchInternal::AddRecord(WriteBatch* batch, ValueType tag, ValueType tag_with_family,
                                     ColumnFamilyHandle* column_family, const SliceParts& key,
                                     const SliceParts* value, const char* second_name) {
  const uint32_t id = ColumnFamilyId(column_family);
  size_t ts_size = batch->default_cf_ts_sz_;
  if (column_family != nullptr) {
    ts_size = ColumnFamilyTimestampSize(column_family);
    if (id == 0 && ts_size != batch->default_cf_ts_sz_) {
      return Status::InvalidArgument("Default cf timestamp size mismatch");
    }
  }
  if (ts_size == 0) {
    return AddRecord(batch, tag, tag_with_family, id, key, value, second_name);
  }
  if (tag == kTypeMerge || tag == kTypeWideColumnEntity) {
    return Status::InvalidArgument("Cannot call this method on column family enabling timestamp");
  }
  const std::string room(ts_size, '\0');
  Status s = WithTimestamp(key, tag == kTypeRangeDeletion ? value : nullptr, room,
                           [&](const SliceParts& timed, const SliceParts* timed_end) {
                             return AddRecord(batch, tag, tag_with_family, id, timed,
                                              timed_end != nullptr ? timed_end : value,
                                              second_name);
                           });
  if (s.ok()) batch->needs_timestamps_ = true;
  return s;
}

Status WriteBatchInternal::AddTimedRecord(WriteBatch* batch, ValueType tag,
                                          ValueType tag_with_family,
                                          ColumnFamilyHandle* column_family, const Slice& key,
                                          const Slice& ts, const Slice* value) {
  if (column_family == nullptr) {
    return Status::InvalidArgument("column family handle cannot be null");
  }
  const size_t ts_size = ColumnFamilyTimestampSize(column_family);
  if (ts_size == 0) return Status::InvalidArgument("timestamp disabled");
  if (ts_size != ts.size()) return Status::InvalidArgument("timestamp size mismatch");
  const SliceParts second(value, value != nullptr ? 1 : 0);
  const SliceParts* const second_or_none = value != nullptr ? &second : nullptr;
  return WithTimestamp(SliceParts(&key, 1),
                       tag == kTypeRangeDeletion ? second_or_none : nullptr, ts,
                       [&](const SliceParts& timed, const SliceParts* timed_end) {
                         return AddRecord(batch, tag, tag_with_family,
                                          ColumnFamilyId(column_family), timed,
                                          timed_end != nullptr ? timed_end : second_or_none,
                                          tag == kTypeRangeDeletion ? "end key" : "value");
                       });
}

Status WriteBatchInternal::Put(WriteBatch* batch, uint32_t column_family, const Slice& key,
                               const Slice& value) {
  const SliceParts value_parts(&value, 1);
  return AddRecord(batch, kTypeValue, kTypeColumnFamilyValue, column_family, SliceParts(&key, 1),
                   &value_parts);
}
Status WriteBatchInternal::PutEntity(WriteBatch* batch, uint32_t column_family, const Slice& key,
                                     const Slice& entity) {
  const SliceParts entity_parts(&entity, 1);
  return AddRecord(batch, kTypeWideColumnEntity, kTypeColumnFamilyWideColumnEntity, column_family,
                   SliceParts(&key, 1), &entity_parts, "entity");
}
Status WriteBatchInternal::Delete(WriteBatch* batch, uint32_t column_family, const Slice& key) {
  return AddRecord(batch, kTypeDeletion, kTypeColumnFamilyDeletion, column_family,
                   SliceParts(&key, 1), nullptr);
}
Status WriteBatchInternal::SingleDelete(WriteBatch* batch, uint32_t column_family,
                                        const Slice& key) {
  return AddRecord(batch, kTypeSingleDeletion, kTypeColumnFamilySingleDeletion, column_family,
                   SliceParts(&key, 1), nullptr);
}
Status WriteBatchInternal::DeleteRange(WriteBatch* batch, uint32_t column_family,
                                       const Slice& begin, const Slice& end) {
  const SliceParts end_parts(&end, 1);
  return AddRecord(batch, kTypeRangeDeletion, kTypeColumnFamilyRangeDeletion, column_family,
                   SliceParts(&begin, 1), &end_parts, "end key");
}
Status WriteBatchInternal::Merge(WriteBatch* batch, uint32_t column_family, const Slice& key,
                                 const Slice& value) {
  const SliceParts value_parts(&value, 1);
  return AddRecord(batch, kTypeMerge, kTypeColumnFamilyMerge, column_family, SliceParts(&key, 1),
                   &value_parts);
}

Status WriteBatchInternal::InsertNoop(WriteBatch* batch) {
  batch->rep_.push_back(static_cast<char>(kTypeNoop));
  return Status::OK();
}

Status WriteBatchInternal::MarkEndPrepare(WriteBatch* batch, const Slice& xid,
                                          bool write_after_commit, bool unprepared_batch) {
  if (batch->rep_.size() <= kBatchHeaderBytes || batch->rep_[kBatchHeaderBytes] != kTypeNoop) {
    return Status::InvalidArgument("a prepared WriteBatch must start with a Noop");
  }
  const uint8_t begin = write_after_commit ? uint8_t{kTypeBeginPrepareXID}
                        : unprepared_batch ? kTagBeginUnprepareXID
                                           : kTagBeginPersistedPrepareXID;
  batch->rep_[kBatchHeaderBytes] = static_cast<char>(begin);
  batch->rep_.push_back(static_cast<char>(kTypeEndPrepareXID));
  PutLengthPrefixedSlice(&batch->rep_, xid);
  AddFlags(batch, kBatchHasEndPrepare | ContentFlagOfTag(begin));
  while (batch->PopSavePoint().ok()) {
  }
  return Status::OK();
}
Status WriteBatchInternal::MarkCommit(WriteBatch* batch, const Slice& xid) {
  batch->rep_.push_back(static_cast<char>(kTypeCommitXID));
  PutLengthPrefixedSlice(&batch->rep_, xid);
  AddFlags(batch, kBatchHasCommit);
  return Status::OK();
}
Status WriteBatchInternal::MarkCommitWithTimestamp(WriteBatch* batch, const Slice& xid,
                                                   const Slice& timestamp) {
  batch->rep_.push_back(static_cast<char>(kTagCommitXIDAndTimestamp));
  PutLengthPrefixedSlice(&batch->rep_, timestamp);
  PutLengthPrefixedSlice(&batch->rep_, xid);
  AddFlags(batch, kBatchHasCommit);
  return Status::OK();
}
Status WriteBatchInternal::MarkRollback(WriteBatch* batch, const Slice& xid) {
  batch->rep_.push_back(static_cast<char>(kTypeRollbackXID));
  PutLengthPrefixedSlice(&batch->rep_, xid);
  AddFlags(batch, kBatchHasRollback);
  return Status::OK();
}

}  // namespace compassdb
