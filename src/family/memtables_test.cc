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

// Parts are sealed alone, the one in the oldest log first.
TEST_F(MemTablesTest, APartIsSealedAndFlushedAlone) {
  options_.parts = 4;
  memtables_.BeginAt(1, 0);
  const auto put_all = [&] {
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(i);
      ++sequence_;
      ASSERT_TRUE(memtables_.active()->Add(sequence_, kTypeValue, key, std::to_string(sequence_), false).ok());
    }
  };
  put_all();
  EXPECT_FALSE(memtables_.MaySealPart());  // it may have records of a flush that a crash interrupted
  Seal(2);
  EXPECT_TRUE(memtables_.FlushPending(1, false));
  ASSERT_EQ(memtables_.PickFlush(/*all=*/false).size(), 1u);
  memtables_.FlushCommitted();

  std::vector<std::shared_ptr<MemTable>> actives;
  for (uint64_t log = 3; log < 10; ++log) {
    put_all();
    EXPECT_TRUE(memtables_.MaySealPart());
    actives.push_back(memtables_.active());
    memtables_.SealPart(options_, log);
    EXPECT_EQ(memtables_.active_log(), log < 6 ? 2 : log - 3);
  }
  EXPECT_EQ(memtables_.immutable_count(), 7u);
  EXPECT_EQ(memtables_.full_count(), 1u + 2 * 7 / 5);
  // A reader of any time finds what was the newest then.
  ReadState now;
  memtables_.AddTo(&now);
  const auto find = [&](const MemTable& mem, const std::string& key, SequenceNumber at, std::string* value) {
    rocksdb::PinnableSlice found;
    GetContext ctx(key, at, nullptr, &found);
    mem.Get(LookupKey(key, at), &ctx);
    if (!ctx.Finish().ok()) return false;
    *value = found.ToString();
    return true;
  };
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    std::string value;
    ASSERT_TRUE(find(*actives.front(), key, 200, &value));
    EXPECT_EQ(value, std::to_string(101 + i));
    bool done = find(*now.mem, key, sequence_, &value);
    for (size_t m = 0; !done && m < now.immutables.size(); ++m) done = find(*now.immutables[m], key, sequence_, &value);
    ASSERT_TRUE(done);
    EXPECT_EQ(value, std::to_string(sequence_ - 99 + static_cast<SequenceNumber>(i)));
  }

  uint64_t records = 0;
  for (int i = 0; i < 7; ++i) {
    const SequenceNumber sealed_at = 100 * (static_cast<SequenceNumber>(i) + 2);
    EXPECT_TRUE(memtables_.FlushPending(3, true));
    const MemTables::List picked = memtables_.PickFlush(/*all=*/false);
    ASSERT_EQ(picked.size(), 1u);
    EXPECT_TRUE(picked[0]->is_part());
    EXPECT_EQ(picked[0]->largest_sequence(), sealed_at);
    records += picked[0]->num_entries();
    memtables_.FlushCommitted();
    EXPECT_EQ(memtables_.OldestRecordLog(), i == 6 ? 6 : i < 3 ? 2 : static_cast<uint64_t>(i));
  }
  EXPECT_EQ(records + memtables_.active()->num_entries(), 700u);
  EXPECT_EQ(memtables_.full_count(), 0u);

  ASSERT_TRUE(memtables_.active()->Add(++sequence_, kTypeRangeDeletion, "a", "b", false).ok());
  EXPECT_FALSE(memtables_.MaySealPart());
  Seal(11);
  EXPECT_TRUE(memtables_.MaySealPart());
  memtables_.KeepPreparedLog(10);
  EXPECT_FALSE(memtables_.MaySealPart());
}

// If all is wanted in the store, it is there at once.
TEST_F(MemTablesTest, AFlushThatWasRequestedTakesPartsTogether) {
  options_.parts = 2;
  Put();
  Seal(2);
  for (uint64_t log = 3; log < 6; ++log) {
    Put();
    memtables_.SealPart(options_, log);
  }
  Put();
  Seal(6);
  EXPECT_EQ(memtables_.FitForFlush(nullptr), 1u);
  memtables_.RequestFlush();
  EXPECT_EQ(memtables_.PickFlush(/*all=*/false).size(), 5u);
  EXPECT_FALSE(memtables_.flush_requested());
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
