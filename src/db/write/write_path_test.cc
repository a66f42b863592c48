// SPDX-License-Identifier: Apache-2.0
// Writes, switches of memtables and stalls, without a database around them.
#include "db/write/write_path.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/families/column_family_handle.h"
#include "db/testing/family_test_util.h"
#include "format/number_limits.h"

namespace compassdb {
namespace {

// Background work that ends the stall it is awaited for.
class StallEndingWork final : public BackgroundWork, public BackgroundErrors {
 public:
  StallEndingWork(ColumnFamily* family, WriteStalls& stalls, ErrorHandler& errors)
      : family_(family), stalls_(stalls), errors_(errors) {}
  void MaybeSchedule() override {}
  void AwaitBackground(std::chrono::milliseconds) override {
    ++awaited;
    family_->settings.level0_stop = 100;
    stalls_.Update();
  }
  int FlushesRunning() const override { return 0; }
  int CompactionsRunning() const override { return 0; }
  void SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) override {
    reasons.push_back(reason);
    errors_.Set(error, reason).PermitUncheckedError();
  }
  void WriteRefused() override { ++refused; }

  int awaited = 0;
  int refused = 0;
  std::vector<rocksdb::BackgroundErrorReason> reasons;

 private:
  ColumnFamily* const family_;
  WriteStalls& stalls_;
  ErrorHandler& errors_;
};

class WritePathTest : public ::testing::Test {
 protected:
  WritePathTest() {
    EXPECT_TRUE(front_.logs.StartFirst(WalHeader(), "id").ok());
  }
  ~WritePathTest() override { front_.logs.Close().PermitUncheckedError(); }

  static DbConfig MakeConfig(FileSystem* fs) {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.fs = fs;
    config.clock = SystemClock();
    config.options.max_write_batch_group_size_bytes = 1 << 20;
    return config;
  }
  Status Put(ColumnFamilyHandle* family, const std::string& key, const WriteOptions& options = {}) {
    return path_.Put(options, family, key, "value");
  }
  Status Switch(const Families& families) {
    ReadStateGarbage garbage(&nothing_);
    const ExclusiveWrite at_front(&front_.queue);
    MutexLock lock(&db_.mu);
    return memtable_switch_.SwitchMemTables(families, rocksdb::FlushReason::kManualFlush, &garbage);
  }
  void SwitchDue() {
    ReadStateGarbage garbage(&nothing_);
    const ExclusiveWrite at_front(&front_.queue);
    MutexLock lock(&db_.mu);
    EXPECT_TRUE(memtable_switch_.SwitchDue(&garbage).ok());
  }
  Status SaveOpenSections() {
    const ExclusiveWrite at_front(&front_.queue);
    return front_.SaveOpenSections(nullptr);
  }
  size_t Sealed(ColumnFamilyHandleImpl& handle) {
    MutexLock lock(&db_.mu);
    return FamilyOf(&handle)->memtables().immutable_count();
  }
  rocksdb::FlushReason ReasonOf(ColumnFamilyHandleImpl& handle) {
    MutexLock lock(&db_.mu);
    return FamilyOf(&handle)->memtables().flush_reason();
  }
  // One run on level 0 stops writers.
  void StopWriters() {
    ColumnFamily* const family = FamilyOf(&a_);
    db_.Write(family, kTypeValue, "k", "v");
    db_.Flush(family);
    front_.last_sequence = db_.last_sequence.load();
    family->settings.level0_stop = 1;
    MutexLock lock(&db_.mu);
    stalls_.Update();
  }

