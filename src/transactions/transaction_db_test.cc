// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/transaction_db.h"

#include <ctime>

#include "db/testing/export_test_util.h"
#include "db/testing/null_handle_test_util.h"

#include "transactions/transaction_test_util.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionDBOptions;
using rocksdb::TransactionOptions;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class TransactionTest : public DbTest {
 protected:
  TransactionTest() {
    options_.merge_operator = std::make_shared<AppendOperator>();
    transaction_options_.transaction_lock_timeout = 1;
    transaction_options_.default_lock_timeout = 1;
  }
  void SetUp() override { Open(); }
  void Open() {
    CloseDb();
    TransactionDB* db = nullptr;
    Status s = TransactionDB::Open(
        options_, transaction_options_, name_,
        {rocksdb::ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, options_)}, &handles_,
        &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    transactions_ = db;
    db_.reset(db);
  }
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options = TransactionOptions()) {
    return std::unique_ptr<Transaction>(transactions_->BeginTransaction(WriteOptions(), options));
  }

  TransactionDBOptions transaction_options_;
  TransactionDB* transactions_ = nullptr;
};

TEST_F(TransactionTest, RefusesNullHandles) { ExpectNullHandlesRefused(db_.get()); }

TEST_F(TransactionTest, KeysAreLockedUntilTheEnd) {
  auto one = Begin();
  auto two = Begin();
  ASSERT_TRUE(one->Put("k", "1").ok());
  Status s = two->Put("k", "2");
  EXPECT_TRUE(s.IsTimedOut());
  EXPECT_EQ(s.subcode(), Status::SubCode::kLockTimeout);
  EXPECT_TRUE(Put("k", "outside").IsTimedOut());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "outside").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsTimedOut());
  EXPECT_EQ(transactions_->GetLockStatusData().size(), 1u);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ASSERT_TRUE(one->Commit().ok());
  EXPECT_EQ(Get("k"), "1");
  EXPECT_TRUE(transactions_->GetLockStatusData().empty());
  EXPECT_TRUE(two->Put("k", "2").ok());
  ASSERT_TRUE(two->Rollback().ok());
  EXPECT_TRUE(Put("k", "outside").ok());
  EXPECT_EQ(Get("k"), "outside");
}

// RocksDB 7.8.3 knows no locks of such a family.
TEST_F(TransactionTest, AnImportedFamilyHasLocks) {
  ASSERT_TRUE(Put("k", "v").ok());
  const auto exported = ExportDefaultFamily(db_.get(), "/exported");
  ASSERT_NE(exported, nullptr);
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamilyWithImport(options_, "imported", rocksdb::ImportColumnFamilyOptions(), *exported, &family).ok());
  handles_.push_back(family);
  auto one = Begin();
  ASSERT_TRUE(one->Put(family, "k", "1").ok());
  EXPECT_TRUE(Begin()->Put(family, "k", "2").IsTimedOut());
  ASSERT_TRUE(one->Commit().ok());
  EXPECT_TRUE(db_->Put(WriteOptions(), family, "l", "2").ok());
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), family, "k", &value).ok());
  EXPECT_EQ(value, "1");
}

TEST_F(TransactionTest, StatesAndTheirRefusals) {
  auto txn = Begin();
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument());  // no name
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->GetState(), Transaction::COMMITTED);
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_TRUE(txn->Rollback().IsInvalidArgument());
  EXPECT_TRUE(txn->SetName("late").IsInvalidArgument());
  transactions_->BeginTransaction(WriteOptions(), TransactionOptions(), txn.get());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_TRUE(txn->SetName("").IsInvalidArgument());
  EXPECT_TRUE(txn->SetName(std::string(513, 'x')).IsInvalidArgument());
  ASSERT_TRUE(txn->SetName("n").ok());
  EXPECT_TRUE(txn->SetName("m").IsInvalidArgument());
  EXPECT_TRUE(Begin()->SetName("n").IsInvalidArgument());
  EXPECT_EQ(transactions_->GetTransactionByName("n"), txn.get());
  TransactionOptions strict;
  strict.skip_prepare = false;
  EXPECT_TRUE(Begin(strict)->Commit().IsTxnNotPrepared());
}

