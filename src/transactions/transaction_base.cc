// SPDX-License-Identifier: Apache-2.0
#include "transactions/transaction_base.h"

#include <algorithm>
#include <utility>

#include "batch/slice_parts.h"
#include "batch/write_batch_internal.h"
#include "format/user_timestamp.h"

namespace compassdb {
namespace {

// Does the writes of a batch in a transaction.
class Rebuilder final : public rocksdb::WriteBatch::Handler {
 public:
  Rebuilder(rocksdb::Transaction* transaction, ExtendedDB* engine, bool from_log)
      : transaction_(transaction), engine_(engine), from_log_(from_log) {}

  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (Gone(id)) return WriteBatchInternal::Put(Raw(), id, key, value);
    return In(id, [&](auto* family) { return transaction_->Put(family, Bare(family, key), value); });
  }
  Status DeleteCF(uint32_t id, const Slice& key) override {
    if (Gone(id)) return WriteBatchInternal::Delete(Raw(), id, key);
    return In(id, [&](auto* family) { return transaction_->Delete(family, Bare(family, key)); });
  }
  Status SingleDeleteCF(uint32_t id, const Slice& key) override {
    if (Gone(id)) return WriteBatchInternal::SingleDelete(Raw(), id, key);
    return In(id, [&](auto* family) { return transaction_->SingleDelete(family, Bare(family, key)); });
  }
  Status MergeCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (Gone(id)) return WriteBatchInternal::Merge(Raw(), id, key, value);
    return In(id, [&](auto* family) { return transaction_->Merge(family, key, value); });
  }
  Status MarkBeginPrepare(bool) override { return Refuse(); }
  Status MarkEndPrepare(const Slice&) override { return Refuse(); }
  Status MarkCommit(const Slice&) override { return Refuse(); }
  Status MarkCommitWithTimestamp(const Slice&, const Slice&) override { return Refuse(); }
  Status MarkRollback(const Slice&) override { return Refuse(); }
  Status MarkNoop(bool) override { return Status::OK(); }

 private:
  template <typename Do>
  Status In(uint32_t id, const Do& what) {
    if (id == 0) return what(static_cast<ColumnFamilyHandle*>(engine_->DefaultColumnFamily()));
    const std::shared_ptr<ColumnFamily> family = engine_->FamilyById(id);
    if (family == nullptr) {
      return Status::InvalidArgument("Invalid column family specified in write batch",
                                     "id " + std::to_string(id));
    }
    ColumnFamilyHandleImpl handle(family, nullptr);
    return what(static_cast<ColumnFamilyHandle*>(&handle));
  }
  // The commit sets the timestamps.
  static Slice Bare(ColumnFamilyHandle* family, const Slice& key) {
    return StripTimestamp(key, std::min(key.size(), FamilyOf(family)->timestamp_size()));
  }
  bool Gone(uint32_t id) const { return from_log_ && engine_->FamilyById(id) == nullptr; }
  rocksdb::WriteBatch* Raw() const { return transaction_->GetWriteBatch()->GetWriteBatch(); }
  static Status Refuse() {
    return Status::InvalidArgument("a batch with marks of two-phase commit cannot be rebuilt");
  }

  rocksdb::Transaction* const transaction_;
  ExtendedDB* const engine_;
  const bool from_log_;
};

}  // namespace

Status CheckForConflicts(ExtendedDB* engine, const TrackedKeys& keys) {
  for (const auto& [id, tracked] : keys.families()) {
    if (tracked.empty()) continue;
    const std::shared_ptr<ColumnFamily> family = engine->FamilyById(id);
    if (family == nullptr) {
      return Status::InvalidArgument("Could not access column family " + std::to_string(id));
    }
    ColumnFamilyHandleImpl handle(family, nullptr);
    for (const auto& [key, info] : tracked) {
      SequenceNumber newest = 0;
      Status s = engine->NewestSequence(&handle, key, info.sequence, &newest, nullptr);
      if (!s.ok()) return s;
      if (newest > info.sequence) return Status::Busy();
    }
  }
  return Status::OK();
}

