// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/optimistic_transaction_db.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "compassdb/table.h"
#include "db/testing/null_handle_test_util.h"
#include "rocksdb/listener.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/sst_file_writer.h"
#include "transactions/transaction_test_util.h"

namespace compassdb {
namespace {

using rocksdb::OccValidationPolicy;
using rocksdb::OptimisticTransactionDB;
using rocksdb::ReadOptions;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

// Lets everything through; something else happens just before.
class Interruption final : public rocksdb::RateLimiter {
 public:
  using RateLimiter::Request;
  void Request(int64_t, rocksdb::Env::IOPriority, rocksdb::Statistics*) override {
    if (before) before();
  }
  void SetBytesPerSecond(int64_t) override {}
  int64_t GetSingleBurstBytes() const override { return 1 << 20; }
  int64_t GetTotalBytesThrough(rocksdb::Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(rocksdb::Env::IOPriority) const override { return 0; }
  int64_t GetBytesPerSecond() const override { return 1 << 30; }

  std::function<void()> before;
};

class OptimisticTest : public DbTest, public ::testing::WithParamInterface<OccValidationPolicy> {
 protected:
  void SetUp() override {
    options_.merge_operator = std::make_shared<AppendOperator>();
    Open();
  }
  void Open() {
    rocksdb::OptimisticTransactionDBOptions options;
    options.validate_policy = GetParam();
    options.occ_lock_buckets = 64;
    ASSERT_TRUE(OptimisticTransactionDB::Open(
                    options_, options, name_,
                    {rocksdb::ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, options_)},
                    &handles_, &transactions_)
                    .ok());
    db_.reset(transactions_);
  }
  std::unique_ptr<Transaction> Begin(bool set_snapshot = false) {
    rocksdb::OptimisticTransactionOptions options;
    options.set_snapshot = set_snapshot;
    return std::unique_ptr<Transaction>(transactions_->BeginTransaction(WriteOptions(), options));
  }
  void DoesNotOvertake(bool entity, Interruption* limiter);

  OptimisticTransactionDB* transactions_ = nullptr;
};

// A part of a memtable is flushed, and the rest has older records: of other keys.
TEST_P(OptimisticTest, AConflictInAPartThatWasFlushed) {
  struct Sealed final : rocksdb::EventListener {
    void OnMemTableSealed(const rocksdb::MemTableInfo&) override { ++count; }
    std::atomic<int> count{0};
  };
  const auto sealed = std::make_shared<Sealed>();
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  PieceTableOptions piece;
  piece.store = StoreKind::kTableless;
  piece.memtable_as_log_index = true;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  options_.write_buffer_size = 64 << 10;
  options_.listeners.push_back(sealed);
  Open();
  ASSERT_TRUE(Put("first", "x").ok());
  Flush();  // the next memtable has parts
  constexpr int kTransactions = 40;
  for (int i = 0; i < kTransactions; ++i) ASSERT_TRUE(Put(Key(i), "old").ok());
  std::vector<std::unique_ptr<Transaction>> all;
  for (int i = 0; i < kTransactions; ++i) {
    std::string value;
    ASSERT_TRUE(all.emplace_back(Begin())->GetForUpdate(ReadOptions(), Key(i), &value).ok());
    ASSERT_TRUE(all.back()->Put(Key(i), value + " and mine").ok());
  }
  for (int i = 0; i < kTransactions; ++i) ASSERT_TRUE(Put(Key(i), "of another").ok());
  const uint64_t before = IntProperty("compassdb.tableless-records");
  const int count = sealed->count;
  for (int i = 1000; sealed->count == count && i < 20000; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  ASSERT_EQ(sealed->count, count + 1);
  for (int i = 0; IntProperty("compassdb.tableless-records") == before && i < 10000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(IntProperty("compassdb.tableless-records"), before);
  EXPECT_GT(IntProperty("rocksdb.num-entries-active-mem-table"), 100u);  // the other part
  for (int i = 0; i < kTransactions; ++i) {
    EXPECT_TRUE(all[static_cast<size_t>(i)]->Commit().IsBusy()) << i;
    EXPECT_EQ(Get(Key(i)), "of another");
  }
}

TEST_P(OptimisticTest, RefusesNullHandles) { ExpectNullHandlesRefused(db_.get()); }

TEST_P(OptimisticTest, CommitsWhatNoOtherWriterChanged) {
  auto txn = Begin();
  std::string value;
  EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).IsNotFound());
  ASSERT_TRUE(txn->Put("k", "mine").ok());
  ASSERT_TRUE(txn->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "mine");
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ASSERT_TRUE(Put("other", "x").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("k"), "mine");
  // It may be used again.
  ASSERT_TRUE(txn->Put("l", "again").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("l"), "again");
}

TEST_P(OptimisticTest, AWriteOfAnotherIsAConflict) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("k", "mine").ok());
  ASSERT_TRUE(Put("k", "theirs").ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  EXPECT_EQ(Get("k"), "theirs");
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("k"), "theirs");
}

