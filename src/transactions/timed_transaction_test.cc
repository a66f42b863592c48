// SPDX-License-Identifier: Apache-2.0
// Transactions and indexed batches on column families with user-defined timestamps.
#include <thread>

#include "api/comparator_u64ts.h"
#include "db/testing/timed_test_util.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "transactions/transaction_test_util.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ReadOptions;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionDBOptions;
using rocksdb::TransactionOptions;
using rocksdb::WriteBatch;
using rocksdb::WriteBatchWithIndex;
using rocksdb::WriteOptions;

// The default family is plain, "timed" has timestamps.
class TimedTransactionTest : public DbTest {
 protected:
  TimedTransactionTest() {
    transaction_options_.transaction_lock_timeout = 1;
    transaction_options_.default_lock_timeout = 1;
    options_.create_missing_column_families = true;
    timed_options_ = options_;
    timed_options_.comparator = BytewiseComparatorWithU64Ts();
  }
  void SetUp() override { Open(); }
  void Open() {
    CloseDb();
    TransactionDB* db = nullptr;
    Status s = TransactionDB::Open(options_, transaction_options_, name_,
                                   {{rocksdb::kDefaultColumnFamilyName, options_},
                                    {"timed", timed_options_}},
                                   &handles_, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    transactions_ = db;
    db_.reset(db);
  }
  ColumnFamilyHandle* timed() const { return handles_[1]; }
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options = TransactionOptions()) {
    return std::unique_ptr<Transaction>(transactions_->BeginTransaction(WriteOptions(), options));
  }
  void Commit(const std::string& key, const std::string& value, uint64_t time) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Put(timed(), key, value).ok());
    ASSERT_TRUE(txn->SetCommitTimestamp(time).ok());
    Status s = txn->Commit();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::string GetAt(const std::string& key, uint64_t time) {
    At at(time);
    std::string value;
    Status s = db_->Get(at.read, timed(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }

  TransactionDBOptions transaction_options_;
  rocksdb::Options timed_options_;
  TransactionDB* transactions_ = nullptr;
};

TEST_F(TimedTransactionTest, TheCommitGivesTheTime) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(timed(), "a", "1").ok());
  ASSERT_TRUE(txn->Put("plain", "p").ok());
  ASSERT_TRUE(txn->Delete(timed(), "b").ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  EXPECT_EQ(txn->GetCommitTimestamp(), 10u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(GetAt("a", 9), "NOT_FOUND");
  EXPECT_EQ(GetAt("a", 10), "1");
  EXPECT_EQ(Get("plain"), "p");
  txn.reset();  // of the database that is closed now
  Open();
  EXPECT_EQ(GetAt("a", 9), "NOT_FOUND");
  EXPECT_EQ(GetAt("a", 10), "1");
}

TEST_F(TimedTransactionTest, WithoutATimeThereIsNoCommit) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(timed(), "a", "1").ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_EQ(GetAt("a", UINT64_MAX - 1), "NOT_FOUND");
  txn = Begin();
  ASSERT_TRUE(txn->Put("plain", "p").ok());
  EXPECT_TRUE(txn->Commit().ok());  // nothing needs one
  txn = Begin();
  EXPECT_TRUE(txn->Merge(timed(), "a", "1").IsInvalidArgument());
}

TEST_F(TimedTransactionTest, WritesPastTransactionsAreRefused) {
  EXPECT_TRUE(db_->Put(WriteOptions(), timed(), "a", "1").IsNotSupported());
  EXPECT_TRUE(db_->Delete(WriteOptions(), timed(), "a").IsNotSupported());
  EXPECT_TRUE(db_->SingleDelete(WriteOptions(), timed(), "a").IsNotSupported());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(timed(), "a", Time(5), "1").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), timed(), "a", "b", Time(5)).IsNotSupported());
  EXPECT_TRUE(db_->Put(WriteOptions(), "plain", "p").ok());
}