TransactionBase::TransactionBase(rocksdb::DB* db, ExtendedDB* engine,
                                 const WriteOptions& write_options, const Comparator* comparator)
    : db_(db),
      engine_(engine),
      write_options_(write_options),
      batch_(comparator, 0, /*overwrite_key=*/true),
      commit_time_batch_(0, 0, 0, comparator->timestamp_size()) {
  start_micros_ = NowMicros();
  WriteBatchInternal::InsertNoop(batch_.GetWriteBatch()).PermitUncheckedError();  // cannot fail
}

TransactionBase::~TransactionBase() = default;

uint64_t TransactionBase::NowMicros() const { return db_->GetEnv()->NowMicros(); }

uint64_t TransactionBase::GetElapsedTime() const { return (NowMicros() - start_micros_) / 1000; }

void TransactionBase::Clear() {
  save_points_.clear();
  batch_.Clear();
  commit_time_batch_.Clear();
  tracked_.Clear();
  counts_ = Counts();
  WriteBatchInternal::InsertNoop(batch_.GetWriteBatch()).PermitUncheckedError();  // cannot fail
}

void TransactionBase::Restart(const WriteOptions& write_options) {
  Clear();
  ClearSnapshot();
  id_ = 0;
  name_.clear();
  log_number_ = 0;
  write_options_ = write_options;
  start_micros_ = NowMicros();
  indexing_ = true;
}

std::shared_ptr<const Snapshot> TransactionBase::NewSnapshot() const {
  return {db_->GetSnapshot(),
          [db = db_](const Snapshot* snapshot) { db->ReleaseSnapshot(snapshot); }};
}

void TransactionBase::SetSnapshot() {
  snapshot_ = NewSnapshot();
  snapshot_needed_ = false;
  notifier_ = nullptr;
}

void TransactionBase::SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) {
  snapshot_needed_ = true;
  notifier_ = std::move(notifier);
}

void TransactionBase::SetSnapshotIfNeeded() {
  if (!snapshot_needed_) return;
  const std::shared_ptr<TransactionNotifier> notifier = notifier_;
  SetSnapshot();
  if (notifier != nullptr) notifier->SnapshotCreated(GetSnapshot());
}

void TransactionBase::ClearSnapshot() {
  snapshot_.reset();
  snapshot_needed_ = false;
  notifier_ = nullptr;
}

void TransactionBase::SetSavePoint() {
  save_points_.push_back({snapshot_, snapshot_needed_, notifier_, counts_, TrackedKeys()});
  batch_.SetSavePoint();
}

Status TransactionBase::RollbackToSavePoint() {
  if (Inherited()) return InheritedStatus();
  if (save_points_.empty()) return Status::NotFound();
  SavePoint& point = save_points_.back();
  snapshot_ = point.snapshot;
  snapshot_needed_ = point.snapshot_needed;
  notifier_ = point.notifier;
  counts_ = point.counts;
  Status s = batch_.RollbackToSavePoint();
  tracked_.Subtract(point.tracked);
  save_points_.pop_back();
  return s;
}

Status TransactionBase::PopSavePoint() {
  if (Inherited()) return InheritedStatus();
  if (save_points_.empty()) return Status::NotFound();
  if (save_points_.size() > 1) {
    save_points_[save_points_.size() - 2].tracked.Merge(save_points_.back().tracked);
  }
  save_points_.pop_back();
  return batch_.PopSavePoint();
}

void TransactionBase::DropSavePoints() {
  while (PopSavePoint().ok()) {
  }
}

void TransactionBase::Track(uint32_t family, const std::string& key, SequenceNumber sequence,
                            bool read_only, bool exclusive) {
  tracked_.Track(family, key, sequence, read_only, exclusive);
  if (!save_points_.empty()) {
    save_points_.back().tracked.Track(family, key, sequence, read_only, exclusive);
  }
}

