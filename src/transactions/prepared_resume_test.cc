// SPDX-License-Identifier: Apache-2.0
// Prepared sections when a write-ahead log fails, and the database resumes with another one.
#include <thread>

#include "format/file_names.h"
#include "rocksdb/utilities/transaction_db.h"
#include "transactions/transaction_test_util.h"

namespace compassdb {
namespace {

using rocksdb::FlushOptions;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionDBOptions;
using rocksdb::WriteOptions;

constexpr char kPrepared[] = "prepared";

class PreparedResumeTest : public DbTest {
 protected:
  PreparedResumeTest() {
    options_.merge_operator = std::make_shared<AppendOperator>();
    options_.create_missing_column_families = true;
    options_.bgerror_resume_retry_interval = 1000;
    families_ = {"default", "second"};
  }
  void SetUp() override { Open(); }
  Status TryOpenTransactions() {
    CloseDb();
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : families_) descriptors.emplace_back(family, options_);
    TransactionDB* db = nullptr;
    Status s = TransactionDB::Open(options_, TransactionDBOptions(), name_, descriptors, &handles_, &db);
    transactions_ = db;
    db_.reset(db);
    return s;
  }
  void Open() {
    const Status s = TryOpenTransactions();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Begins with a new disk and database.
  void OpenFresh() {
    CloseDb();
    options_.env = nullptr;
    fs_ = std::make_shared<FaultInjectionFileSystem>();
    env_ = NewEnvForFileSystem(fs_);
    options_.env = env_.get();
    Open();
  }
  static WriteOptions Sync(bool sync) {
    WriteOptions options;
    options.sync = sync;
    return options;
  }
  // With an operand for each family: a second application would show.
  std::unique_ptr<Transaction> Prepare(const std::string& name, bool sync) {
    rocksdb::TransactionOptions unlocked;
    unlocked.skip_concurrency_control = true;
    std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(Sync(sync), unlocked));
    EXPECT_TRUE(txn->SetName(name).ok());
    EXPECT_TRUE(txn->Merge("m", name).ok());
    EXPECT_TRUE(txn->Merge(handles_[1], "m", name).ok());
    const Status s = txn->Prepare();
    EXPECT_TRUE(s.ok()) << s.ToString();
    txn->SetWriteOptions(Sync(true));
    return txn;
  }
  void FailAWrite(const Status& error = Status::IOError("injected")) {
    fs_->FailNth(FaultOp::kSync, 1, ".log", error);
    EXPECT_FALSE(Put("lost", "v", /*sync=*/true).ok());
  }
  void Resume() {
    const Status s = db_->Resume();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CrashAndOpen(CutMode mode = CutMode::kDropUnsynced, uint64_t seed = 1) {
    Crash(mode, seed);
    Open();
  }
  std::string PreparedNames() {
    std::vector<Transaction*> all;
    transactions_->GetAllPreparedTransactions(&all);
    std::string names;
    for (const Transaction* txn : all) names += txn->GetName() + " ";
    return names;
  }
  // "committed", "prepared", or another state.
  std::string StateOf(const std::string& name) {
    const std::string both = Get("m") + GetIn(1, "m");
    const bool open = transactions_->GetTransactionByName(name) != nullptr;
    if (both == name + name && !open) return "committed";
    if (both == "NOT_FOUNDNOT_FOUND" && open) return kPrepared;
    return both + (open ? " and prepared" : "");
  }

  TransactionDB* transactions_ = nullptr;
};

TEST_F(PreparedResumeTest, ASyncedCommitAfterResumeLasts) {
  for (const bool sync : {false, true}) {
    OpenFresh();
    auto txn = Prepare("x", sync);
    FailAWrite();
    Resume();
    const Status s = txn->Commit();
    ASSERT_TRUE(s.ok()) << s.ToString();
    txn.reset();
    CrashAndOpen();
    EXPECT_EQ(StateOf("x"), "committed");
    CrashAndOpen();
    EXPECT_EQ(StateOf("x"), "committed");
  }
}

TEST_F(PreparedResumeTest, ASyncedCommitAfterAFullDiskLasts) {
  auto txn = Prepare("x", /*sync=*/false);
  FailAWrite(Status::NoSpace("injected"));
  while (!Put("k", "v").ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Status s = txn->Commit();
  ASSERT_TRUE(s.ok()) << s.ToString();
  txn.reset();
  CrashAndOpen();
  EXPECT_EQ(StateOf("x"), "committed");
  EXPECT_EQ(Get("k"), "v");
}

// The pages that a failed sync dropped are gone for a killed process, too.
TEST_F(PreparedResumeTest, WhatIsPreparedIsInTheNewLog) {
  auto txn = Prepare("x", /*sync=*/true);
  auto late = Prepare("y", /*sync=*/false);
  const std::string failed = WalFileName(name_, txn->GetLogNumber());
  FailAWrite();
  Resume();
  EXPECT_NE(WalFileName(name_, txn->GetLogNumber()), failed);
  EXPECT_EQ(txn->GetLogNumber(), late->GetLogNumber());
  EXPECT_FALSE(fs_->FileExists(failed).ok());
  ASSERT_TRUE(late->Put("more", "late").ok());
  ASSERT_TRUE(late->Rollback().ok());
  txn.reset();
  late.reset();
  CrashAndOpen();
  EXPECT_EQ(PreparedNames(), "x ");
  EXPECT_EQ(StateOf("x"), kPrepared);
}

// The log of the section was complete; the sync that it was owed fails when there is another one already.
TEST_F(PreparedResumeTest, TwoLogsAreGivenUp) {
  for (const bool commit : {true, false}) {
    for (const CutMode mode : {CutMode::kDropUnsynced, CutMode::kRandom}) {
      OpenFresh();
      auto txn = Prepare("x", /*sync=*/false);
      ASSERT_TRUE(Put("k", "v").ok());
      fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
      EXPECT_FALSE(db_->Flush(FlushOptions(), handles_[0]).ok());
      Resume();
      ASSERT_TRUE(Put("k", "synced", /*sync=*/true).ok());
      if (commit) {
        ASSERT_TRUE(txn->Commit().ok());
      }
      ASSERT_TRUE(Put("l", "synced", /*sync=*/true).ok());
      txn.reset();
      CrashAndOpen(mode);
      EXPECT_EQ(StateOf("x"), commit ? "committed" : kPrepared);
      EXPECT_EQ(Get("k") + Get("l"), "syncedsynced");
    }
  }
}

TEST_F(PreparedResumeTest, LogsFailAgainAndAgain) {
  auto x = Prepare("x", /*sync=*/true);
  std::vector<std::unique_ptr<Transaction>> others;
  for (int round = 0; round < 4; ++round) {
    others.push_back(Prepare("y" + std::to_string(round), /*sync=*/false));
    ASSERT_TRUE(Put("k", std::to_string(round)).ok());
    FailAWrite();
    // The section cannot be written into the new log at first.
    fs_->FailNth(round % 2 == 0 ? FaultOp::kSync : FaultOp::kWrite, round % 2 == 0 ? 1 : 2, ".log",
                 Status::IOError("injected"));
    EXPECT_FALSE(db_->Resume().ok());
    EXPECT_FALSE(Put("k", "refused").ok());
    fs_->ClearFaults();
    Resume();
    ASSERT_TRUE(others.back()->Rollback().ok());
  }
  ASSERT_TRUE(x->Commit().ok());
  x.reset();
  others.clear();
  CrashAndOpen();
  EXPECT_EQ(StateOf("x"), "committed");
  EXPECT_EQ(PreparedNames() + Get("k"), "3");
}

// By name, as recovery knows them: also where the transaction's object is gone.
TEST_F(PreparedResumeTest, WhatNoHandleHoldsIsRewritten) {
  Prepare("x", /*sync=*/true).reset();
  Prepare("y", /*sync=*/true).reset();
  ASSERT_TRUE(Prepare("y", /*sync=*/true)->Rollback().ok());
  FailAWrite();
  Resume();
  ASSERT_TRUE(db_->SyncWAL().ok());
  CrashAndOpen();
  EXPECT_EQ(PreparedNames(), "x ");
  FailAWrite();  // of a session that found it
  Resume();
  CrashAndOpen();
  EXPECT_EQ(PreparedNames(), "x ");
  std::unique_ptr<Transaction> found(transactions_->GetTransactionByName("x"));
  FailAWrite();
  Resume();
  found->SetWriteOptions(Sync(true));
  ASSERT_TRUE(found->Commit().ok());
  found.reset();
  CrashAndOpen();
  EXPECT_EQ(StateOf("x"), "committed");
}

// It is not known whether the mark of the commit is in the log: the next opening decides by what it finds.
TEST_F(PreparedResumeTest, AFailedCommitNeedsAnOpening) {
  for (const FaultOp op : {FaultOp::kSync, FaultOp::kWrite}) {
    for (const CutMode mode : {CutMode::kDropUnsynced, CutMode::kKeepUnsynced}) {
      OpenFresh();
      auto txn = Prepare("x", /*sync=*/true);
      fs_->FailNth(op, 1, ".log", Status::NoSpace("injected"));
      EXPECT_FALSE(txn->Commit().ok());
      EXPECT_EQ(txn->GetState(), Transaction::PREPARED);
      const Status s = db_->Resume();
      EXPECT_EQ(s.severity(), Status::kFatalError) << s.ToString();
      txn.reset();
      CrashAndOpen(mode);
      const std::string state = StateOf("x");
      EXPECT_TRUE(state == "committed" || state == kPrepared) << state;
    }
  }
}

// The power fails before the n-th change of the disk since the failure.
TEST_F(PreparedResumeTest, CutsWhileItResumes) {
  for (const bool two_logs : {false, true}) {
    bool over = false;
    for (uint64_t n = 1; !over; ++n) {
      OpenFresh();
      auto x = Prepare("x", /*sync=*/true);
      auto y = Prepare("y", /*sync=*/false);
      ASSERT_TRUE(Put("before", "v").ok());
      auto z = Prepare("z", /*sync=*/false);
      if (two_logs) {
        fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
        EXPECT_FALSE(db_->Flush(FlushOptions(), handles_[0]).ok());
      } else {
        FailAWrite();
      }
      std::atomic<uint64_t> changes{0};
      fs_->SetHook([&](FaultOp op, const std::string&) {
        if (op == FaultOp::kOpen || op == FaultOp::kRead || op == FaultOp::kStat || op == FaultOp::kList) return;
        if (++changes == n) fs_->PowerCut(n, n % 2 == 0 ? CutMode::kDropUnsynced : CutMode::kRandom);
      });
      const Status resumed = db_->Resume();
      const Status committed = resumed.ok() ? y->Commit() : resumed;
      over = committed.ok();
      fs_->SetHook(nullptr);
      x.reset();
      y.reset();
      z.reset();
      CrashAndOpen(n % 3 == 0 ? CutMode::kRandom : CutMode::kDropUnsynced, n);
      if (HasFatalFailure()) return;
      const std::string names = PreparedNames();
      const std::string m = Get("m") + "," + GetIn(1, "m");
      EXPECT_EQ(names.substr(0, 2), "x ") << n;
      EXPECT_TRUE(m == "y,y" || (!over && m == "NOT_FOUND,NOT_FOUND")) << n << ": " << m;
      EXPECT_TRUE(m != "y,y" || names.find("y ") == std::string::npos) << n;
      // Nothing outlives what was written before it.
      EXPECT_TRUE(names.find("z ") == std::string::npos || Get("before") == "v") << n;
    }
  }
}

}  // namespace
}  // namespace compassdb
