// SPDX-License-Identifier: Apache-2.0
// Two-phase commit: what is prepared survives, and is committed once.
#include <algorithm>
#include <set>

#include "compassdb/encryption.h"
#include "compassdb/table.h"
#include "format/file_names.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/utilities/transaction_db.h"
#include "transactions/transaction_test_util.h"

namespace compassdb {
namespace {

using rocksdb::FlushOptions;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionDBOptions;
using rocksdb::WriteOptions;

class TwoPhaseTest : public DbTest {
 protected:
  TwoPhaseTest() {
    options_.merge_operator = std::make_shared<AppendOperator>();
    families_ = {"default", "second"};
  }
  void SetUp() override {
    options_.create_missing_column_families = true;
    Open();
  }
  Status TryOpenTransactions() {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : families_) descriptors.emplace_back(family, options_);
    TransactionDB* db = nullptr;
    Status s = TransactionDB::Open(options_, TransactionDBOptions(), name_, descriptors, &handles_,
                                   &db);
    transactions_ = db;
    db_.reset(db);
    return s;
  }
  void Open() {
    CloseDb();
    Status s = TryOpenTransactions();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CrashAndOpen(uint64_t seed = 1) {
    Crash(CutMode::kDropUnsynced, seed);
    Open();
  }
  // Prepared with the writes given as "key=value" of the default family.
  std::unique_ptr<Transaction> Prepared(const std::string& name,
                                        const std::vector<std::string>& puts) {
    WriteOptions options;
    options.sync = true;
    std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(options));
    EXPECT_TRUE(txn->SetName(name).ok());
    for (const std::string& put : puts) {
      const size_t at = put.find('=');
      EXPECT_TRUE(txn->Put(put.substr(0, at), put.substr(at + 1)).ok());
    }
    Status s = txn->Prepare();
    EXPECT_TRUE(s.ok()) << s.ToString();
    return txn;
  }
  std::string PreparedNames() {
    std::vector<Transaction*> all;
    transactions_->GetAllPreparedTransactions(&all);
    std::string names;
    for (Transaction* txn : all) names += txn->GetName() + " ";
    return names;
  }
  // The transaction that recovery made; the caller deletes it.
  std::unique_ptr<Transaction> Recovered(const std::string& name) {
    Transaction* txn = transactions_->GetTransactionByName(name);
    EXPECT_NE(txn, nullptr) << name;
    if (txn != nullptr) {
      WriteOptions options;
      options.sync = true;
      txn->SetWriteOptions(options);
    }
    return std::unique_ptr<Transaction>(txn);
  }
  // Fills and flushes memtables, so that logs are done with.
  void Churn(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(Put("churn", std::to_string(i)).ok());
      ASSERT_TRUE(db_->Put(WriteOptions(), handles_[1], "churn", std::to_string(i)).ok());
      ASSERT_TRUE(db_->Flush(FlushOptions(), handles_).ok());
    }
  }
  size_t Logs() {
    std::vector<std::string> names;
    EXPECT_TRUE(env_->GetChildren(name_, &names).ok());
    return static_cast<size_t>(std::count_if(names.begin(), names.end(), [](const auto& name) {
      return name.size() > 4 && name.compare(name.size() - 4, 4, ".log") == 0;
    }));
  }

  TransactionDB* transactions_ = nullptr;
};

// A page of the log's last segment was never written: a torn end like any other. Prepared sections need the log to be
// synced as it is.
TEST_F(TwoPhaseTest, AnEncryptedLogThatIsTornAtItsEnd) {
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewEncryptedEnv(options_.env, provider));
  options_.env = env.get();
  Open();
  SavedFiles files;
  {
    const auto txn = Prepared("t", {"a=1"});
    ASSERT_TRUE(Put("later", std::string(20000, 'x')).ok());
    files = SaveFiles();
  }
  const std::string log = FilesOf(FileType::kWal).back();
  for (size_t i = 0; i < 4096; ++i) files[log][files[log].size() - 1 - i] = 0;
  for (const bool repair : {false, true}) {
    SCOPED_TRACE(repair);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    ASSERT_TRUE(fs_->CreateDir(name_).ok());
    for (const auto& [name, data] : files) SetFile(JoinPath(name_, name), data);
    if (repair) {
      const Status s = rocksdb::RepairDB(name_, options_, {{"default", options_}, {"second", options_}});
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    Open();
    EXPECT_EQ(Get("later"), "NOT_FOUND");
    const std::unique_ptr<Transaction> txn(transactions_->GetTransactionByName("t"));
    ASSERT_NE(txn, nullptr);
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Get("a"), "1");
  }
  CloseDb();
}

