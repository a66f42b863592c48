// SPDX-License-Identifier: Apache-2.0
#include "family/memtables.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

class MemTablesTest : public ::testing::Test {
 protected:
  MemTablesTest() { mu_.Lock(); }
  ~MemTablesTest() override { mu_.Unlock(); }

  void Put(const std::string& value = "v") {
    MemTable* const mem = memtables_.active().get();
    ASSERT_TRUE(mem->Add(++sequence_, kTypeValue, "k", value, /*concurrent=*/false).ok());
  }
  void Seal(uint64_t log) { memtables_.Seal(options_, log, sequence_); }

  Mutex mu_;
  SequenceNumber sequence_ = 0;
  MemTableOptions options_ = [] {
    MemTableOptions options;
    options.comparator = rocksdb::BytewiseComparator();
    options.separated_from = 100;
    return options;
  }();
  MemTables memtables_{&mu_, options_, nullptr};
};

TEST_F(MemTablesTest, AFlushReleasesTheLogsOfWhatItTakes) {
  memtables_.BeginAt(3, 0);
  Put();
  Seal(5);
  EXPECT_EQ(memtables_.earliest_sequence(), 1u);
  Put();
  Seal(8);
  EXPECT_EQ(memtables_.PickFlush(/*all=*/false).size(), 2u);
  Put();
  Seal(9);  // during the flush
  EXPECT_EQ(memtables_.OldestRecordLog(), 3u);
  EXPECT_EQ(memtables_.LogBehind(1), 5u);
  EXPECT_EQ(memtables_.LogBehind(2), 8u);
  memtables_.FlushCommitted();
  EXPECT_EQ(memtables_.immutable_count(), 1u);
  EXPECT_EQ(memtables_.OldestRecordLog(), 8u);
  EXPECT_EQ(memtables_.sealed_count(), 3u);
  EXPECT_EQ(memtables_.flushed_count(), 2u);
  memtables_.Announced(memtables_.flushed_count());
  EXPECT_EQ(memtables_.announced_count(), 2u);
}

TEST_F(MemTablesTest, AMemTableKeepsTheLogOfItsPreparedSections) {
  memtables_.BeginAt(5, 0);
  memtables_.KeepPreparedLog(3);
  memtables_.KeepPreparedLog(4);
  Put();
  Seal(7);
  EXPECT_EQ(memtables_.OldestLogNeeded(), 3u);
  EXPECT_EQ(memtables_.OldestPreparedLog(/*records_from=*/7), UINT64_MAX);
  memtables_.PickFlush(/*all=*/true);
  memtables_.FlushCommitted();
  EXPECT_EQ(memtables_.OldestLogNeeded(), 7u);
}

TEST_F(MemTablesTest, MemTablesWaitForOthersUnlessAFlushIsRequested) {
  EXPECT_FALSE(memtables_.FlushPending(1, false));
  memtables_.RequestFlush();  // of nothing
  Put();
  Seal(2);
  memtables_.SetFlushReason(rocksdb::FlushReason::kWriteBufferFull);
  EXPECT_TRUE(memtables_.FlushPending(1, false));
  EXPECT_FALSE(memtables_.FlushPending(2, false));
  memtables_.SetFlushReason(rocksdb::FlushReason::kManualFlush);
  EXPECT_TRUE(memtables_.FlushPending(2, false));
  memtables_.PickFlush(/*all=*/false);
  EXPECT_FALSE(memtables_.flush_requested());
  EXPECT_FALSE(memtables_.FlushPending(1, false));  // it runs
  memtables_.FlushFailed();
  EXPECT_TRUE(memtables_.FlushPending(2, false));
}

TEST_F(MemTablesTest, AnOldLogRequestsTheFlushOfItsRecords) {
  memtables_.BeginAt(3, 0);
  Put();
  Seal(5);
  memtables_.RequestFlushOfLog(2);
  EXPECT_FALSE(memtables_.flush_requested());
  memtables_.RequestFlushOfLog(3);
  EXPECT_TRUE(memtables_.flush_requested());
  memtables_.PickFlush(/*all=*/true);
  memtables_.RequestFlushOfLog(3);  // which runs
  EXPECT_FALSE(memtables_.flush_requested());
}

TEST_F(MemTablesTest, AFlushTakesWhatSeparatedValuesHaveRoomFor) {
  memtables_.SetValueRoom({2000, 0});
  for (int i = 0; i < 3; ++i) {
    Put(std::string(900, 'x'));
    EXPECT_FALSE(memtables_.active()->ShouldFlush());
    Seal(2);
  }
  uint64_t load = 0;
  EXPECT_EQ(memtables_.FitForFlush(&load), 2u);
  EXPECT_EQ(load, 1800u);
  memtables_.RequestFlush();
  EXPECT_EQ(memtables_.PickFlush(/*all=*/false).size(), 2u);
  EXPECT_TRUE(memtables_.flush_requested());  // of the third
  memtables_.FlushCommitted();
  Put(std::string(2000, 'x'));
  EXPECT_TRUE(memtables_.active()->ShouldFlush());
}

TEST_F(MemTablesTest, TheManifestOfAPrimarySaysWhatIsFlushed) {
  Put();
  Seal(4);
  Put();
  memtables_.set_log_number(4);
  memtables_.ForgetFlushed(options_);
  EXPECT_EQ(memtables_.immutable_count(), 0u);
  EXPECT_FALSE(memtables_.active()->empty());
  memtables_.set_log_number(5);
  memtables_.ForgetFlushed(options_);
  EXPECT_TRUE(memtables_.active()->empty());
  EXPECT_EQ(memtables_.active_log(), 5u);
}

TEST_F(MemTablesTest, ReadersGetTheNewestFirst) {
  Put();
  const std::shared_ptr<MemTable> oldest = memtables_.active();
  Seal(1);
  Put();
  const std::shared_ptr<MemTable> newer = memtables_.active();
  Seal(2);
  ReadState state;
  memtables_.AddTo(&state);
  EXPECT_EQ(state.mem, memtables_.active());
  EXPECT_EQ(state.immutables, (MemTables::List{newer, oldest}));
}

TEST(MemTablesChargeTest, MemoryIsChargedUntilTheLastReader) {
  Mutex mu;
  MutexLock lock(&mu);
  MemTableOptions options;
  options.comparator = rocksdb::BytewiseComparator();
  const auto manager = std::make_shared<rocksdb::WriteBufferManager>(1 << 20);
  MemTables memtables(&mu, options, manager);
  memtables.Charge();
  EXPECT_EQ(manager->memory_usage(), 0u);  // it is empty
  ASSERT_TRUE(memtables.active()->Add(1, kTypeValue, "k", "v", /*concurrent=*/false).ok());
  memtables.Charge();
  const size_t charged = manager->memory_usage();
  EXPECT_GT(charged, 0u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), charged);
  memtables.Seal(options, 1, 1);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  MemTables::List reader = memtables.PickFlush(/*all=*/true);
  memtables.FlushCommitted();
  EXPECT_EQ(manager->memory_usage(), charged);
  reader.clear();
  EXPECT_EQ(manager->memory_usage(), 0u);
}

}  // namespace
}  // namespace compassdb
