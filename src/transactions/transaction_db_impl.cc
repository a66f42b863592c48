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

Status CheckUntimed(ColumnFamilyHandle* family) {
  if (family == nullptr) return Status::InvalidArgument("column family handle cannot be null");
  if (FamilyOf(family)->timestamp_size() == 0) return Status::OK();
  return Status::NotSupported(
      "Write operation with user timestamp must go through the transaction API instead of "
      "TransactionDB.");
}

// Whether a batch has records of families with timestamps.
class TimedFinder final : public BatchSink {
 public:
  explicit TimedFinder(const ExtendedDB* engine) : engine_(engine) {}
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
  const ExtendedDB* const engine_;
  bool known_ = false;
  uint32_t last_ = 0;
};

}  // namespace

TransactionDBImpl::TransactionDBImpl(rocksdb::DB* db, ExtendedDB* engine,
                                     const TransactionDBOptions& options)
    : TransactionDB(db),
      engine_(engine),
      registry_(options, db->GetEnv(), engine->process()),
      snapshots_(db, engine->process()) {}

TransactionDBImpl::~TransactionDBImpl() {
  // Those that recovery made and that were not taken; each removes itself.
  while (rocksdb::Transaction* const transaction = registry_.First()) delete transaction;
}

std::unique_ptr<PessimisticTransaction> TransactionDBImpl::NewTransaction(const WriteOptions& write_options,
                                                                          const TransactionOptions& options) {
  return std::make_unique<PessimisticTransaction>(this, engine_, &registry_, &snapshots_, write_options, options);
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
  registry_.locks()->AddFamily(DefaultColumnFamily()->GetID());
  for (ColumnFamilyHandle* handle : handles) registry_.locks()->AddFamily(handle->GetID());
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
    std::unique_ptr<PessimisticTransaction> transaction = NewTransaction(WriteOptions(), recovered_options);
    if (Status s = transaction->Recover(name, recovered); !s.ok()) return s;
    transaction.release();  // found by its name
  }
  return Status::OK();
}

rocksdb::Transaction* TransactionDBImpl::BeginTransaction(const WriteOptions& write_options,
                                                          const TransactionOptions& options,
                                                          rocksdb::Transaction* old) {
  if (old == nullptr) return NewTransaction(write_options, options).release();
  static_cast<PessimisticTransaction*>(old)->Reuse(write_options, options);
  return old;
}

std::unordered_multimap<uint32_t, KeyLockInfo> TransactionDBImpl::GetLockStatusData() {
  if (Inherited()) return {};
  return registry_.locks()->GetStatus();
}
std::vector<DeadlockPath> TransactionDBImpl::GetDeadlockInfoBuffer() {
  if (Inherited()) return {};
  return registry_.locks()->detector()->Paths();
}
void TransactionDBImpl::SetDeadlockInfoBufferSize(uint32_t target_size) {
  if (!Inherited()) registry_.locks()->detector()->KeepPaths(target_size);
}

std::unique_ptr<PessimisticTransaction> TransactionDBImpl::BeginOutside(
    const WriteOptions& options) {
  TransactionOptions transaction_options;
  transaction_options.skip_concurrency_control = registry_.options().skip_concurrency_control;
  std::unique_ptr<PessimisticTransaction> transaction = NewTransaction(options, transaction_options);
  transaction->SetLockTimeout(registry_.options().default_lock_timeout);
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
  if (registry_.options().skip_concurrency_control || optimizations.skip_concurrency_control) {
    return db_->Write(options, batch);
  }
  return BeginOutside(options)->CommitBatch(batch);
}

Status TransactionDBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                             const std::string& name,
                                             ColumnFamilyHandle** handle) {
  Status s = db_->CreateColumnFamily(options, name, handle);
  if (s.ok()) registry_.locks()->AddFamily((*handle)->GetID());
  return s;
}

// Some may have been made when a later one fails.
Status TransactionDBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                               const std::vector<std::string>& names,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  if (Inherited()) return InheritedStatus();
  Status s = db_->CreateColumnFamilies(options, names, handles);
  for (ColumnFamilyHandle* handle : *handles) registry_.locks()->AddFamily(handle->GetID());
  return s;
}
Status TransactionDBImpl::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  if (Inherited()) return InheritedStatus();
  Status s = db_->CreateColumnFamilies(families, handles);
  for (ColumnFamilyHandle* handle : *handles) registry_.locks()->AddFamily(handle->GetID());
  return s;
}

Status TransactionDBImpl::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                                       const std::string& name,
                                                       const rocksdb::ImportColumnFamilyOptions& import,
                                                       const rocksdb::ExportImportFilesMetaData& exported,
                                                       ColumnFamilyHandle** handle) {
  Status s = db_->CreateColumnFamilyWithImport(options, name, import, exported, handle);
  if (s.ok()) registry_.locks()->AddFamily((*handle)->GetID());
  return s;
}

Status TransactionDBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  Status s = db_->DropColumnFamily(handle);
  if (s.ok()) registry_.locks()->RemoveFamily(handle->GetID());
  return s;
}
Status TransactionDBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  Status s = db_->DropColumnFamilies(handles);
  for (ColumnFamilyHandle* handle : handles) {
    if (s.ok()) registry_.locks()->RemoveFamily(handle->GetID());
  }
  return s;
}

}  // namespace compassdb
