// SPDX-License-Identifier: Apache-2.0
// Ends of databases, handles and stalls: nothing is lost, and no wait is endless.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "db/testing/db_test_util.h"
#include "family/read_state.h"
#include "rocksdb/convenience.h"
#include "rocksdb/listener.h"
#include "rocksdb/write_buffer_manager.h"
#include "util/checked.h"

namespace compassdb {
namespace {

class LifetimeTest : public DbTest {
 protected:
  Status PutUnlogged(const std::string& key, const std::string& value) {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return db_->Put(options, key, value);
  }
};

TEST_F(LifetimeTest, HandleDestroyedAfterCloseLeavesTheFilesAlone) {
  families_ = {"default"};
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->Close().ok());
  CloseDb();  // destroys the handles first
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(LifetimeTest, CloseWithTheLogLockedFlushesWhatNoLogHolds) {
  OpenDb();
  ASSERT_TRUE(PutUnlogged("a", "1").ok());
  ASSERT_TRUE(db_->LockWAL().ok());
  ASSERT_TRUE(db_->Close().ok());
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(LifetimeTest, CloseWhilePausedFlushesWhatNoLogHolds) {
  OpenDb();
  ASSERT_TRUE(PutUnlogged("a", "1").ok());
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(db_->Close().ok());
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(LifetimeTest, CancelledBackgroundWorkFlushesWhatNoLogHolds) {
  OpenDb();
  ASSERT_TRUE(PutUnlogged("a", "1").ok());
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(LifetimeTest, BudgetStallSwitchesTheMemTableThatFillsTheBudget) {
  options_.write_buffer_size = 64 << 20;
  options_.arena_block_size = 4096;
  options_.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(256 << 10, nullptr, /*allow_stall=*/true);
  families_ = {"default", "big"};
  {
    rocksdb::Options plain = options_;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(plain, name_, &db).ok());
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(plain, "big", &handle).ok());
    db->DestroyColumnFamilyHandle(handle);
    delete db;
  }
  OpenDb();
  ASSERT_TRUE(Put("old", "1").ok());
  rocksdb::WriteBatch batch;
  for (int i = 0; i < 100; ++i) batch.Put(handles_[1], Key(i), std::string(10 << 10, 'v'));
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  // The default family holds the oldest data, the other one all the memory.
  EXPECT_TRUE(Put("new", "2").ok());
  EXPECT_EQ(GetIn(1, Key(7)), std::string(10 << 10, 'v'));
}

TEST_F(LifetimeTest, AFlushGivesItsMemoryBackToTheManager) {
  options_.arena_block_size = 4096;
  options_.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(1 << 20);
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  EXPECT_EQ(Get(Key(7)), std::string(100, 'v'));  // this thread keeps the state that it read
  const size_t filled = options_.write_buffer_manager->memory_usage();
  EXPECT_GT(filled, 10000u);
  Flush();
  EXPECT_LT(options_.write_buffer_manager->memory_usage(), filled / 2);
}

TEST_F(LifetimeTest, NoComparisonOfOneKeyAndNoneAfterTheDatabase) {
  struct Counting final : rocksdb::Comparator {
    const char* Name() const override { return "counting"; }
    int Compare(const Slice& a, const Slice& b) const override {
      ++calls;
      return a.compare(b);
    }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
    mutable std::atomic<int> calls{0};
  };
  auto comparator = std::make_unique<Counting>();
  options_.comparator = comparator.get();
  OpenDb();
  ASSERT_TRUE(Put("k", "v").ok());
  Flush();
  CloseDb();
  if (!kChecked) {  // invariants may ask
    EXPECT_EQ(comparator->calls, 0);
  }
  comparator.reset();
  EXPECT_TRUE(options_.env->FileExists(name_ + "/CURRENT").ok());
}

class HeldFilesTest : public LifetimeTest {
 protected:
  // A thousand values of 1,000 of it, in one table.
  void Fill(char c) {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(Put(Key(i), std::string(1000, c)).ok());
    EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
    EXPECT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  }
  // Waits until there are at most `most`.
  void ExpectTableBytes(uint64_t most) {
    for (int i = 0; i < 1000 && TableBytes() > most; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_LE(TableBytes(), most);
  }
};

// If no reader has an old state, the thread that replaced it releases it, and the listener is notified.
TEST(ReadStateGarbageTest, NotifiesOfTheLastReference) {
  struct Counter final : ReleaseListener {
    void StatesReleased() override { ++calls; }
    int calls = 0;
  } listener;
  auto* const kept = new ReadState;
  kept->Ref();
  {
    ReadStateGarbage garbage(&listener);
    garbage.list()->push_back(kept);
    garbage.Release();
    EXPECT_EQ(listener.calls, 0);  // a reader has it
    garbage.list()->push_back(new ReadState);
    garbage.list()->push_back(kept);
  }
  EXPECT_EQ(listener.calls, 1);  // once for both
}

// Afterwards no other event would cause a search for obsolete files.
TEST_F(HeldFilesTest, FilesThatAnIteratorHeldGoWithIt) {
  OpenDb();
  Fill('a');
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  Fill('b');
  const uint64_t held = TableBytes();
  EXPECT_EQ(it->value().ToString(), std::string(1000, 'a'));
  it.reset();
  ExpectTableBytes(held - 900000);
}

TEST_F(HeldFilesTest, FilesThatAReadHeldGoWithIt) {
  OpenDb();
  const std::function<void()> reads[] = {
      [&] { EXPECT_EQ(Get(Key(1)), std::string(1000, 'a')); },
      [&] {
        std::vector<std::string> values;
        EXPECT_TRUE(db_->MultiGet({}, std::vector<rocksdb::Slice>{Key(1)}, &values)[0].ok());
        EXPECT_EQ(values[0], std::string(1000, 'a'));
      },
      [&] { EXPECT_TRUE(db_->VerifyChecksum().ok()); },
      [&] {
        rocksdb::TablePropertiesCollection properties;
        EXPECT_TRUE(db_->GetPropertiesOfAllTables(&properties).ok());
      }};
  for (const std::function<void()>& read : reads) {
    OpenDb();  // with an empty cache
    Fill('a');
    uint64_t held = 0;
    DuringFirstRead("", [&] {
      Fill('b');
      held = TableBytes();
    });
    read();
    fs_->SetHook(nullptr);
    EXPECT_GT(held, 1900000u);
    ExpectTableBytes(held - 900000);
  }
}

TEST_F(HeldFilesTest, FilesOfADroppedFamilyGoWithTheLastHold) {
  OpenDb();
  for (const bool iterates : {true, false}) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options_, "dropped", &handle).ok());
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, Key(i), std::string(1000, 'a')).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handle).ok());
    std::unique_ptr<rocksdb::Iterator> it;
    if (iterates) {
      it.reset(db_->NewIterator(rocksdb::ReadOptions(), handle));
      it->SeekToFirst();
    }
    ASSERT_TRUE(db_->DropColumnFamily(handle).ok());
    delete handle;  // without DestroyColumnFamilyHandle, which RocksDB permits
    if (iterates) {
      EXPECT_GT(TableBytes(), 0u);
      EXPECT_EQ(it->value().ToString(), std::string(1000, 'a'));
      it.reset();
    }
    ExpectTableBytes(0);
  }
}

