// SPDX-License-Identifier: Apache-2.0
#include "transactions/transaction_db_impl.h"

#include <algorithm>
#include <utility>

#include "batch/write_batch_internal.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::TransactionDBOptions;
using rocksdb::TxnTimestamp;

// A snapshot of the database that has a timestamp of the program's.
class TimestampedSnapshot final : public Snapshot {
 public:
  TimestampedSnapshot(rocksdb::DB* db, TxnTimestamp ts)
      : db_(db), snapshot_(db->GetSnapshot()), timestamp_(ts) {}
  ~TimestampedSnapshot() override { db_->ReleaseSnapshot(snapshot_); }
  bool taken() const { return snapshot_ != nullptr; }
  SequenceNumber GetSequenceNumber() const override { return snapshot_->GetSequenceNumber(); }
  int64_t GetUnixTime() const override { return snapshot_->GetUnixTime(); }
  uint64_t GetTimestamp() const override { return timestamp_; }

 private:
  rocksdb::DB* const db_;
  const Snapshot* const snapshot_;
  const TxnTimestamp timestamp_;
};

Status CheckUntimed(ColumnFamilyHandle* family) {
  if (FamilyOf(family)->timestamp_size() == 0) return Status::OK();
  return Status::NotSupported(
      "Write operation with user timestamp must go through the transaction API instead of "
      "TransactionDB.");
}

// Whether a batch has records of families with timestamps.
class TimedFinder final : public BatchSink {
 public:
  explicit TimedFinder(const DBImpl* engine) : engine_(engine) {}
  Status Add(uint32_t id, SequenceNumber, ValueType, const Slice&, const Slice&) override {
    if (known_ && id == last_) return Status::OK();
    const std::shared_ptr<ColumnFamily> family = engine_->FamilyById(id);
    found = found || (family != nullptr && family->timestamp_size() != 0);
    known_ = true;
    last_ = id;
    return Status::OK();
  }
  bool found = false;

 private:
  const DBImpl* const engine_;
  bool known_ = false;
  uint32_t last_ = 0;
};

PointLocks::Options LockOptions(const TransactionDBOptions& options, rocksdb::Env* env,
                                std::function<bool(TransactionID)> steal) {
  PointLocks::Options locks;
  locks.stripes = options.num_stripes;
  locks.max_locks = options.max_num_locks;
  locks.deadlocks_kept = options.max_num_deadlocks;
  locks.mutexes = options.custom_mutex_factory;
  locks.env = env;
  locks.steal = std::move(steal);
  return locks;
}

}  // namespace

TransactionDBImpl::TransactionDBImpl(rocksdb::DB* db, DBImpl* engine,
                                     const TransactionDBOptions& options)
    : TransactionDB(db),
      options_(options),
      engine_(engine),
      locks_(LockOptions(options, db->GetEnv(), [this](TransactionID id) {
        return StealLocks(id);
      })) {}

TransactionDBImpl::~TransactionDBImpl() {
  // Those that recovery made and that were not taken; each removes itself.
  while (true) {
    PessimisticTransaction* transaction = nullptr;
    {
      MutexLock lock(&mu_);
      if (by_name_.empty()) break;
      transaction = by_name_.begin()->second;
    }
    delete transaction;
  }
  MutexLock lock(&timestamps_mu_);
  timestamped_.clear();
}

Status TransactionDBImpl::CheckOptions(const TransactionDBOptions& options) {
  if (options.write_policy != rocksdb::WRITE_COMMITTED) {
    return Status::NotSupported("TransactionDBOptions::write_policy",
                                "only WRITE_COMMITTED is offered");
  }
  if (options.lock_mgr_handle != nullptr) {
    return Status::NotSupported("TransactionDBOptions::lock_mgr_handle", "only keys are locked");
  }
  return Status::OK();
}

Status TransactionDBImpl::Init(const std::vector<size_t>& compaction_enabled,
                               const std::vector<ColumnFamilyHandle*>& handles) {
  locks_.AddFamily(DefaultColumnFamily()->GetID());
  for (ColumnFamilyHandle* handle : handles) locks_.AddFamily(handle->GetID());
  std::vector<ColumnFamilyHandle*> compacting;
  for (const size_t i : compaction_enabled) {
    if (i >= handles.size()) {
      return Status::InvalidArgument("TransactionDB: no handle for column family index " +
                                     std::to_string(i));
    }
    compacting.push_back(handles[i]);
  }
  if (!compacting.empty()) {
    if (Status s = EnableAutoCompaction(compacting); !s.ok()) return s;
  }
  TransactionOptions recovered_options;
  recovered_options.skip_concurrency_control = true;
  for (const auto& [name, recovered] : engine_->TakeRecoveredTransactions()) {
    auto transaction = std::make_unique<PessimisticTransaction>(this, WriteOptions(),
                                                                recovered_options);
    if (Status s = transaction->Recover(name, recovered); !s.ok()) return s;
    transaction.release();  // found by its name
  }
  return Status::OK();
}