TEST_F(TransactionTest, SharedLocksAndUpgrades) {
  std::string value;
  auto one = Begin();
  auto two = Begin();
  EXPECT_TRUE(one->GetForUpdate(ReadOptions(), "k", &value, /*exclusive=*/false).IsNotFound());
  EXPECT_TRUE(two->GetForUpdate(ReadOptions(), "k", &value, /*exclusive=*/false).IsNotFound());
  EXPECT_TRUE(one->Put("k", "1").IsTimedOut());
  two->UndoGetForUpdate("k");
  EXPECT_EQ(two->GetNumKeys(), 0u);
  EXPECT_TRUE(one->Put("k", "1").ok());
  one->UndoGetForUpdate("k");  // written since: stays
  EXPECT_EQ(one->GetNumKeys(), 1u);
  EXPECT_TRUE(two->Put("k", "2").IsTimedOut());
}

TEST_F(TransactionTest, AFailedUpgradeIsReportedAndLeavesTheLockShared) {
  TransactionOptions options;
  options.set_snapshot = true;
  auto txn = Begin(options);
  ASSERT_TRUE(Put("k", "later").ok());
  std::string value;
  // Without validation the key may be newer than the snapshot; a write may not.
  ASSERT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value, false, /*do_validate=*/false).ok());
  EXPECT_TRUE(txn->Put("k", "mine").IsBusy());
  EXPECT_TRUE(Begin()->GetForUpdate(ReadOptions(), "k", &value, false).ok());
}

TEST_F(TransactionTest, TheSnapshotIsValidated) {
  for (const bool flush : {false, true}) {
    ASSERT_TRUE(Put("k", "old").ok());
    TransactionOptions options;
    options.set_snapshot = true;
    auto txn = Begin(options);
    ASSERT_TRUE(Put("k", "newer").ok());
    if (flush) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    EXPECT_TRUE(txn->Put("k", "mine").IsBusy());
    EXPECT_TRUE(txn->PutUntracked("k", "mine").ok());
    EXPECT_EQ(txn->GetNumKeys(), 1u);
    EXPECT_TRUE(txn->Put("fresh", "mine").ok());
    ReadOptions read;
    read.snapshot = txn->GetSnapshot();
    std::string value;
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Get("k"), "mine");
    ASSERT_TRUE(db_->Delete(WriteOptions(), "fresh").ok());
  }
}

TEST_F(TransactionTest, DeletedKeysAreConflictsInEachLayout) {
  int layout = 0;
  for (const PieceTableOptions& pieces : LayoutsOfDeletions()) {
    SCOPED_TRACE("layout " + std::to_string(layout++));
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    options_.table_factory.reset(NewPieceTableFactory(pieces));
    Open();
    DeletedKeysConflict(db_.get(), [this] {
      TransactionOptions options;
      options.set_snapshot = true;
      return transactions_->BeginTransaction(WriteOptions(), options);
    });
  }
}

TEST_F(TransactionTest, SavePointsGiveLocksBack) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put("a", "2").ok());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put("c", "3").ok());
  ASSERT_TRUE(txn->PopSavePoint().ok());
  EXPECT_EQ(txn->GetNumKeys(), 3u);
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_EQ(txn->GetNumKeys(), 1u);
  EXPECT_EQ(transactions_->GetLockStatusData().size(), 1u);
  EXPECT_TRUE(Put("b", "free").ok());
  EXPECT_TRUE(Put("a", "not").IsTimedOut());
  EXPECT_TRUE(txn->PopSavePoint().IsNotFound());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Scan(), "a=1,b=free");
}

TEST_F(TransactionTest, ReadsSeeTheTransactionsWrites) {
  ASSERT_TRUE(Put("a", "db").ok());
  ASSERT_TRUE(Put("b", "db").ok());
  auto txn = Begin();
  ASSERT_TRUE(txn->Delete("a").ok());
  ASSERT_TRUE(txn->Merge("b", "m").ok());
  ASSERT_TRUE(txn->Put("c", "new").ok());
  std::string value;
  EXPECT_TRUE(txn->Get(ReadOptions(), "a", &value).IsNotFound());
  ASSERT_TRUE(txn->Get(ReadOptions(), "b", &value).ok());
  EXPECT_EQ(value, "db,m");
  std::unique_ptr<rocksdb::Iterator> it(txn->GetIterator(ReadOptions()));
  std::string all;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    all += it->key().ToString() + "=" + it->value().ToString() + " ";
  }
  EXPECT_EQ(all, "b=db,m c=new ");
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      txn->MultiGetForUpdate(ReadOptions(), {"a", "b", "c", "d"}, &values);
  EXPECT_TRUE(statuses[0].IsNotFound());
  EXPECT_EQ(values[1] + " " + values[2], "db,m new");
  EXPECT_EQ(txn->GetNumKeys(), 4u);
  EXPECT_EQ(Scan(), "a=db,b=db");
}