TEST_F(TimedTransactionTest, ReadsForUpdateAreValidatedByTime) {
  Commit("a", "10", 10);
  Commit("b", "20", 20);
  auto txn = Begin();
  std::string value;
  EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), timed(), "a", &value).IsInvalidArgument());
  ASSERT_TRUE(txn->SetReadTimestampForValidation(15).ok());
  ASSERT_TRUE(txn->GetForUpdate(ReadOptions(), timed(), "a", &value).ok());
  EXPECT_EQ(value, "10");
  At other(16), same(15);
  EXPECT_TRUE(txn->GetForUpdate(other.read, timed(), "a", &value).IsInvalidArgument());
  EXPECT_TRUE(txn->GetForUpdate(same.read, timed(), "a", &value).ok());
  EXPECT_TRUE(txn->GetForUpdate(same.read, timed(), "a", &value, true, false).IsInvalidArgument());
  EXPECT_TRUE(txn->GetForUpdate(same.read, timed(), "b", &value).IsBusy());
  EXPECT_TRUE(txn->Put(timed(), "b", "no").IsBusy());
  EXPECT_TRUE(txn->PutUntracked(timed(), "b", "as it may be").ok());
  EXPECT_TRUE(txn->SetReadTimestampForValidation(14).IsInvalidArgument());
  EXPECT_TRUE(txn->SetCommitTimestamp(15).IsInvalidArgument());
  ASSERT_TRUE(txn->SetCommitTimestamp(30).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(GetAt("b", 30), "as it may be");
  // The same after a flush, and for a transaction that is used again.
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), timed()).ok());
  Transaction* const used = txn.get();
  ASSERT_EQ(transactions_->BeginTransaction(WriteOptions(), TransactionOptions(), used), used);
  EXPECT_TRUE(used->GetForUpdate(ReadOptions(), timed(), "a", &value).IsInvalidArgument());
  ASSERT_TRUE(used->SetReadTimestampForValidation(29).ok());
  EXPECT_TRUE(used->Put(timed(), "b", "no").IsBusy());
  EXPECT_TRUE(used->Put(timed(), "a", "yes").ok());
}

TEST_F(TimedTransactionTest, SnapshotsAreValidatedBySequence) {
  TransactionOptions with_snapshot;
  with_snapshot.set_snapshot = true;
  auto txn = Begin(with_snapshot);
  Commit("a", "later in sequence", 5);
  EXPECT_TRUE(txn->Put(timed(), "a", "1").IsBusy());
  EXPECT_TRUE(txn->Put(timed(), "b", "1").ok());
  // A later write at an earlier time than an existing one.
  Commit("c", "50", 50);
  txn = Begin(with_snapshot);
  Commit("c", "40", 40);
  EXPECT_TRUE(txn->Put(timed(), "c", "1").IsBusy());
}

TEST_F(TimedTransactionTest, KeysAreLockedAtAllTimes) {
  auto one = Begin(), two = Begin();
  ASSERT_TRUE(one->Put(timed(), "k", "1").ok());
  EXPECT_TRUE(two->Put(timed(), "k", "2").IsTimedOut());
  EXPECT_TRUE(two->Put("k", "2").ok());  // another family's
}

TEST_F(TimedTransactionTest, OwnWritesAreReadOnTopOfATime) {
  Commit("a", "10", 10);
  Commit("b", "10", 10);
  Commit("c", "20", 20);
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(timed(), "a", "own").ok());
  ASSERT_TRUE(txn->Delete(timed(), "b").ok());
  ASSERT_TRUE(txn->Put(timed(), "d", "own").ok());
  ASSERT_TRUE(txn->Put(timed(), "d", "own twice").ok());
  std::string value;
  EXPECT_TRUE(txn->Get(ReadOptions(), timed(), "a", &value).IsInvalidArgument());
  At at(15);
  ASSERT_TRUE(txn->Get(at.read, timed(), "a", &value).ok());
  EXPECT_EQ(value, "own");
  EXPECT_TRUE(txn->Get(at.read, timed(), "b", &value).IsNotFound());
  EXPECT_TRUE(txn->Get(at.read, timed(), "c", &value).IsNotFound());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put(timed(), "e", "gone").ok());
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  std::unique_ptr<rocksdb::Iterator> it(txn->GetIterator(at.read, timed()));
  std::string seen;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    seen += it->key().ToString() + "=" + it->value().ToString() + ",";
  }
  for (it->SeekToLast(); it->Valid(); it->Prev()) seen += it->key().ToString();
  EXPECT_EQ(seen, "a=own,d=own twice,da");
  it.reset();
  ASSERT_TRUE(txn->SetCommitTimestamp(30).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(GetAt("d", 30), "own twice");
  EXPECT_EQ(GetAt("b", 30), "NOT_FOUND");
  EXPECT_EQ(GetAt("b", 29), "10");
}