TEST_F(LifetimeTest, FlushReturnsAfterItsListeners) {
  class Slow : public rocksdb::EventListener {
   public:
    void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++completed;
    }
    std::atomic<int> completed{0};
  };
  auto slow = std::make_shared<Slow>();
  options_.listeners.push_back(slow);
  OpenDb();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    EXPECT_EQ(slow->completed, i);
  }
}

TEST_F(LifetimeTest, MultiGetSeesBatchesWholeAcrossSwitches) {
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options_, name_, &db).ok());
  rocksdb::ColumnFamilyHandle* created = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options_, "two", &created).ok());
  db->DestroyColumnFamilyHandle(created);
  delete db;
  families_ = {"default", "two"};
  OpenDb();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i) {
      rocksdb::WriteBatch batch;
      batch.Put(handles_[0], "k", std::to_string(i));
      batch.Put(handles_[1], "k", std::to_string(i));
      if (!db_->Write(rocksdb::WriteOptions(), &batch).ok()) break;
      rocksdb::FlushOptions flush;
      flush.wait = false;
      flush.allow_write_stall = true;
      if (i % 20 == 0) db_->Flush(flush, handles_[0]).PermitUncheckedError();
    }
    stop = true;
  });
  int torn = 0;
  while (!stop) {
    std::vector<std::string> values;
    const std::vector<Status> s =
        db_->MultiGet(rocksdb::ReadOptions(), handles_, {"k", "k"}, &values);
    if (s[0].ok() != s[1].ok() || values[0] != values[1]) ++torn;
  }
  writer.join();
  EXPECT_EQ(torn, 0);
}

TEST_F(LifetimeTest, ManySnapshotsOfOneSequenceAreGivenBackInAnyOrder) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  std::vector<const rocksdb::Snapshot*> snapshots(40'000);
  for (auto& snapshot : snapshots) snapshot = db_->GetSnapshot();
  uint64_t number = 0, time = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &number));
  EXPECT_EQ(number, snapshots.size());
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.oldest-snapshot-time", &time));
  EXPECT_GE(snapshots.back()->GetUnixTime(), static_cast<int64_t>(time));
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = snapshots.size(); i-- > 0;) db_->ReleaseSnapshot(snapshots[i]);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &number));
  EXPECT_EQ(number, 0u);
}

// What the rate of delayed writes lets through has nothing to wait for.
TEST_F(LifetimeTest, WritesWithoutSlowdownGoOnAtTheDelayedRate) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 4;
  options_.level0_stop_writes_trigger = 1000;
  options_.delayed_write_rate = 1 << 20;
  OpenDb();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Put(Key(i), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  uint64_t rate = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.actual-delayed-write-rate", &rate));
  ASSERT_GT(rate, 0u);
  rocksdb::WriteOptions at_once;
  at_once.no_slowdown = true;
  Status s = db_->Put(at_once, "a", "1");
  EXPECT_TRUE(s.ok()) << s.ToString();
  s = db_->Put(at_once, "a", std::string(1 << 20, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_EQ(Get("a"), "1");
  // Others need not make up for it.
  s = db_->Put(at_once, "a", "2");
  EXPECT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
}

TEST_F(LifetimeTest, LowPriorityWritesYieldToCompactions) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 1000;
  options_.level0_stop_writes_trigger = 1000;
  OpenDb();
  rocksdb::WriteOptions low;
  low.low_pri = true;
  low.no_slowdown = true;
  EXPECT_TRUE(db_->Put(low, "a", "1").ok());
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Put(Key(i), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  // No caller waits for compactions that are off.
  EXPECT_TRUE(db_->Put(low, "a", "2").ok());
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  Status s = db_->Put(low, "a", "3");
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_TRUE(Put("a", "4").ok());
  low.no_slowdown = false;
  EXPECT_TRUE(db_->Put(low, "a", "5").ok());
  EXPECT_EQ(Get("a"), "5");
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
}

}  // namespace
}  // namespace compassdb