rocksdb::Transaction* TransactionDBImpl::BeginTransaction(const WriteOptions& write_options,
                                                          const TransactionOptions& options,
                                                          rocksdb::Transaction* old) {
  if (old == nullptr) return new PessimisticTransaction(this, write_options, options);
  static_cast<PessimisticTransaction*>(old)->Reuse(write_options, options);
  return old;
}

bool TransactionDBImpl::Register(const std::string& name, PessimisticTransaction* transaction) {
  if (Inherited()) return false;
  MutexLock lock(&mu_);
  return by_name_.emplace(name, transaction).second;
}

void TransactionDBImpl::Unregister(const std::string& name,
                                   const PessimisticTransaction* transaction) {
  if (Inherited()) return;
  MutexLock lock(&mu_);
  auto it = by_name_.find(name);
  if (it != by_name_.end() && it->second == transaction) by_name_.erase(it);
}

rocksdb::Transaction* TransactionDBImpl::GetTransactionByName(
    const rocksdb::TransactionName& name) {
  if (Inherited()) return nullptr;
  MutexLock lock(&mu_);
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

void TransactionDBImpl::GetAllPreparedTransactions(
    std::vector<rocksdb::Transaction*>* transactions) {
  transactions->clear();
  if (Inherited()) return;
  MutexLock lock(&mu_);
  for (const auto& [name, transaction] : by_name_) {
    if (transaction->GetState() == rocksdb::Transaction::PREPARED) {
      transactions->push_back(transaction);
    }
  }
}

void TransactionDBImpl::SetExpirable(PessimisticTransaction* transaction, bool expirable) {
  if (Inherited()) return;
  MutexLock lock(&mu_);
  if (expirable) {
    expirable_[transaction->GetID()] = transaction;
  } else {
    expirable_.erase(transaction->GetID());
  }
}

// Under the mutex the transaction cannot end.
bool TransactionDBImpl::StealLocks(TransactionID id) {
  MutexLock lock(&mu_);
  auto it = expirable_.find(id);
  return it == expirable_.end() || it->second->StealLocks();
}

std::unordered_multimap<uint32_t, KeyLockInfo> TransactionDBImpl::GetLockStatusData() {
  if (Inherited()) return {};
  return locks_.GetStatus();
}
std::vector<DeadlockPath> TransactionDBImpl::GetDeadlockInfoBuffer() {
  if (Inherited()) return {};
  return locks_.detector()->Paths();
}
void TransactionDBImpl::SetDeadlockInfoBufferSize(uint32_t target_size) {
  if (!Inherited()) locks_.detector()->KeepPaths(target_size);
}

std::pair<Status, std::shared_ptr<const Snapshot>> TransactionDBImpl::CreateTimestampedSnapshot(
    TxnTimestamp ts) {
  if (Inherited()) return {InheritedStatus(), nullptr};
  if (ts == rocksdb::kMaxTxnTimestamp) {
    return {Status::InvalidArgument("CreateTimestampedSnapshot: no timestamp"), nullptr};
  }
  MutexLock lock(&timestamps_mu_);
  auto fresh = std::make_shared<TimestampedSnapshot>(db_, ts);
  if (!fresh->taken()) {
    return {Status::NotSupported("CreateTimestampedSnapshot: with inplace_update_support"), nullptr};
  }
  if (!timestamped_.empty()) {
    const auto& [newest_ts, newest] = *timestamped_.rbegin();
    if (newest_ts > ts) {
      return {Status::InvalidArgument("snapshot exists with larger timestamp " +
                                      std::to_string(newest_ts) + " > " + std::to_string(ts)),
              nullptr};
    }
    if (newest_ts == ts) {
      if (newest->GetSequenceNumber() == fresh->GetSequenceNumber()) return {Status::OK(), newest};
      return {Status::InvalidArgument("there were writes since the snapshot with timestamp " +
                                      std::to_string(ts)),
              nullptr};
    }
  }
  timestamped_.emplace(ts, fresh);
  return {Status::OK(), std::move(fresh)};
}

std::shared_ptr<const Snapshot> TransactionDBImpl::GetTimestampedSnapshot(TxnTimestamp ts) const {
  if (Inherited()) return nullptr;
  MutexLock lock(&timestamps_mu_);
  if (timestamped_.empty()) return nullptr;
  if (ts == rocksdb::kMaxTxnTimestamp) return timestamped_.rbegin()->second;
  auto it = timestamped_.find(ts);
  return it == timestamped_.end() ? nullptr : it->second;
}

void TransactionDBImpl::ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) {
  if (Inherited()) return;
  std::vector<std::shared_ptr<const Snapshot>> released;  // after the lock
  MutexLock lock(&timestamps_mu_);
  while (!timestamped_.empty() && timestamped_.begin()->first < ts) {
    released.push_back(timestamped_.begin()->second);
    timestamped_.erase(timestamped_.begin());
  }
}