// The commit's log has only a mark, so memtables have the values.
TEST_F(TwoPhaseTest, WithMemTablesThatAreAnIndexOfTheLog) {
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  PieceTableOptions piece;
  piece.store = StoreKind::kTableless;
  piece.memtable_as_log_index = true;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  options_.avoid_flush_during_recovery = true;
  Open();
  const auto value = [](char c) { return std::string(500, c); };
  ASSERT_TRUE(Put("b", value('0')).ok());
  auto committed = Prepared("committed", {"a=" + value('1')});
  auto open = Prepared("open", {"b=" + value('2')});
  Churn(2);
  ASSERT_TRUE(committed->Commit().ok());
  EXPECT_EQ(Get("a"), value('1'));
  EXPECT_EQ(Get("b"), value('0'));
  committed.reset();
  open.reset();
  for (const bool crash : {false, true}) {
    if (crash) {
      CrashAndOpen();
    } else {
      Open();
    }
    EXPECT_EQ(Get("a"), value('1'));
    EXPECT_EQ(Get("b"), value('0'));
    EXPECT_EQ(PreparedNames(), "open ");
  }
  ASSERT_TRUE(Recovered("open")->Commit().ok());
  ASSERT_TRUE(Put("c", value('3'), /*sync=*/true).ok());
  for (const bool flush : {false, true}) {
    if (flush) Flush();
    EXPECT_EQ(Get("a"), value('1'));
    EXPECT_EQ(Get("b"), value('2'));
    EXPECT_EQ(Get("c"), value('3'));
    CrashAndOpen();
    EXPECT_EQ(Get("b"), value('2'));
  }
}

TEST_F(TwoPhaseTest, PreparedDataIsInvisibleBeforeTheCommit) {
  auto txn = Prepared("x", {"a=1"});
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_GT(txn->GetLogNumber(), 0u);
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument());
  EXPECT_TRUE(txn->RollbackToSavePoint().IsInvalidArgument());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(transactions_->GetTransactionByName("x"), nullptr);
}

// Its locks would be held for longer: only the preparation is slowed.
TEST_F(TwoPhaseTest, TheEndOfWhatIsPreparedHasNoLowPriority) {
  for (auto* trigger : {&options_.level0_slowdown_writes_trigger, &options_.level0_stop_writes_trigger}) {
    *trigger = 1000;
  }
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  auto committed = Prepared("committed", {"a=1"});
  auto rolled_back = Prepared("rolled back", {"b=1"});
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  Churn(5);
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  WriteOptions low;
  low.low_pri = true;
  low.no_slowdown = true;
  EXPECT_TRUE(db_->Put(low, "c", "1").IsIncomplete());
  committed->SetWriteOptions(low);
  rolled_back->SetWriteOptions(low);
  Status s = committed->Commit();
  EXPECT_TRUE(s.ok()) << s.ToString();
  s = rolled_back->Rollback();
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Get("a"), "1");
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
}