void TransactionBase::UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) {
  if (Inherited()) return;
  const uint32_t id = HandleOf(family)->GetID();
  const std::string name = key.ToString();
  // A read before the save point stays: a rollback returns to it.
  if (!save_points_.empty() &&
      save_points_.back().tracked.UndoRead(id, name) == TrackedKeys::Undone::kNothing) {
    return;
  }
  if (tracked_.UndoRead(id, name) == TrackedKeys::Undone::kAll) Unlock(id, name);
}

Status TransactionBase::RebuildFromWriteBatch(rocksdb::WriteBatch* source) {
  if (Inherited()) return InheritedStatus();
  Rebuilder rebuilder(this, engine_, /*from_log=*/false);
  return source->Iterate(&rebuilder);
}

Status TransactionBase::RebuildFromLog(const rocksdb::WriteBatch& source) {
  Rebuilder rebuilder(this, engine_, /*from_log=*/true);
  return source.Iterate(&rebuilder);
}

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, PinnableSlice* value) {
  if (Inherited()) return InheritedStatus();
  return batch_.GetFromBatchAndDB(db_, options, HandleOf(family), key, value);
}
Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, std::string* value) {
  if (Inherited()) return InheritedStatus();
  return batch_.GetFromBatchAndDB(db_, options, HandleOf(family), key, value);
}
Status TransactionBase::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return Get(options, nullptr, key, value);
}
Status TransactionBase::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return Get(options, nullptr, key, value);
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, PinnableSlice* value, bool exclusive,
                                     bool do_validate) {
  if (Inherited()) return InheritedStatus();
  if (!do_validate && options.snapshot != nullptr) {
    return Status::InvalidArgument(
        "If do_validate is false then GetForUpdate with snapshot is not defined.");
  }
  Status s = TryLock(HandleOf(family), key, /*read_only=*/true, exclusive, do_validate,
                     /*assume_tracked=*/false);
  if (s.ok() && value != nullptr) s = Get(options, family, key, value);
  return s;
}
Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, std::string* value, bool exclusive,
                                     bool do_validate) {
  PinnableSlice* nothing = nullptr;
  if (value == nullptr) return GetForUpdate(options, family, key, nothing, exclusive, do_validate);
  PinnableSlice found(value);
  Status s = GetForUpdate(options, family, key, &found, exclusive, do_validate);
  if (s.ok() && found.IsPinned()) value->assign(found.data(), found.size());
  return s;
}
Status TransactionBase::GetForUpdate(const ReadOptions& options, const Slice& key,
                                     std::string* value, bool exclusive, bool do_validate) {
  return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
}

std::vector<Status> TransactionBase::MultiGet(const ReadOptions& options,
                                              const std::vector<ColumnFamilyHandle*>& families,
                                              const std::vector<Slice>& keys,
                                              std::vector<std::string>* values) {
  std::vector<Status> statuses;
  values->resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    statuses.push_back(Get(options, families[i], keys[i], &(*values)[i]));
  }
  return statuses;
}
std::vector<Status> TransactionBase::MultiGet(const ReadOptions& options,
                                              const std::vector<Slice>& keys,
                                              std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), nullptr), keys, values);
}
void TransactionBase::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family,
                               size_t num_keys, const Slice* keys, PinnableSlice* values,
                               Status* statuses, bool sorted_input) {
  if (Inherited()) return std::fill_n(statuses, num_keys, InheritedStatus()), void();
  batch_.MultiGetFromBatchAndDB(db_, options, HandleOf(family), num_keys, keys, values, statuses,
                                sorted_input);
}

