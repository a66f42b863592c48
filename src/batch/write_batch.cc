// SPDX-License-Identifier: Apache-2.0
// rocksdb::WriteBatch. The format is in batch/batch_record.h.
#include "rocksdb/write_batch.h"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "api/wide_column_codec.h"
#include "batch/batch_protection.h"
#include "batch/write_batch_internal.h"

namespace ROCKSDB_NAMESPACE {

using namespace compassdb;  // NOLINT: the internals of this class

struct SavePoints {
  std::vector<SavePoint> stack;
};

namespace {

constexpr uint32_t kSticky = kBatchAskedForProtection;

// Finds out which kinds of records a batch from outside holds.
class Classifier : public WriteBatch::Handler {
 public:
  uint32_t flags = 0;

  Status PutCF(uint32_t, const Slice&, const Slice&) override { return Saw(kBatchHasPut); }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override {
    return Saw(kBatchHasPutEntity);
  }
  Status DeleteCF(uint32_t, const Slice&) override { return Saw(kBatchHasDelete); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Saw(kBatchHasSingleDelete); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override {
    return Saw(kBatchHasDeleteRange);
  }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Saw(kBatchHasMerge); }
  Status PutBlobIndexCF(uint32_t, const Slice&, const Slice&) override {
    return Saw(kBatchHasBlobIndex);
  }
  Status MarkBeginPrepare(bool unprepare) override {
    return Saw(kBatchHasBeginPrepare | (unprepare ? kBatchHasBeginUnprepare : 0u));
  }
  Status MarkEndPrepare(const Slice&) override { return Saw(kBatchHasEndPrepare); }
  Status MarkNoop(bool) override { return Status::OK(); }
  Status MarkCommit(const Slice&) override { return Saw(kBatchHasCommit); }
  Status MarkCommitWithTimestamp(const Slice&, const Slice&) override {
    return Saw(kBatchHasCommit);
  }
  Status MarkRollback(const Slice&) override { return Saw(kBatchHasRollback); }

 private:
  Status Saw(uint32_t flag) {
    flags |= flag;
    return Status::OK();
  }
};

}  // namespace

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                       size_t default_cf_ts_sz)
    : content_flags_(
          protection_bytes_per_key % kProtectionBytes != 0 || protection_bytes_per_key > kProtectionBytes
              ? kBatchAskedForProtection
              : 0u),
      max_bytes_(max_bytes),
      protection_(protection_bytes_per_key == kProtectionBytes ? new ProtectionInfo() : nullptr),
      default_cf_ts_sz_(default_cf_ts_sz) {
  rep_.reserve(reserved_bytes > kBatchHeaderBytes ? reserved_bytes : kBatchHeaderBytes);
  rep_.resize(kBatchHeaderBytes);
}

WriteBatch::WriteBatch(const std::string& rep)
    : content_flags_(kBatchDeferred), max_bytes_(0), rep_(rep) {}
WriteBatch::WriteBatch(std::string&& rep)
    : content_flags_(kBatchDeferred), max_bytes_(0), rep_(std::move(rep)) {}

WriteBatch::WriteBatch(const WriteBatch& src)
    : wal_term_point_(src.wal_term_point_),
      needs_timestamps_(src.needs_timestamps_),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      max_bytes_(src.max_bytes_),
      protection_(src.protection_ == nullptr ? nullptr : new ProtectionInfo(*src.protection_)),
      default_cf_ts_sz_(src.default_cf_ts_sz_),
      rep_(src.rep_) {
  if (src.save_points_ != nullptr) save_points_.reset(new SavePoints(*src.save_points_));
}

WriteBatch::WriteBatch(WriteBatch&& src) noexcept
    : save_points_(std::move(src.save_points_)),
      wal_term_point_(src.wal_term_point_),
      needs_timestamps_(src.needs_timestamps_),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      max_bytes_(src.max_bytes_),
      protection_(std::move(src.protection_)),
      default_cf_ts_sz_(src.default_cf_ts_sz_),
      rep_(std::move(src.rep_)) {
  src.rep_.assign(kBatchHeaderBytes, '\0');  // fits the string itself: does not allocate
}

WriteBatch& WriteBatch::operator=(const WriteBatch& src) {
  if (&src != this) {
    this->~WriteBatch();
    new (this) WriteBatch(src);
  }
  return *this;
}

WriteBatch& WriteBatch::operator=(WriteBatch&& src) {
  if (&src != this) {
    this->~WriteBatch();
    new (this) WriteBatch(std::move(src));
  }
  return *this;
}

WriteBatch::~WriteBatch() = default;

