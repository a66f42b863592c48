// SPDX-License-Identifier: Apache-2.0
// As api_surface.cc, for transactions, indexed batches and databases on top of others.
#include <rocksdb/db.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/utilities/transaction_db_mutex.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <memory>
#include <type_traits>

namespace api {

using namespace ROCKSDB_NAMESPACE;  // NOLINT: a user's program

class CountingDB : public StackableDB {
 public:
  explicit CountingDB(DB* db) : StackableDB(db) {}
  explicit CountingDB(std::shared_ptr<DB> db) : StackableDB(db) {}
  using StackableDB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override {
    ++puts;
    return db_->Put(options, family, key, value);
  }
  int puts = 0;
};

class Notifier : public TransactionNotifier {
 public:
  void SnapshotCreated(const Snapshot* snapshot) override { last = snapshot; }
  const Snapshot* last = nullptr;
};

class NoMutex : public TransactionDBMutex {
 public:
  Status Lock() override { return Status::OK(); }
  Status TryLockFor(int64_t) override { return Status::OK(); }
  void UnLock() override {}
};

class NoCondVar : public TransactionDBCondVar {
 public:
  Status Wait(std::shared_ptr<TransactionDBMutex>) override { return Status::OK(); }
  Status WaitFor(std::shared_ptr<TransactionDBMutex>, int64_t) override { return Status::OK(); }
  void Notify() override {}
  void NotifyAll() override {}
};

class NoMutexFactory : public TransactionDBMutexFactory {
 public:
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<NoMutex>();
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<NoCondVar>();
  }
};

Status UseTransaction(Transaction* txn, ColumnFamilyHandle* family) {
  txn->SetSnapshot();
  txn->SetSnapshotOnNextOperation();
  txn->SetSnapshotOnNextOperation(std::make_shared<Notifier>());
  const Snapshot* snapshot = txn->GetSnapshot();
  std::shared_ptr<const Snapshot> shared = txn->GetTimestampedSnapshot();
  txn->ClearSnapshot();
  ReadOptions read;
  read.snapshot = snapshot;
  std::string value;
  PinnableSlice pinned;
  std::vector<std::string> values;
  const Slice part("k");
  const SliceParts parts(&part, 1);
  Status s = txn->Get(read, "k", &value);
  s = txn->Get(read, family, "k", &pinned);
  s = txn->GetForUpdate(read, "k", &value);
  s = txn->GetForUpdate(read, family, "k", &pinned, false, false);
  s = txn->GetForUpdate(read, family, "k", static_cast<std::string*>(nullptr));
  std::vector<Status> statuses = txn->MultiGet(read, {family}, {"k"}, &values);
  statuses = txn->MultiGetForUpdate(read, {"k"}, &values);
  txn->MultiGet(read, family, 1, &part, &pinned, &s);
  std::unique_ptr<Iterator> it(txn->GetIterator(read, family));
  s = txn->Put("k", "v");
  s = txn->Put(family, "k", "v", true);
  s = txn->Put(parts, parts);
  s = txn->Merge(family, "k", "v");
  s = txn->Delete(family, parts);
  s = txn->SingleDelete("k");
  s = txn->PutUntracked(family, "k", "v");
  s = txn->MergeUntracked("k", "v");
  s = txn->DeleteUntracked(parts);
  s = txn->SingleDeleteUntracked(family, "k");
  txn->PutLogData("blob");
  txn->DisableIndexing();
  txn->EnableIndexing();
  txn->SetSavePoint();
  s = txn->RollbackToSavePoint();
  s = txn->PopSavePoint();
  txn->UndoGetForUpdate(family, "k");
  s = txn->GetRangeLock(family, Endpoint("a"), Endpoint(Slice("b"), true));
  txn->SetLockTimeout(5);
  txn->GetWriteOptions()->sync = true;
  txn->SetWriteOptions(WriteOptions());
  s = txn->RebuildFromWriteBatch(txn->GetCommitTimeWriteBatch());
  s = txn->SetName("name");
  uint32_t family_id = 0;
  std::string key;
  const std::vector<TransactionID> waiting = txn->GetWaitingTxns(&family_id, &key);
  if (txn->GetNumKeys() + txn->GetNumPuts() + txn->GetNumDeletes() + txn->GetNumMerges() > 0 &&
      txn->GetElapsedTime() > 0 && txn->GetLogNumber() == 0 && !txn->IsDeadlockDetect() &&
      txn->GetState() == Transaction::STARTED && txn->GetId() == txn->GetID()) {
    s = txn->Prepare();
  }
  s = txn->SetCommitTimestamp(txn->GetCommitTimestamp());
  s = txn->SetReadTimestampForValidation(1);
  s = txn->CommitAndTryCreateSnapshot(nullptr, 7, &shared);
  return s.ok() ? txn->Commit() : txn->Rollback();
}