Status TransactionDBImpl::GetTimestampedSnapshots(
    TxnTimestamp from, TxnTimestamp to,
    std::vector<std::shared_ptr<const Snapshot>>& snapshots) const {
  if (Inherited()) return InheritedStatus();
  if (from >= to) {
    return Status::InvalidArgument("timestamp lower bound must be smaller than upper bound");
  }
  snapshots.clear();
  MutexLock lock(&timestamps_mu_);
  for (auto it = timestamped_.lower_bound(from); it != timestamped_.end() && it->first < to; ++it) {
    snapshots.push_back(it->second);
  }
  return Status::OK();
}

std::unique_ptr<PessimisticTransaction> TransactionDBImpl::BeginOutside(
    const WriteOptions& options) {
  TransactionOptions transaction_options;
  transaction_options.skip_concurrency_control = options_.skip_concurrency_control;
  auto transaction = std::make_unique<PessimisticTransaction>(this, options, transaction_options);
  transaction->SetLockTimeout(options_.default_lock_timeout);
  return transaction;
}

template <typename Add>
Status TransactionDBImpl::WriteOutside(const WriteOptions& options, const Add& add) {
  if (Inherited()) return InheritedStatus();
  WriteBatch batch;
  if (Status s = add(&batch); !s.ok()) return s;
  return BeginOutside(options)->CommitBatch(&batch);
}

Status TransactionDBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                              const Slice& key, const Slice& value) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOutside(options, [&](WriteBatch* batch) { return batch->Put(family, key, value); });
}
Status TransactionDBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                                 const Slice& key) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOutside(options, [&](WriteBatch* batch) { return batch->Delete(family, key); });
}
Status TransactionDBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOutside(options,
                      [&](WriteBatch* batch) { return batch->SingleDelete(family, key); });
}
Status TransactionDBImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, const Slice& value) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOutside(options,
                      [&](WriteBatch* batch) { return batch->Merge(family, key, value); });
}

Status TransactionDBImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  return Write(options, rocksdb::TransactionDBWriteOptimizations(), batch);
}
Status TransactionDBImpl::Write(const WriteOptions& options,
                                const rocksdb::TransactionDBWriteOptimizations& optimizations,
                                WriteBatch* batch) {
  if (Inherited()) return InheritedStatus();
  if (batch == nullptr) return Status::InvalidArgument("Batch is nullptr!");
  TimedFinder timed(engine_);
  // The write reports a batch that cannot be read.
  WriteBatchInternal::InsertInto(batch, &timed, nullptr).PermitUncheckedError();
  if (timed.found) {
    return Status::NotSupported(
        "Writes with timestamp must go through transaction API instead of TransactionDB.");
  }
  if (options_.skip_concurrency_control || optimizations.skip_concurrency_control) {
    return db_->Write(options, batch);
  }
  return BeginOutside(options)->CommitBatch(batch);
}

Status TransactionDBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                             const std::string& name,
                                             ColumnFamilyHandle** handle) {
  Status s = db_->CreateColumnFamily(options, name, handle);
  if (s.ok()) locks_.AddFamily((*handle)->GetID());
  return s;
}

// Some may have been made when a later one fails.
Status TransactionDBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                               const std::vector<std::string>& names,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  if (Inherited()) return InheritedStatus();
  Status s = db_->CreateColumnFamilies(options, names, handles);
  for (ColumnFamilyHandle* handle : *handles) locks_.AddFamily(handle->GetID());
  return s;
}
Status TransactionDBImpl::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  if (Inherited()) return InheritedStatus();
  Status s = db_->CreateColumnFamilies(families, handles);
  for (ColumnFamilyHandle* handle : *handles) locks_.AddFamily(handle->GetID());
  return s;
}

Status TransactionDBImpl::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                                       const std::string& name,
                                                       const rocksdb::ImportColumnFamilyOptions& import,
                                                       const rocksdb::ExportImportFilesMetaData& exported,
                                                       ColumnFamilyHandle** handle) {
  Status s = db_->CreateColumnFamilyWithImport(options, name, import, exported, handle);
  if (s.ok()) locks_.AddFamily((*handle)->GetID());
  return s;
}

Status TransactionDBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  Status s = db_->DropColumnFamily(handle);
  if (s.ok()) locks_.RemoveFamily(handle->GetID());
  return s;
}
Status TransactionDBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  Status s = db_->DropColumnFamilies(handles);
  for (ColumnFamilyHandle* handle : handles) {
    if (s.ok()) locks_.RemoveFamily(handle->GetID());
  }
  return s;
}

}  // namespace compassdb