TEST_P(OptimisticTest, AReadForUpdateIsChecked) {
  ASSERT_TRUE(Put("k", "1").ok());
  std::string value;
  auto txn = Begin();
  ASSERT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).ok());
  ASSERT_TRUE(txn->Put("l", value).ok());
  ASSERT_TRUE(db_->Delete(WriteOptions(), "k").ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  auto undone = Begin();
  ASSERT_TRUE(undone->GetForUpdate(ReadOptions(), "l", &value).IsNotFound());
  undone->UndoGetForUpdate("l");
  ASSERT_TRUE(Put("l", "x").ok());
  EXPECT_TRUE(undone->Commit().ok());
}

TEST_P(OptimisticTest, UntrackedWritesAreNotChecked) {
  auto txn = Begin();
  ASSERT_TRUE(txn->PutUntracked("k", "mine").ok());
  ASSERT_TRUE(Put("k", "theirs").ok());
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("k"), "mine");
}

// They do not come between the check and the writes of another transaction, inside of one or not.
TEST_P(OptimisticTest, UntrackedWritesDoNotOvertakeACheck) {
  const auto limiter = std::make_shared<Interruption>();
  CloseDb();
  options_.rate_limiter = limiter;
  Open();
  for (const bool entity : {false, true}) DoesNotOvertake(entity, limiter.get());
}

void OptimisticTest::DoesNotOvertake(bool entity, Interruption* limiter) {
  ASSERT_TRUE(db_->Delete(WriteOptions(), "k").ok());
  auto untracked = Begin();
  ASSERT_TRUE(untracked->PutUntracked("k", "untracked").ok());
  WriteOptions interrupted;
  interrupted.rate_limiter_priority = rocksdb::Env::IO_USER;
  std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(interrupted));
  std::string value;
  ASSERT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).IsNotFound());
  ASSERT_TRUE(txn->Put("k", "seen " + value).ok());
  std::thread other;
  std::atomic<bool> done{false};
  limiter->before = [&] {
    other = std::thread([&] {
      const Status s = entity ? transactions_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "k",
                                                         {{rocksdb::kDefaultWideColumnName, "untracked"}})
                              : untracked->Commit();
      EXPECT_TRUE(s.ok()) << s.ToString();
      done = true;
    });
    for (int i = 0; i < 200 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const Status s = txn->Commit();
  other.join();
  limiter->before = nullptr;
  EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
  EXPECT_EQ(Get("k"), "untracked");
}