std::vector<Status> TransactionBase::MultiGetForUpdate(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  values->resize(keys.size());
  if (Inherited()) return std::vector<Status>(keys.size(), InheritedStatus());
  for (size_t i = 0; i < keys.size(); ++i) {
    Status s = TryLock(HandleOf(families[i]), keys[i], /*read_only=*/true, /*exclusive=*/true,
                       /*do_validate=*/true, /*assume_tracked=*/false);
    if (!s.ok()) return std::vector<Status>(keys.size(), s);
  }
  return MultiGet(options, families, keys, values);
}
std::vector<Status> TransactionBase::MultiGetForUpdate(const ReadOptions& options,
                                                       const std::vector<Slice>& keys,
                                                       std::vector<std::string>* values) {
  return MultiGetForUpdate(options, std::vector<ColumnFamilyHandle*>(keys.size(), nullptr), keys,
                           values);
}

Iterator* TransactionBase::GetIterator(const ReadOptions& options) {
  return GetIterator(options, nullptr);
}
Iterator* TransactionBase::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  if (Inherited()) return rocksdb::NewErrorIterator(InheritedStatus());
  ColumnFamilyHandle* const handle = HandleOf(family);
  return batch_.NewIteratorWithBase(handle, db_->NewIterator(options, handle), &options);
}

template <typename Add>
Status TransactionBase::Write(ColumnFamilyHandle* family, const Slice& key, Taking taking,
                              uint64_t* count, const Add& add) {
  if (Inherited()) return InheritedStatus();
  Status s = TryLock(HandleOf(family), key, /*read_only=*/false, /*exclusive=*/true,
                     /*do_validate=*/taking == Taking::kTracked,
                     /*assume_tracked=*/taking == Taking::kAssumed);
  if (s.ok()) s = indexing_ ? add(&batch_) : add(batch_.GetWriteBatch());
  if (s.ok()) ++*count;
  return s;
}

Status TransactionBase::AddPut(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                               Taking taking) {
  return Write(family, key, taking, &counts_.puts, [&](rocksdb::WriteBatchBase* batch) {
    return batch->Put(HandleOf(family), key, value);
  });
}
Status TransactionBase::AddMerge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                                 Taking taking) {
  return Write(family, key, taking, &counts_.merges, [&](rocksdb::WriteBatchBase* batch) {
    return batch->Merge(HandleOf(family), key, value);
  });
}
Status TransactionBase::AddDelete(ColumnFamilyHandle* family, const Slice& key, Taking taking) {
  return Write(family, key, taking, &counts_.deletes, [&](rocksdb::WriteBatchBase* batch) {
    return batch->Delete(HandleOf(family), key);
  });
}
Status TransactionBase::AddSingleDelete(ColumnFamilyHandle* family, const Slice& key,
                                        Taking taking) {
  return Write(family, key, taking, &counts_.deletes, [&](rocksdb::WriteBatchBase* batch) {
    return batch->SingleDelete(HandleOf(family), key);
  });
}

Status TransactionBase::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                            bool assume_tracked) {
  return AddPut(family, key, value, AssumedIf(assume_tracked));
}
Status TransactionBase::Put(const Slice& key, const Slice& value) {
  return AddPut(nullptr, key, value, Taking::kTracked);
}
Status TransactionBase::Put(ColumnFamilyHandle* family, const SliceParts& key,
                            const SliceParts& value, bool assume_tracked) {
  return AddPut(family, Join(key), Join(value), AssumedIf(assume_tracked));
}
Status TransactionBase::Put(const SliceParts& key, const SliceParts& value) {
  return AddPut(nullptr, Join(key), Join(value), Taking::kTracked);
}
Status TransactionBase::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                              bool assume_tracked) {
  return AddMerge(family, key, value, AssumedIf(assume_tracked));
}
Status TransactionBase::Merge(const Slice& key, const Slice& value) {
  return AddMerge(nullptr, key, value, Taking::kTracked);
}
Status TransactionBase::Delete(ColumnFamilyHandle* family, const Slice& key,
                               bool assume_tracked) {
  return AddDelete(family, key, AssumedIf(assume_tracked));
}
Status TransactionBase::Delete(const Slice& key) {
  return AddDelete(nullptr, key, Taking::kTracked);
}
Status TransactionBase::Delete(ColumnFamilyHandle* family, const SliceParts& key,
                               bool assume_tracked) {
  return AddDelete(family, Join(key), AssumedIf(assume_tracked));
}
Status TransactionBase::Delete(const SliceParts& key) {
  return AddDelete(nullptr, Join(key), Taking::kTracked);
}
Status TransactionBase::SingleDelete(ColumnFamilyHandle* family, const Slice& key,
                                     bool assume_tracked) {
  return AddSingleDelete(family, key, AssumedIf(assume_tracked));
}
Status TransactionBase::SingleDelete(const Slice& key) {
  return AddSingleDelete(nullptr, key, Taking::kTracked);
}
Status TransactionBase::SingleDelete(ColumnFamilyHandle* family, const SliceParts& key,
                                     bool assume_tracked) {
  return AddSingleDelete(family, Join(key), AssumedIf(assume_tracked));
}
Status TransactionBase::SingleDelete(const SliceParts& key) {
  return AddSingleDelete(nullptr, Join(key), Taking::kTracked);
}