WriteBatch::Handler::~Handler() = default;
void WriteBatch::Handler::LogData(const Slice& /*blob*/) {}
bool WriteBatch::Handler::Continue() { return true; }

void WriteBatch::Clear() {
  rep_.clear();
  rep_.resize(kBatchHeaderBytes);
  content_flags_.store(content_flags_.load(std::memory_order_relaxed) & kSticky,
                       std::memory_order_relaxed);
  needs_timestamps_ = false;
  if (save_points_ != nullptr) save_points_->stack.clear();
  if (protection_ != nullptr) protection_->checksums.clear();
  wal_term_point_.clear();
}

uint32_t WriteBatch::Count() const { return WriteBatchInternal::Count(this); }

uint32_t WriteBatch::ComputeContentFlags() const {
  uint32_t flags = content_flags_.load(std::memory_order_relaxed);
  if (flags & kBatchDeferred) {
    Classifier classifier;
    // What comes before malformed bytes still counts; Iterate reports them.
    Iterate(&classifier).PermitUncheckedError();
    flags = classifier.flags | (flags & kSticky);
    content_flags_.store(flags, std::memory_order_relaxed);
  }
  return flags;
}

bool WriteBatch::HasPut() const { return (ComputeContentFlags() & kBatchHasPut) != 0; }
bool WriteBatch::HasPutEntity() const {
  return (ComputeContentFlags() & kBatchHasPutEntity) != 0;
}
bool WriteBatch::HasDelete() const { return (ComputeContentFlags() & kBatchHasDelete) != 0; }
bool WriteBatch::HasSingleDelete() const {
  return (ComputeContentFlags() & kBatchHasSingleDelete) != 0;
}
bool WriteBatch::HasDeleteRange() const {
  return (ComputeContentFlags() & kBatchHasDeleteRange) != 0;
}
bool WriteBatch::HasMerge() const { return (ComputeContentFlags() & kBatchHasMerge) != 0; }
bool WriteBatch::HasBeginPrepare() const {
  return (ComputeContentFlags() & kBatchHasBeginPrepare) != 0;
}
bool WriteBatch::HasEndPrepare() const {
  return (ComputeContentFlags() & kBatchHasEndPrepare) != 0;
}
bool WriteBatch::HasCommit() const { return (ComputeContentFlags() & kBatchHasCommit) != 0; }
bool WriteBatch::HasRollback() const { return (ComputeContentFlags() & kBatchHasRollback) != 0; }

Status WriteBatch::Iterate(Handler* handler) const {
  if (rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  return WriteBatchInternal::Iterate(this, handler, kBatchHeaderBytes, rep_.size());
}

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return Put(column_family, SliceParts(&key, 1), SliceParts(&value, 1));
}
Status WriteBatch::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value) {
  return WriteBatchInternal::AddRecord(this, kTypeValue, kTypeColumnFamilyValue, column_family,
                                       key, &value);
}
Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) {
  return WriteBatchInternal::AddTimedRecord(this, kTypeValue, kTypeColumnFamilyValue,
                                            column_family, key, ts, &value);
}

Status WriteBatch::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                             const WideColumns& columns) {
  if (column_family == nullptr) {
    return Status::InvalidArgument("Cannot call this method without a column family handle");
  }
  std::string entity;
  if (Status s = EncodeWideColumns(columns, &entity); !s.ok()) return s;
  const Slice stored(entity);
  const SliceParts value(&stored, 1);
  return WriteBatchInternal::AddRecord(this, kTypeWideColumnEntity,
                                       kTypeColumnFamilyWideColumnEntity, column_family,
                                       SliceParts(&key, 1), &value, "entity");
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return Delete(column_family, SliceParts(&key, 1));
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddRecord(this, kTypeDeletion, kTypeColumnFamilyDeletion,
                                       column_family, key, nullptr);
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key,
                          const Slice& ts) {
  return WriteBatchInternal::AddTimedRecord(this, kTypeDeletion, kTypeColumnFamilyDeletion,
                                            column_family, key, ts, nullptr);
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return SingleDelete(column_family, SliceParts(&key, 1));
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddRecord(this, kTypeSingleDeletion, kTypeColumnFamilySingleDeletion,
                                       column_family, key, nullptr);
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& ts) {
  return WriteBatchInternal::AddTimedRecord(this, kTypeSingleDeletion,
                                            kTypeColumnFamilySingleDeletion, column_family, key,
                                            ts, nullptr);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) {
  return DeleteRange(column_family, SliceParts(&begin_key, 1), SliceParts(&end_key, 1));
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                               const SliceParts& end_key) {
  return WriteBatchInternal::AddRecord(this, kTypeRangeDeletion, kTypeColumnFamilyRangeDeletion,
                                       column_family, begin_key, &end_key, "end key");
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key, const Slice& ts) {
  return WriteBatchInternal::AddTimedRecord(this, kTypeRangeDeletion,
                                            kTypeColumnFamilyRangeDeletion, column_family,
                                            begin_key, ts, &end_key);
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                         const Slice& value) {
  return Merge(column_family, SliceParts(&key, 1), SliceParts(&value, 1));
}
Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                         const SliceParts& value) {
  return WriteBatchInternal::AddRecord(this, kTypeMerge, kTypeColumnFamilyMerge, column_family,
                                       key, &value);
}