TEST_P(OptimisticTest, TheSnapshotSaysSinceWhen) {
  auto txn = Begin(/*set_snapshot=*/true);
  ASSERT_TRUE(Put("k", "theirs").ok());
  ASSERT_TRUE(txn->Put("k", "mine").ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  txn = Begin();
  txn->SetSnapshotOnNextOperation();
  EXPECT_EQ(txn->GetSnapshot(), nullptr);
  ASSERT_TRUE(Put("k", "theirs").ok());
  ASSERT_TRUE(txn->Put("k", "mine").ok());
  EXPECT_NE(txn->GetSnapshot(), nullptr);
  EXPECT_TRUE(txn->Commit().ok());
}

TEST_P(OptimisticTest, ConflictsAreFoundInTables) {
  for (const bool conflict : {true, false}) {
    ASSERT_TRUE(Put("k", "old").ok());
    auto txn = Begin();
    ASSERT_TRUE(txn->Put("k", "mine").ok());
    ASSERT_TRUE(Put(conflict ? "k" : "other", "theirs").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_TRUE(Put("later", "x").ok());
    EXPECT_EQ(txn->Commit().IsBusy(), conflict);
  }
}

// They come into tables past the memtables, which hold what is older.
TEST_P(OptimisticTest, IngestedRecordsAreConflicts) {
  for (const bool conflict : {true, false}) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    ASSERT_TRUE(writer.Open("/ingested").ok());
    ASSERT_TRUE(writer.Put(conflict ? "k" : "other", "theirs").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(Put("a", "x").ok());
    auto txn = Begin();
    std::string value;
    ASSERT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).IsNotFound());
    ASSERT_TRUE(txn->Put("l", "seen " + value).ok());
    ASSERT_TRUE(db_->IngestExternalFile({"/ingested"}, rocksdb::IngestExternalFileOptions()).ok());
    EXPECT_EQ(txn->Commit().IsBusy(), conflict);
    if (conflict) {
      ASSERT_TRUE(db_->Delete(WriteOptions(), "k").ok());
    }
  }
}

TEST_P(OptimisticTest, DeletedKeysAreConflictsInEachLayout) {
  int layout = 0;
  for (const PieceTableOptions& pieces : LayoutsOfDeletions()) {
    SCOPED_TRACE("layout " + std::to_string(layout++));
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    options_.table_factory.reset(NewPieceTableFactory(pieces));
    Open();
    DeletedKeysConflict(db_.get(), [this] { return Begin(/*set_snapshot=*/true).release(); });
  }
}

TEST_P(OptimisticTest, SavePointsTakeKeysBack) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put("b", "1").ok());
  ASSERT_TRUE(txn->Delete("a").ok());
  EXPECT_EQ(txn->GetNumKeys(), 2u);
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_EQ(txn->GetNumKeys(), 1u);
  EXPECT_EQ(txn->GetNumDeletes(), 0u);
  ASSERT_TRUE(Put("b", "theirs").ok());
  EXPECT_TRUE(txn->RollbackToSavePoint().IsNotFound());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Scan(), "a=1,b=theirs");
}

TEST_P(OptimisticTest, RefusesWhatItCannotCheck) {
  auto txn = Begin();
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument());
  EXPECT_TRUE(txn->SetName("x").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "b")
                  .IsNotSupported());
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
}

TEST_P(OptimisticTest, TransfersKeepTheSum) {
  const int commits = RunTransfers(
      db_.get(), [&] { return transactions_->BeginTransaction(WriteOptions()); }, 6, 4, 300);
  EXPECT_GT(commits, 0);
  EXPECT_EQ(Get("transfers").size(), 2u * commits - 1);
}

TEST_P(OptimisticTest, CommitsAreSerialisable) {
  HistoryChecker checker;
  RunRegisters([&] { return transactions_->BeginTransaction(WriteOptions()); }, 5, 4, 300,
               &checker);
  EXPECT_GT(checker.size(), 0u);
  EXPECT_EQ(checker.Check(), "");
}

INSTANTIATE_TEST_SUITE_P(Policies, OptimisticTest,
                         ::testing::Values(OccValidationPolicy::kValidateSerial,
                                           OccValidationPolicy::kValidateParallel));

// The checker itself must be able to fail.
TEST(HistoryChecker, FindsCirclesAndLostUpdates) {
  HistoryChecker circle;
  circle.Committed(1, {{0, 0, false}, {1, 0, true}});
  circle.Committed(2, {{1, 0, false}, {0, 0, true}});
  EXPECT_NE(circle.Check(), "");
  HistoryChecker lost;
  lost.Committed(1, {{0, 0, true}});
  lost.Committed(2, {{0, 0, true}});
  EXPECT_NE(lost.Check(), "");
}

}  // namespace
}  // namespace compassdb