Status TransactionBase::PutUntracked(ColumnFamilyHandle* family, const Slice& key,
                                     const Slice& value) {
  return AddPut(family, key, value, Taking::kUntracked);
}
Status TransactionBase::PutUntracked(const Slice& key, const Slice& value) {
  return AddPut(nullptr, key, value, Taking::kUntracked);
}
Status TransactionBase::PutUntracked(ColumnFamilyHandle* family, const SliceParts& key,
                                     const SliceParts& value) {
  return AddPut(family, Join(key), Join(value), Taking::kUntracked);
}
Status TransactionBase::PutUntracked(const SliceParts& key, const SliceParts& value) {
  return AddPut(nullptr, Join(key), Join(value), Taking::kUntracked);
}
Status TransactionBase::MergeUntracked(ColumnFamilyHandle* family, const Slice& key,
                                       const Slice& value) {
  return AddMerge(family, key, value, Taking::kUntracked);
}
Status TransactionBase::MergeUntracked(const Slice& key, const Slice& value) {
  return AddMerge(nullptr, key, value, Taking::kUntracked);
}
Status TransactionBase::DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) {
  return AddDelete(family, key, Taking::kUntracked);
}
Status TransactionBase::DeleteUntracked(const Slice& key) {
  return AddDelete(nullptr, key, Taking::kUntracked);
}
Status TransactionBase::DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) {
  return AddDelete(family, Join(key), Taking::kUntracked);
}
Status TransactionBase::DeleteUntracked(const SliceParts& key) {
  return AddDelete(nullptr, Join(key), Taking::kUntracked);
}
Status TransactionBase::SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) {
  return AddSingleDelete(family, key, Taking::kUntracked);
}
Status TransactionBase::SingleDeleteUntracked(const Slice& key) {
  return AddSingleDelete(nullptr, key, Taking::kUntracked);
}

void TransactionBase::PutLogData(const Slice& blob) {
  batch_.PutLogData(blob).PermitUncheckedError();  // the signature has no place for it
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

Status Transaction::CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier,
                                               TxnTimestamp ts,
                                               std::shared_ptr<const Snapshot>* snapshot) {
  if (snapshot != nullptr) snapshot->reset();
  const TxnTimestamp commit_ts = GetCommitTimestamp();
  if (commit_ts == kMaxTxnTimestamp) {
    if (ts == kMaxTxnTimestamp) return Status::InvalidArgument("Commit timestamp unset");
    if (Status s = SetCommitTimestamp(ts); !s.ok()) return s;
  } else if (ts != kMaxTxnTimestamp && ts != commit_ts) {
    return Status::InvalidArgument("Different commit ts specified");
  }
  SetSnapshotOnNextOperation(std::move(notifier));
  if (Status s = Commit(); !s.ok()) return s;
  if (snapshot != nullptr) *snapshot = GetTimestampedSnapshot();
  return Status::OK();
}

}  // namespace ROCKSDB_NAMESPACE