TEST_F(TransactionTest, ExpiredTransactionsLoseTheirLocks) {
  TransactionOptions options;
  options.expiration = 1;
  auto txn = Begin(options);
  ASSERT_TRUE(txn->Put("k", "mine").ok());
  ASSERT_TRUE(txn->Put("l", "mine").ok());
  env_->SleepForMicroseconds(2000);
  EXPECT_TRUE(Put("k", "theirs").ok());
  EXPECT_EQ(txn->GetState(), Transaction::LOCKS_STOLEN);
  EXPECT_TRUE(txn->Commit().IsExpired());
  EXPECT_TRUE(txn->Rollback().IsInvalidArgument());
  EXPECT_TRUE(Put("l", "theirs").ok());
  EXPECT_EQ(Scan(), "k=theirs,l=theirs");
}

// Times that only just fit, in any unit.
TEST_F(TransactionTest, TheLongestTimesAreLong) {
  for (const int64_t most : {INT64_MAX, INT64_MAX / 1000, INT64_MAX / 1'000'000}) {
    TransactionOptions options;
    options.expiration = most;
    options.lock_timeout = most;
    auto one = Begin(options);
    ASSERT_TRUE(one->Put("k", "1").ok());
    auto two = Begin(options);
    timespec spent = {};
    std::atomic<bool> done{false};
    std::thread waiting([&] {
      EXPECT_TRUE(two->Put("k", "2").ok());
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
      done = true;
    });
    while (!done && two->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
    env_->SleepForMicroseconds(200'000);
    EXPECT_TRUE(one->Commit().ok());
    waiting.join();
    EXPECT_EQ(spent.tv_sec, 0);
    EXPECT_LT(spent.tv_nsec, 100'000'000) << "it did not sleep";
    EXPECT_TRUE(two->Commit().ok());
  }
}

TEST_F(TransactionTest, ASharedLockThatDoesNotExpireIsNotTakenWithOneThatDoes) {
  TransactionOptions options;
  options.expiration = 1;
  std::string value;
  auto lasting = Begin();
  auto expiring = Begin(options);
  for (auto* txn : {&lasting, &expiring}) {
    EXPECT_TRUE((*txn)->GetForUpdate(ReadOptions(), "k", &value, /*exclusive=*/false).IsNotFound());
  }
  env_->SleepForMicroseconds(2000);
  EXPECT_TRUE(Put("k", "theirs").IsTimedOut());
  ASSERT_TRUE(lasting->Put("seen", value).ok());
  EXPECT_TRUE(lasting->Commit().ok());
  EXPECT_TRUE(Put("k", "theirs").ok());
  EXPECT_TRUE(expiring->Commit().IsExpired());
}

TEST_F(TransactionTest, DeadlocksAreFound) {
  transaction_options_.transaction_lock_timeout = 10'000;
  Open();
  TransactionOptions options;
  options.deadlock_detect = true;
  auto one = Begin(options);
  auto two = Begin(options);
  ASSERT_TRUE(one->Put("a", "1").ok());
  ASSERT_TRUE(two->Put("b", "2").ok());
  std::thread waiting([&] { EXPECT_TRUE(one->Put("b", "1").ok()); });
  uint32_t family = 9;
  std::string key;
  while (one->GetWaitingTxns(&family, &key).empty()) std::this_thread::yield();
  EXPECT_EQ(key, "b");
  EXPECT_EQ(family, 0u);
  EXPECT_TRUE(two->Put("a", "2").IsDeadlock());
  const auto deadlocks = transactions_->GetDeadlockInfoBuffer();
  ASSERT_EQ(deadlocks.size(), 1u);
  EXPECT_EQ(deadlocks[0].path.size(), 2u);
  ASSERT_TRUE(two->Rollback().ok());
  waiting.join();
  ASSERT_TRUE(one->Commit().ok());
  EXPECT_EQ(Scan(), "a=1,b=1");
}

TEST_F(TransactionTest, RangesNeedAPromise) {
  ASSERT_TRUE(Put("b", "1").ok());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "c")
                  .IsNotSupported());
  WriteBatch batch;
  ASSERT_TRUE(batch.DeleteRange("a", "c").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  rocksdb::TransactionDBWriteOptimizations promise;
  promise.skip_concurrency_control = true;
  ASSERT_TRUE(transactions_->Write(WriteOptions(), promise, &batch).ok());
  EXPECT_EQ(Scan(), "");
}

TEST_F(TransactionTest, WhereWritesOutsideDoNotLockTransactionsDo) {
  transaction_options_.skip_concurrency_control = true;
  Open();
  auto one = Begin();
  ASSERT_TRUE(one->Put("k", "1").ok());
  EXPECT_TRUE(Begin()->Put("k", "2").IsTimedOut());
  EXPECT_TRUE(Put("k", "outside").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "outside").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  TransactionOptions unlocked;
  unlocked.skip_concurrency_control = true;
  EXPECT_TRUE(Begin(unlocked)->Put("k", "2").ok());
  ASSERT_TRUE(one->Commit().ok());
  EXPECT_EQ(Get("k"), "1");
}

TEST_F(TransactionTest, WhatIsNotOfferedIsRefusedByName) {
  CloseDb();
  TransactionDB* db = nullptr;
  TransactionDBOptions options;
  options.write_policy = rocksdb::WRITE_PREPARED;
  Status s = TransactionDB::Open(options_, options, name_, &db);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("write_policy"), std::string::npos);
  options = TransactionDBOptions();
  options.lock_mgr_handle.reset(rocksdb::NewRangeLockManager(nullptr));
  EXPECT_TRUE(TransactionDB::Open(options_, options, name_, &db).IsNotSupported());
  EXPECT_EQ(db, nullptr);
}