TEST_F(TimedTransactionTest, WhatIsPreparedGetsItsTimeAtTheCommit) {
  auto txn = Begin();
  ASSERT_TRUE(txn->SetName("one").ok());
  ASSERT_TRUE(txn->Put(timed(), "a", "1").ok());
  ASSERT_TRUE(txn->Put("plain", "p").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  Status s = txn->Commit();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(GetAt("a", 10), "1");
  txn = Begin();
  ASSERT_TRUE(txn->SetName("two").ok());
  ASSERT_TRUE(txn->Put(timed(), "b", "2").ok());
  ASSERT_TRUE(txn->Delete(timed(), "a").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  txn.reset();
  for (int i = 0; i < 2; ++i) {  // from the first log, and from the one that it went on to
    Open();
    EXPECT_EQ(GetAt("a", 9), "NOT_FOUND");
    EXPECT_EQ(GetAt("a", 10), "1");
    EXPECT_EQ(GetAt("a", 100), "1");
    EXPECT_EQ(Get("plain"), "p");
  }
  std::unique_ptr<Transaction> found(transactions_->GetTransactionByName("two"));
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->SetCommitTimestamp(20).ok());
  s = found->Commit();
  ASSERT_TRUE(s.ok()) << s.ToString();
  found.reset();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(GetAt("b", 19), "NOT_FOUND");
    EXPECT_EQ(GetAt("b", 20), "2");
    EXPECT_EQ(GetAt("a", 19), "1");
    EXPECT_EQ(GetAt("a", 20), "NOT_FOUND");
    Open();
  }
}

TEST_F(TimedTransactionTest, UnindexedWritesGetTheirTimeToo) {
  auto txn = Begin();
  txn->DisableIndexing();
  ASSERT_TRUE(txn->Put(timed(), "a", "1").ok());
  txn->EnableIndexing();
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(GetAt("a", 9), "NOT_FOUND");
  EXPECT_EQ(GetAt("a", 10), "1");
}

TEST_F(TimedTransactionTest, TheDefaultFamilyMayHaveTimes) {
  CloseDb();
  TransactionDB* db = nullptr;
  Status s = TransactionDB::Open(timed_options_, transaction_options_, "/timed", &db);
  ASSERT_TRUE(s.ok()) << s.ToString();
  db_.reset(db);
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->GetCommitTimeWriteBatch()->Put("with the commit", "2").ok());
  ASSERT_TRUE(txn->SetName("one").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  for (int i = 0; i < 2; ++i) {
    for (const char* key : {"a", "with the commit"}) {
      At before(9), at(10);
      std::string value;
      EXPECT_TRUE(db_->Get(before.read, key, &value).IsNotFound()) << key;
      EXPECT_TRUE(db_->Get(at.read, key, &value).ok()) << key;
    }
    db_.reset();
    ASSERT_TRUE(TransactionDB::Open(timed_options_, transaction_options_, "/timed", &db).ok());
    db_.reset(db);
  }
  db_.reset();
}

// Threads raise a counter, each from what it read at its read time.
TEST_F(TimedTransactionTest, NoUpdateIsLost) {
  Commit("n", "0", 1);
  std::atomic<uint64_t> clock{1};
  std::atomic<int> commits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto txn = Begin();
        ASSERT_TRUE(txn->SetReadTimestampForValidation(clock.load()).ok());
        std::string value;
        Status s = txn->GetForUpdate(ReadOptions(), timed(), "n", &value);
        if (s.ok()) s = txn->Put(timed(), "n", std::to_string(std::stoi(value) + 1));
        if (s.ok()) s = txn->SetCommitTimestamp(clock.fetch_add(1) + 1);
        if (s.ok()) s = txn->Commit();
        if (s.ok()) ++commits;
        ASSERT_TRUE(s.ok() || s.IsBusy() || s.IsTimedOut()) << s.ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(commits, 0);
  EXPECT_EQ(GetAt("n", clock + 1), std::to_string(commits));
}