Status WriteBatch::PutLogData(const Slice& blob) {
  if (blob.size() > UINT32_MAX) return Status::InvalidArgument("blob is too large");
  const size_t old_size = rep_.size();
  rep_.push_back(static_cast<char>(kTypeLogData));
  PutLengthPrefixedSlice(&rep_, blob);
  if (max_bytes_ != 0 && rep_.size() > max_bytes_) {
    rep_.resize(old_size);
    return Status::MemoryLimit();
  }
  return Status::OK();
}

void WriteBatch::SetSavePoint() {
  if (save_points_ == nullptr) save_points_.reset(new SavePoints());
  save_points_->stack.emplace_back(GetDataSize(), static_cast<int>(Count()),
                                   content_flags_.load(std::memory_order_relaxed));
}

Status WriteBatch::RollbackToSavePoint() {
  if (save_points_ == nullptr || save_points_->stack.empty()) return Status::NotFound();
  const SavePoint point = save_points_->stack.back();
  save_points_->stack.pop_back();
  if (point.size < rep_.size()) {
    rep_.resize(point.size);
    WriteBatchInternal::SetCount(this, static_cast<uint32_t>(point.count));
    content_flags_.store(point.content_flags, std::memory_order_relaxed);
    if (protection_ != nullptr) protection_->checksums.resize(static_cast<size_t>(point.count));
  }
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (save_points_ == nullptr || save_points_->stack.empty()) return Status::NotFound();
  save_points_->stack.pop_back();
  return Status::OK();
}

void WriteBatch::MarkWalTerminationPoint() {
  wal_term_point_.size = GetDataSize();
  wal_term_point_.count = static_cast<int>(Count());
  wal_term_point_.content_flags = content_flags_.load(std::memory_order_relaxed);
}

Status WriteBatch::UpdateTimestamps(const Slice& ts,
                                    std::function<size_t(uint32_t)> ts_sz_func) {
  if (rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  if (Status s = VerifyChecksum(); !s.ok()) return s;
  const auto put = [&](const Slice& key) {
    if (key.size() < ts.size()) return Status::Corruption("WriteBatch: a key without timestamp");
    memcpy(&rep_[static_cast<size_t>(key.data() + key.size() - ts.size() - rep_.data())],
           ts.data(), ts.size());
    return Status::OK();
  };
  Slice input(rep_);
  input.remove_prefix(kBatchHeaderBytes);
  for (BatchRecord record; !input.empty();) {
    if (Status s = ReadBatchRecord(&input, &record); !s.ok()) return s;
    if (!record.IsData()) continue;
    const size_t size = ts_sz_func(record.column_family);
    if (size == 0) continue;
    if (size == std::numeric_limits<size_t>::max()) return Status::NotFound();
    if (size != ts.size()) return Status::InvalidArgument("timestamp size mismatch");
    Status s = put(record.key);
    if (s.ok() && record.tag == kTypeRangeDeletion) s = put(record.value);
    if (!s.ok()) return s;
  }
  needs_timestamps_ = false;
  if (protection_ == nullptr) return Status::OK();
  protection_->checksums.clear();
  return WriteBatchInternal::AddChecksums(this, kBatchHeaderBytes);
}

Status WriteBatch::VerifyChecksum() const {
  if (protection_ == nullptr) return Status::OK();
  if (rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  Slice input(rep_);
  input.remove_prefix(kBatchHeaderBytes);
  size_t found = 0;
  for (BatchRecord record; !input.empty();) {
    Status s = ReadBatchRecord(&input, &record);
    if (s.ok() && record.IsData()) s = CheckProtected(*protection_, found++, record);
    if (!s.ok()) return s;
  }
  if (found == protection_->checksums.size()) return Status::OK();
  return Status::Corruption("WriteBatch: " + std::to_string(protection_->checksums.size()) +
                            " checksums of " + std::to_string(found) + " writes");
}

size_t WriteBatch::GetProtectionBytesPerKey() const {
  return protection_ == nullptr ? 0 : kProtectionBytes;
}

}  // namespace ROCKSDB_NAMESPACE