  struct NoListener final : ReleaseListener {
    void StatesReleased() override {}
  } nothing_;
  FamilyHarness db_;
  ColumnFamilyHandleImpl a_{db_.families.ById(db_.Add("a")->id()), nullptr};
  ColumnFamilyHandleImpl b_{db_.families.ById(db_.Add("b")->id()), nullptr};
  DbConfig config_ = MakeConfig(&db_.fs);
  uint64_t number_ = 10;
  WriteFront front_{config_, [this] { return ++number_; }};
  const Listeners listeners_{{}};
  CondVar changed_{&db_.mu};
  WriteStalls stalls_{config_, listeners_, db_.families, &db_.mu, &changed_};
  ErrorHandler errors_;
  StallEndingWork work_{FamilyOf(&a_), stalls_, errors_};
  MemTableSwitch memtable_switch_{config_, front_, &db_.mu, db_.families, stalls_, listeners_, work_};
  std::atomic<bool> shutting_down_{false};
  WriteAdmission admission_{config_, front_,   &db_.mu, db_.families, memtable_switch_, stalls_,
                            nothing_, work_,   errors_, work_,        shutting_down_};
  Tracing tracing_;
  WritePath path_{config_, front_,  &db_.mu, db_.families, memtable_switch_, admission_,
                  stalls_, errors_, work_,   tracing_,     shutting_down_};
};

TEST_F(WritePathTest, AWriteIsLoggedInsertedAndPublished) {
  ASSERT_TRUE(Put(&a_, "k").ok());
  EXPECT_FALSE(front_.logs.CurrentIsEmpty());
  EXPECT_EQ(FamilyOf(&a_)->memtables().active()->num_entries(), 1u);
  EXPECT_EQ(front_.last_sequence, 1u);
  EXPECT_FALSE(front_.unlogged_data);
  EXPECT_EQ(front_.written.keys, 1u);
  EXPECT_EQ(front_.written.with_wal, 1u);
}

TEST_F(WritePathTest, AWriteThatIsNotLoggedIsRemembered) {
  WriteOptions options;
  options.disableWAL = true;
  ASSERT_TRUE(Put(&a_, "k", options).ok());
  EXPECT_TRUE(front_.logs.CurrentIsEmpty());
  EXPECT_TRUE(front_.unlogged_data);
  EXPECT_EQ(front_.written.with_wal, 0u);
}

TEST_F(WritePathTest, WhatTheLogDoesNotHaveIsNotInserted) {
  db_.fs.FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put(&a_, "k").IsIOError());
  EXPECT_TRUE(FamilyOf(&a_)->memtables().active()->empty());
  EXPECT_TRUE(errors_.wal_failed());
  ASSERT_EQ(work_.reasons.size(), 1u);
  EXPECT_EQ(work_.reasons[0], rocksdb::BackgroundErrorReason::kWriteCallback);
  // The record may be in the log: its sequence is not given out again.
  EXPECT_EQ(front_.last_sequence, 1u);
  EXPECT_TRUE(Put(&a_, "k").IsIOError());
  EXPECT_EQ(work_.refused, 1);
}

TEST_F(WritePathTest, ABatchIsCheckedBeforeAnythingIsWritten) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&a_, "k", "v").ok());
  db_.families.Remove(FamilyOf(&a_)->id());
  EXPECT_TRUE(path_.Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_TRUE(front_.logs.CurrentIsEmpty());
  WriteOptions ignoring;
  ignoring.ignore_missing_column_families = true;
  EXPECT_TRUE(path_.Write(ignoring, &batch).ok());
}

TEST_F(WritePathTest, AReadOnlyDatabaseTakesNoWrite) {
  config_.access = Access::kSecondary;
  EXPECT_TRUE(Put(&a_, "k").IsNotSupported());
  EXPECT_TRUE(path_.FlushLog(/*sync=*/false).IsNotSupported());
  EXPECT_TRUE(path_.LockLog().IsNotSupported());
}

TEST_F(WritePathTest, TheLogIsUnlockedAsOftenAsItWasLocked) {
  EXPECT_TRUE(path_.LockLog().ok());
  EXPECT_TRUE(path_.LockLog().ok());
  EXPECT_TRUE(path_.UnlockLog().ok());
  EXPECT_TRUE(path_.UnlockLog().ok());
  EXPECT_TRUE(path_.UnlockLog().IsAborted());
  EXPECT_TRUE(Put(&a_, "k").ok());
}

TEST_F(WritePathTest, ASectionIsOpenUntilItIsCommitted) {
  const auto section = std::make_shared<PreparedSection>("xid");
  ASSERT_TRUE(section->batch.Put(&a_, "k", "v").ok());
  ASSERT_TRUE(path_.LogSection(WriteOptions(), section).ok());
  const uint64_t log = front_.logs.current_number();
  EXPECT_EQ(front_.open_sections.LogOf("xid"), log);
  EXPECT_TRUE(FamilyOf(&a_)->memtables().active()->empty());
  EXPECT_EQ(front_.last_sequence, 0u);
  TransactionWrite commit;
  commit.ends = &section->name;
  ASSERT_TRUE(path_.Write(WriteOptions(), &section->batch, commit, /*marks=*/true).ok());
  EXPECT_EQ(front_.open_sections.LogOf("xid"), UINT64_MAX);
  EXPECT_EQ(FamilyOf(&a_)->memtables().active()->num_entries(), 1u);
  MutexLock lock(&db_.mu);
  EXPECT_EQ(FamilyOf(&a_)->memtables().OldestPreparedLog(0), log);  // a flush of the memtable releases it
}

TEST_F(WritePathTest, ASwitchSealsWhatHasDataAndBeginsALog) {
  ASSERT_TRUE(Put(&a_, "k").ok());
  const uint64_t log = front_.logs.current_number();
  ASSERT_TRUE(Switch(db_.families.All()).ok());
  EXPECT_GT(front_.logs.current_number(), log);
  EXPECT_EQ(Sealed(a_), 1u);
  EXPECT_EQ(Sealed(b_), 0u);
  MutexLock lock(&db_.mu);
  EXPECT_TRUE(FamilyOf(&a_)->memtables().flush_requested());
  // The empty family holds no older log back.
  EXPECT_EQ(FamilyOf(&b_)->memtables().active_log(), front_.logs.current_number());
}