class TimedBatchTest : public DbTest {
 protected:
  TimedBatchTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }
  void SetUp() override { OpenDb(); }
};

TEST_F(TimedBatchTest, KeysAreIndexedWithoutTimes) {
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_TRUE(db_->Put(WriteOptions(), "z", Time(5), "5").ok());
  WriteBatchWithIndex batch(options_.comparator, 0, /*overwrite_key=*/true);
  ASSERT_TRUE(batch.Put(family, "a", "1").ok());
  ASSERT_TRUE(batch.Put("a", "2").ok());
  ASSERT_TRUE(batch.Delete(family, "b").ok());
  EXPECT_TRUE(batch.Merge(family, "a", "x").IsInvalidArgument());
  EXPECT_TRUE(batch.Put(family, "a", Time(3), "x").IsNotSupported());
  std::unique_ptr<rocksdb::WBWIIterator> it(batch.NewIterator(family));
  it->Seek("a");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->Entry().key.ToString(), "a");
  EXPECT_EQ(it->Entry().value.ToString(), "2");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->Entry().key.ToString(), "b");
  it->Next();
  EXPECT_FALSE(it->Valid());
  std::string value;
  ASSERT_TRUE(batch.GetFromBatch(family, options_, "a", &value).ok());
  EXPECT_EQ(value, "2");
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), family, "a", &value).IsInvalidArgument());
  At at(7);
  ASSERT_TRUE(batch.GetFromBatchAndDB(db_.get(), at.read, family, "z", &value).ok());
  EXPECT_EQ(value, "5");
  EXPECT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).IsInvalidArgument());
  ASSERT_TRUE(batch.GetWriteBatch()->UpdateTimestamps(Time(6), [](uint32_t) { return size_t{8}; }).ok());
  ASSERT_TRUE(batch.GetFromBatch(family, options_, "a", &value).ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).ok());
  ASSERT_TRUE(db_->Get(at.read, "a", &value).ok());
  EXPECT_EQ(value, "2");
}

TEST_F(TimedBatchTest, OptimisticTransactionsReadOnly) {
  CloseDb();
  rocksdb::OptimisticTransactionDB* db = nullptr;
  ASSERT_TRUE(rocksdb::OptimisticTransactionDB::Open(options_, name_, &db).ok());
  db_.reset(db);
  ASSERT_TRUE(db->Put(WriteOptions(), "a", Time(5), "5").ok());
  At at(7);
  std::string value;
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
  EXPECT_TRUE(txn->SetCommitTimestamp(9).IsNotSupported());
  EXPECT_TRUE(txn->SetReadTimestampForValidation(9).IsNotSupported());
  ASSERT_TRUE(txn->GetForUpdate(at.read, db->DefaultColumnFamily(), "a", &value).ok());
  EXPECT_EQ(value, "5");
  EXPECT_TRUE(txn->Commit().ok());
  txn.reset(db->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->GetForUpdate(at.read, db->DefaultColumnFamily(), "a", &value).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "a", Time(6), "6").ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  // In parallel validation, too.
  txn.reset();
  db_.reset();
  rocksdb::OptimisticTransactionDBOptions parallel;
  parallel.validate_policy = rocksdb::OccValidationPolicy::kValidateParallel;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(rocksdb::OptimisticTransactionDB::Open(
                  options_, parallel, name_,
                  {ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, options_)}, &handles, &db)
                  .ok());
  db_.reset(db);
  for (ColumnFamilyHandle* handle : handles) ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  txn.reset(db->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->GetForUpdate(at.read, db->DefaultColumnFamily(), "a", &value).ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(db->DefaultColumnFamily(), "a", Time(7), "7").ok());
  ASSERT_TRUE(db->Write(WriteOptions(), &batch).ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  txn.reset(db->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->Put("a", "own").ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());  // there is no time to give
}

}  // namespace
}  // namespace compassdb