TEST_F(TwoPhaseTest, PreparedTransactionsSurviveCrashes) {
  Prepared("x", {"a=1", "b=1"});
  Prepared("y", {"c=1"})->Rollback();
  for (uint64_t crash = 0; crash < 4; ++crash) {
    CrashAndOpen(crash);
    EXPECT_EQ(PreparedNames(), "x ");
    EXPECT_EQ(Get("a"), "NOT_FOUND");
    Churn(2);
  }
  ASSERT_TRUE(Recovered("x")->Commit().ok());
  EXPECT_EQ(Get("a"), "1");
  for (uint64_t crash = 0; crash < 2; ++crash) {
    CrashAndOpen(crash);
    EXPECT_EQ(PreparedNames(), "");
    EXPECT_EQ(Get("a") + Get("b") + Get("c"), "11NOT_FOUND");
  }
}

TEST_F(TwoPhaseTest, ACommitInALaterLogIsAppliedOnce) {
  // Merges would show a second application.
  std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->SetName("x").ok());
  ASSERT_TRUE(txn->Merge("m", "x").ok());
  ASSERT_TRUE(txn->Merge(handles_[1], "m", "x").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  const std::string log = WalFileName(name_, txn->GetLogNumber());
  Churn(2);
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();  // before its database is closed
  EXPECT_EQ(Get("m") + GetIn(1, "m"), "xx");
  // One family's data is flushed to tables, the other's stays in the log.
  ASSERT_TRUE(db_->Flush(FlushOptions(), handles_[0]).ok());
  EXPECT_TRUE(env_->FileExists(log).ok());
  ASSERT_TRUE(db_->SyncWAL().ok());
  for (uint64_t crash = 0; crash < 3; ++crash) {
    CrashAndOpen(crash);
    EXPECT_EQ(Get("m") + GetIn(1, "m"), "xx") << crash;
  }
}

TEST_F(TwoPhaseTest, WritesAfterThePreparationAreCommittedWithTheRest) {
  auto txn = Prepared("x", {"a=1", "b=1", "c=1"});
  Churn(2);  // the commit comes in another log
  const uint64_t first_log = txn->GetLogNumber();
  ASSERT_TRUE(txn->Put("a", "late").ok());
  ASSERT_TRUE(txn->Delete("b").ok());
  ASSERT_TRUE(txn->Merge("m", "late").ok());
  txn->SetSavePoint();
  EXPECT_TRUE(txn->RollbackToSavePoint().IsInvalidArgument());
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  ASSERT_TRUE(Put("d", "1", /*sync=*/true).ok());
  const auto sequence = db_->GetLatestSequenceNumber();
  const std::string expected = "a=late,c=1,churn=1,d=1,m=late";
  EXPECT_EQ(Scan(), expected);
  for (uint64_t crash = 0; crash < 3; ++crash) {
    CrashAndOpen(crash);
    EXPECT_EQ(PreparedNames(), "");
    EXPECT_EQ(Scan(), expected) << crash;
    EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  }
  Churn(2);
  EXPECT_FALSE(env_->FileExists(WalFileName(name_, first_log)).ok());
}

TEST_F(TwoPhaseTest, WritesAfterThePreparationGoWithARollback) {
  auto txn = Prepared("x", {"a=1"});
  ASSERT_TRUE(txn->Put("b", "late").ok());
  ASSERT_TRUE(txn->Rollback().ok());
  txn.reset();
  CrashAndOpen();
  EXPECT_EQ(PreparedNames() + Scan(), "");
}

TEST_F(TwoPhaseTest, ARecoveredTransactionTakesMoreWrites) {
  Prepared("x", {"a=1"});
  CrashAndOpen();
  auto txn = Recovered("x");
  ASSERT_TRUE(txn->Put("b", "late").ok());
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  CrashAndOpen();
  EXPECT_EQ(Scan(), "a=1,b=late");
}