TEST_F(WritePathTest, NothingIsSealedWithoutALog) {
  ASSERT_TRUE(Put(&a_, "k").ok());
  db_.fs.FailAll(FaultOp::kCreate, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Switch(db_.families.All()).IsNoSpace());
  EXPECT_EQ(Sealed(a_), 0u);
}

TEST_F(WritePathTest, AFullMemTableIsSwitchedByTheNextWriter) {
  FamilyOf(&a_)->memtables().active()->SetWriteBufferSize(1);
  ASSERT_TRUE(Put(&a_, "k").ok());
  EXPECT_EQ(Sealed(a_), 0u);
  EXPECT_TRUE(memtable_switch_.Due());
  ASSERT_TRUE(Put(&b_, "k").ok());
  EXPECT_EQ(Sealed(a_), 1u);
  EXPECT_EQ(ReasonOf(a_), rocksdb::FlushReason::kWriteBufferFull);
  EXPECT_FALSE(memtable_switch_.Due());
}

TEST_F(WritePathTest, LogsThatAreTooLargeFlushWhatHoldsTheOldest) {
  ASSERT_TRUE(Put(&a_, "k").ok());
  ASSERT_TRUE(Put(&b_, "k").ok());
  ASSERT_TRUE(Switch({db_.families.ById(b_.GetID())}).ok());
  ASSERT_TRUE(Put(&b_, "k").ok());
  EXPECT_FALSE(memtable_switch_.Due());
  config_.options.max_total_wal_size = 1;
  {
    const ExclusiveWrite at_front(&front_.queue);
    MutexLock lock(&db_.mu);
    memtable_switch_.LimitsChanged(nullptr);
  }
  EXPECT_TRUE(memtable_switch_.Due());
  SwitchDue();
  EXPECT_EQ(Sealed(a_), 1u);
  EXPECT_EQ(ReasonOf(a_), rocksdb::FlushReason::kWalFull);
  EXPECT_EQ(Sealed(b_), 1u);  // its memtable is of the new log
}

TEST_F(WritePathTest, OpenSectionsLeaveALogThatIsGivenUp) {
  const auto section = std::make_shared<PreparedSection>("xid");
  ASSERT_TRUE(section->batch.Put(&a_, "k", "v").ok());
  ASSERT_TRUE(path_.LogSection(WriteOptions(), section).ok());
  const uint64_t log = front_.logs.current_number();
  EXPECT_TRUE(SaveOpenSections().ok());
  EXPECT_EQ(front_.open_sections.LogOf("xid"), log);  // it is a good one
  db_.fs.FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_FALSE(Put(&a_, "k").ok());
  ASSERT_TRUE(front_.logs.Start(/*give_up_failed=*/true).ok());
  ASSERT_TRUE(SaveOpenSections().ok());
  EXPECT_EQ(front_.open_sections.LogOf("xid"), front_.logs.current_number());
}

TEST_F(WritePathTest, OneThreadIsAtTheFront) {
  if (!kChecked) GTEST_SKIP() << "the queue knows its front in Checked builds";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const WriteThread& queue = front_.queue;
  {
    const ExclusiveWrite at_front(&front_.queue);
    queue.AssertAtFront();
    EXPECT_DEATH(std::thread([&] { queue.AssertAtFront(); }).join(), "at the front of the write queue");
  }
  EXPECT_DEATH(queue.AssertAtFront(), "at the front of the write queue");
}

TEST_F(WritePathTest, AStoppedWriteWaitsForBackgroundWork) {
  StopWriters();
  WriteOptions impatient;
  impatient.no_slowdown = true;
  EXPECT_TRUE(Put(&a_, "k", impatient).IsIncomplete());
  EXPECT_EQ(work_.awaited, 0);
  EXPECT_TRUE(Put(&a_, "k").ok());
  EXPECT_EQ(work_.awaited, 1);
}

TEST_F(WritePathTest, AStoppedWriteEndsWithTheDatabase) {
  StopWriters();
  shutting_down_ = true;
  EXPECT_TRUE(Put(&a_, "k").IsShutdownInProgress());
}

TEST_F(WritePathTest, NoWriteIsAdmittedBehindTheLastSequence) {
  front_.last_sequence = kMaxWritableSequence + 1;
  EXPECT_TRUE(Put(&a_, "k").IsNotSupported());
  EXPECT_TRUE(front_.logs.CurrentIsEmpty());
}

}  // namespace
}  // namespace compassdb