TEST_F(TransactionTest, TimestampedSnapshots) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("k", "1").ok());
  std::shared_ptr<const rocksdb::Snapshot> snapshot;
  EXPECT_TRUE(txn->CommitAndTryCreateSnapshot().IsInvalidArgument());
  ASSERT_TRUE(txn->CommitAndTryCreateSnapshot(nullptr, 100, &snapshot).ok());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->GetTimestamp(), 100u);
  ASSERT_TRUE(Put("k", "2").ok());
  EXPECT_EQ(Get("k", snapshot.get()), "1");
  EXPECT_TRUE(transactions_->CreateTimestampedSnapshot(50).first.IsInvalidArgument());
  EXPECT_TRUE(transactions_->CreateTimestampedSnapshot(100).first.IsInvalidArgument());
  ASSERT_TRUE(transactions_->CreateTimestampedSnapshot(101).first.ok());
  std::vector<std::shared_ptr<const rocksdb::Snapshot>> all;
  ASSERT_TRUE(transactions_->GetAllTimestampedSnapshots(all).ok());
  EXPECT_EQ(all.size(), 2u);
  all.clear();
  EXPECT_EQ(transactions_->GetLatestTimestampedSnapshot()->GetTimestamp(), 101u);
  transactions_->ReleaseTimestampedSnapshotsOlderThan(101);
  EXPECT_EQ(transactions_->GetTimestampedSnapshot(100), nullptr);
}

TEST_F(TransactionTest, TransfersKeepTheSum) {
  transaction_options_.transaction_lock_timeout = 20;
  Open();
  TransactionOptions options;
  options.deadlock_detect = true;
  const int commits = RunTransfers(
      db_.get(), [&] { return transactions_->BeginTransaction(WriteOptions(), options); }, 6, 4,
      200);
  EXPECT_GT(commits, 0);
  EXPECT_EQ(Get("transfers").size(), 2u * commits - 1);
  EXPECT_TRUE(transactions_->GetLockStatusData().empty());
}

TEST_F(TransactionTest, CommitsAreSerialisable) {
  transaction_options_.transaction_lock_timeout = 20;
  Open();
  TransactionOptions options;
  options.deadlock_detect = true;
  HistoryChecker checker;
  RunRegisters([&] { return transactions_->BeginTransaction(WriteOptions(), options); }, 5, 4, 200,
               &checker);
  EXPECT_GT(checker.size(), 0u);
  EXPECT_EQ(checker.Check(), "");
}

}  // namespace
}  // namespace compassdb