TEST_F(TwoPhaseTest, LogsOfPreparedSectionsAreKeptNoLongerThanNeeded) {
  auto txn = Prepared("x", {"a=1"});
  const uint64_t log = txn->GetLogNumber();
  Churn(3);
  const size_t kept = Logs();
  EXPECT_GT(kept, 1u);
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  Churn(3);
  EXPECT_LT(Logs(), kept);
  EXPECT_FALSE(env_->FileExists(WalFileName(name_, log)).ok());
  CrashAndOpen();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(TwoPhaseTest, SequencesAfterRecoveryAreThoseOfBefore) {
  auto txn = Prepared("x", {"a=1", "b=1", "c=1"});
  ASSERT_TRUE(Put("k", "before").ok());
  ASSERT_TRUE(txn->GetCommitTimeWriteBatch()->Put("with", "commit").ok());
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  ASSERT_TRUE(Put("k", "after", /*sync=*/true).ok());
  const auto sequence = db_->GetLatestSequenceNumber();
  CrashAndOpen();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  EXPECT_EQ(Get("k") + Get("with") + Get("c"), "aftercommit1");
}

TEST_F(TwoPhaseTest, LogsThatAreKeptAtOpenAreReadAgain) {
  options_.avoid_flush_during_recovery = true;
  Open();
  Prepared("x", {"a=1"});
  CrashAndOpen();
  ASSERT_TRUE(Put("k", "v").ok());
  ASSERT_TRUE(Recovered("x")->Commit().ok());
  Prepared("x", {"a=2"});
  for (uint64_t crash = 0; crash < 3; ++crash) {
    CrashAndOpen(crash);
    EXPECT_EQ(PreparedNames(), "x ");
    EXPECT_EQ(Get("a") + Get("k"), "1v");
  }
  ASSERT_TRUE(Recovered("x")->Rollback().ok());
  ASSERT_TRUE(db_->SyncWAL().ok());
  CrashAndOpen();
  EXPECT_EQ(PreparedNames(), "");
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(TwoPhaseTest, ADroppedFamilyDoesNotHoldACommitUp) {
  std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->SetName("x").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Put(handles_[1], "gone", "1").ok());
  ASSERT_TRUE(txn->Put("b", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(db_->SyncWAL().ok());
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  txn.reset();
  families_ = {"default"};
  CrashAndOpen();
  ASSERT_TRUE(Recovered("x")->Commit().ok());
  ASSERT_TRUE(Put("b", "2", /*sync=*/true).ok());
  const auto sequence = db_->GetLatestSequenceNumber();
  CrashAndOpen();
  EXPECT_EQ(Scan(), "a=1,b=2");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
}

TEST_F(TwoPhaseTest, AFamilyDroppedBetweenPrepareAndCommit) {
  std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->SetName("x").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Put(handles_[1], "gone", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  std::unique_ptr<Transaction> late(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(late->Put("b", "1").ok());
  ASSERT_TRUE(late->Put(handles_[1], "late", "1").ok());
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(late->Commit().IsInvalidArgument());
  EXPECT_EQ(Scan(), "a=1");
  EXPECT_TRUE(Put("c", "1", /*sync=*/true).ok());
  txn.reset();
  late.reset();
  families_ = {"default"};
  CrashAndOpen();
  EXPECT_EQ(Scan(), "a=1,c=1");
}

TEST_F(TwoPhaseTest, APlainDatabaseKeepsWhatIsPrepared) {
  Prepared("x", {"a=1"});
  CloseDb();
  ASSERT_TRUE(TryOpen().ok());
  ASSERT_TRUE(Put("k", "v").ok());
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Open();
  EXPECT_EQ(PreparedNames(), "x ");
  ASSERT_TRUE(Recovered("x")->Commit().ok());
  EXPECT_EQ(Scan(), "a=1,k=v");
}

TEST_F(TwoPhaseTest, AFailedLogLeavesThePreparedOpen) {
  auto txn = Prepared("x", {"a=1"});
  std::unique_ptr<Transaction> other(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(other->SetName("y").ok());
  ASSERT_TRUE(other->Put("b", "1").ok());
  fs_->PowerCut(1, CutMode::kDropUnsynced);
  EXPECT_FALSE(other->Prepare().ok());
  EXPECT_EQ(other->GetState(), Transaction::STARTED);
  EXPECT_FALSE(txn->Commit().ok());
  EXPECT_EQ(txn->GetState(), Transaction::PREPARED);
  txn.reset();
  other.reset();
  CloseDb();
  fs_->Restart();
  Open();
  EXPECT_EQ(PreparedNames(), "x ");
}

// A killed process had written and prepared without a sync; the power fails when the next one has logged again what was
// prepared, and not committed its manifest yet.
TEST_F(TwoPhaseTest, WhatIsLoggedAgainDoesNotOutliveEarlierWrites) {
  ASSERT_TRUE(Put("earlier", "v").ok());
  std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(txn->SetName("x").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
    fs_->FailAll(static_cast<FaultOp>(op), "", Status::IOError("killed"));
  }
  txn.reset();
  CloseDb();
  fs_->ClearFaults();
  bool cut = false;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (cut || op != FaultOp::kCreate || path.find("MANIFEST") == std::string::npos) return;
    cut = true;
    fs_->PowerCut(1, CutMode::kDropUnsynced);
  });
  EXPECT_FALSE(TryOpenTransactions().ok());
  EXPECT_TRUE(cut);
  fs_->SetHook(nullptr);
  CloseDb();
  fs_->Restart();
  Open();
  if (!PreparedNames().empty()) {
    EXPECT_EQ(Get("earlier"), "v");
  }
}

// A crash at any moment, seeds deciding what is lost: what was prepared and
// synced exists, either prepared or committed as a whole.
TEST_F(TwoPhaseTest, CrashesAtRandom) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const std::string id = std::to_string(seed);
    WriteOptions sync;
    sync.sync = true;
    std::vector<std::unique_ptr<Transaction>> open;
    std::map<std::string, bool> committed;  // synced by name: false prepared, true committed
    std::set<std::string> ended;            // rolled back with sync
    for (int step = 0; step < 12; ++step) {
      const std::string name = id + "." + std::to_string(step);
      switch (random() % 5) {
        case 0:
        case 1:
          open.push_back(Prepared(name, {name + "/1=v", name + "/2=v"}));
          committed[name] = false;
          break;
        case 2:
          if (open.empty()) break;
          open.back()->SetWriteOptions(sync);
          ASSERT_TRUE(open.back()->Commit().ok());
          committed[open.back()->GetName()] = true;
          open.pop_back();
          break;
        case 3:
          if (open.empty()) break;
          open.back()->SetWriteOptions(sync);
          committed.erase(open.back()->GetName());
          ended.insert(open.back()->GetName());
          ASSERT_TRUE(open.back()->Rollback().ok());
          open.pop_back();
          break;
        default:
          ASSERT_TRUE(Put("filler", std::string(1000, 'x')).ok());
          if (random() % 2 == 0) {
            ASSERT_TRUE(db_->Flush(FlushOptions(), handles_[random() % 2]).ok());
          }
      }
    }
    fs_->PowerCut(seed, seed % 2 == 0 ? CutMode::kDropUnsynced : CutMode::kRandom);
    open.clear();
    CloseDb();
    fs_->Restart();
    Open();
    const std::string names = " " + PreparedNames();
    for (const auto& [name, done] : committed) {
      const std::string both = Get(name + "/1") + Get(name + "/2");
      const bool prepared = names.find(" " + name + " ") != std::string::npos;
      EXPECT_EQ(prepared, !done) << name;
      EXPECT_EQ(both, done ? "vv" : "NOT_FOUNDNOT_FOUND") << name;
    }
    for (const std::string& name : ended) {
      EXPECT_EQ(Get(name + "/1"), "NOT_FOUND");
      EXPECT_EQ(names.find(" " + name + " "), std::string::npos);
    }
    // Start the next round with nothing open.
    std::vector<Transaction*> left;
    transactions_->GetAllPreparedTransactions(&left);
    for (Transaction* txn : left) {
      std::unique_ptr<Transaction> taken(txn);
      taken->SetWriteOptions(sync);
      ASSERT_TRUE((random() % 2 == 0 ? taken->Commit() : taken->Rollback()).ok());
    }
  }
}

}  // namespace
}  // namespace compassdb