Status UseBatch(DB* db, ColumnFamilyHandle* family) {
  WriteBatchWithIndex batch(BytewiseComparator(), 0, true, 0, 0);
  WriteBatchWithIndex moved(std::move(batch));
  Status s = moved.Put(family, "k", "v");
  std::unique_ptr<WBWIIterator> it(moved.NewIterator(family));
  it->SeekForPrev("k");
  if (it->Valid() && it->Entry().type == kPutRecord) s = it->status();
  ReadOptions read;
  std::unique_ptr<Iterator> both(moved.NewIteratorWithBase(family, db->NewIterator(read), &read));
  std::string value;
  PinnableSlice pinned;
  const Slice key("k");
  s = moved.GetFromBatch(family, DBOptions(), "k", &value);
  s = moved.GetFromBatchAndDB(db, read, "k", &value);
  s = moved.GetFromBatchAndDB(db, read, family, "k", &pinned);
  moved.MultiGetFromBatchAndDB(db, read, family, 1, &key, &pinned, &s, true);
  return db->Write(WriteOptions(), moved.GetWriteBatch());
}

Status EveryTransaction(const std::string& path) {
  OptimisticTransactionDB* optimistic = nullptr;
  OptimisticTransactionDBOptions occ;
  occ.validate_policy = OccValidationPolicy::kValidateSerial;
  occ.occ_lock_buckets = 16;
  std::vector<ColumnFamilyHandle*> handles;
  Status s = OptimisticTransactionDB::Open(Options(), path, &optimistic);
  s = OptimisticTransactionDB::Open(DBOptions(), occ, path, {}, &handles, &optimistic);
  Transaction* txn = optimistic->BeginTransaction(WriteOptions());
  txn = optimistic->BeginTransaction(WriteOptions(), OptimisticTransactionOptions(), txn);
  s = UseTransaction(txn, optimistic->DefaultColumnFamily());
  delete txn;
  s = UseBatch(optimistic->GetBaseDB(), optimistic->DefaultColumnFamily());
  delete optimistic;

  TransactionDBOptions options;
  options.custom_mutex_factory = std::make_shared<NoMutexFactory>();
  options.rollback_deletion_type_callback = [](TransactionDB*, ColumnFamilyHandle*, const Slice&) {
    return true;
  };
  TransactionDB* db = nullptr;
  s = TransactionDB::Open(Options(), options, path, &db);
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  std::vector<size_t> enabled;
  TransactionDB::PrepareWrap(&db_options, &families, &enabled);
  s = TransactionDB::WrapStackableDB(new CountingDB(static_cast<DB*>(nullptr)), options, enabled,
                                     handles, &db);
  s = UseTransaction(db->BeginTransaction(WriteOptions(), TransactionOptions()),
                     db->DefaultColumnFamily());
  std::vector<Transaction*> prepared;
  db->GetAllPreparedTransactions(&prepared);
  if (db->GetTransactionByName("x") == nullptr) db->SetDeadlockInfoBufferSize(3);
  for (const DeadlockPath& path_found : db->GetDeadlockInfoBuffer()) {
    if (path_found.limit_exceeded) return Status::Busy();
  }
  for (const auto& [id, info] : db->GetLockStatusData()) {
    if (info.exclusive && info.ids.size() > id) return Status::Busy();
  }
  auto made = db->CreateTimestampedSnapshot(5);
  std::vector<std::shared_ptr<const Snapshot>> all{db->GetLatestTimestampedSnapshot()};
  s = db->GetAllTimestampedSnapshots(all);
  db->ReleaseTimestampedSnapshotsOlderThan(6);
  std::unique_ptr<RangeLockManagerHandle> ranges(NewRangeLockManager(nullptr));
  if (ranges->SetMaxLockMemory(1) == 0 && ranges->GetStatus().lock_wait_count > 0) s = made.first;
  WriteBatch batch;
  return db->Write(WriteOptions(), TransactionDBWriteOptimizations(), &batch);
}

static_assert(std::is_base_of_v<DB, StackableDB> && std::is_base_of_v<StackableDB, TransactionDB>);
static_assert(std::is_same_v<TransactionName, std::string> && kMaxTxnTimestamp == UINT64_MAX);
static_assert(kInitialMaxDeadlocks == 5 && WRITE_UNPREPARED == 2 && kUnknownRecord == 7);

}  // namespace api

ROCKSDB_NAMESPACE::Status (*transactions_surface_entry)(const std::string&) =
    &api::EveryTransaction;
