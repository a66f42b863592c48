// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <thread>

#include "db/testing/db_test_util.h"
#include "rocksdb/rate_limiter.h"
#include "util/random.h"

namespace compassdb {
namespace {

class WriteTest : public DbTest {};

TEST_F(WriteTest, BatchesTakeOneSequencePerRecord) {
  OpenDb();
  const uint64_t before = db_->GetLatestSequenceNumber();
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 3);
  EXPECT_EQ(Scan(), "a=1,b=2");
}

TEST_F(WriteTest, BackwardRangeIsRefusedBeforeTheLog) {
  OpenDb();
  Status s =
      db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "z", "a");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_TRUE(Put("a", "1").ok());
}

TEST_F(WriteTest, MergesFoldInReadsAndFlushes) {
  options_.merge_operator = std::make_shared<AppendOperator>();
  OpenDb();
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", "2").ok());
  EXPECT_EQ(Get("k"), "1,2");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get("k"), "1,2");
  rocksdb::PinnableSlice operands[4];
  rocksdb::GetMergeOperandsOptions merge_options;
  merge_options.expected_max_number_of_operands = 4;
  int n = 0;
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", "3").ok());
  ASSERT_TRUE(db_->GetMergeOperands(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), "k",
                                    operands, &merge_options, &n).ok());
  ASSERT_GE(n, 1);
  EXPECT_EQ(operands[n - 1].ToString(), "3");
}

// Appends, and counts the bytes that it writes.
class CountingAppend : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "CountingAppend"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    *merged = (existing == nullptr ? std::string() : existing->ToString()) + value.ToString();
    written_ += merged->size();
    return true;
  }
  size_t TakeWritten() { return written_.exchange(0); }

 private:
  mutable std::atomic<size_t> written_ = 0;
};

// A read, a walk in either direction, a flush and a compaction of many operands on one key: none
// costs the square of their number.
TEST_F(WriteTest, ManyOperandsOnOneKeyCostNLogN) {
  const auto op = std::make_shared<CountingAppend>();
  options_.merge_operator = op;
  OpenDb();
  constexpr size_t kOperands = 4000, kSize = 100, kMost = 24 * kOperands * kSize;
  std::string expected;
  for (size_t i = 0; i < kOperands; ++i) {
    std::string operand = std::to_string(i);
    operand.resize(kSize, '.');
    expected += operand;
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", operand).ok());
  }
  const auto check_reads = [&](const char* where) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Get("k"), expected);
    EXPECT_LE(op->TakeWritten(), kMost);
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), expected);
    EXPECT_LE(op->TakeWritten(), kMost);
    it->SeekToLast();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), expected);
    EXPECT_LE(op->TakeWritten(), kMost);
  };
  check_reads("memtable");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_LE(op->TakeWritten(), kMost);
  check_reads("flushed");
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
  EXPECT_LE(op->TakeWritten(), kMost);
  check_reads("compacted");
}

TEST_F(WriteTest, MergeWithoutOperatorIsRefused) {
  OpenDb();
  EXPECT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", "1").IsNotSupported());
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Merge("k", "1").ok());
  EXPECT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).IsInvalidArgument());
}

TEST_F(WriteTest, SyncWithoutLogIsRefused) {
  OpenDb();
  rocksdb::WriteOptions options;
  options.sync = options.disableWAL = true;
  EXPECT_TRUE(db_->Put(options, "a", "1").IsInvalidArgument());
}

TEST_F(WriteTest, UnloggedDataIsFlushedAtClose) {
  OpenDb();
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  ASSERT_TRUE(db_->Put(options, "a", "1").ok());
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(WriteTest, ThreadsWriteInGroups) {
  options_.statistics = rocksdb::CreateDBStatistics();
  OpenDb();
  constexpr int kThreads = 6, kEach = 300;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        rocksdb::WriteBatch batch;
        const std::string key = "t" + std::to_string(t) + "-" + Key(i);
        batch.Put(key, std::string(i % 3 == 0 ? 9000 : 50, 'v'));
        batch.Put(key + "x", "second");
        rocksdb::WriteOptions options;
        options.sync = i % 7 == 0;
        if (!db_->Write(options, &batch).ok()) ++failures;
        std::string value;
        if (!db_->Get(rocksdb::ReadOptions(), key, &value).ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), uint64_t{2} * kThreads * kEach);
  OpenDb();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  int n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++n;
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(n, 2 * kThreads * kEach);
}

TEST_F(WriteTest, ManyFlushesAndCompactionsKeepTheNewest) {
  OpenDb();
  Random random(301);
  std::map<std::string, std::string> model;
  for (int i = 0; i < 6000; ++i) {
    const std::string key = Key(static_cast<int>(random.Uniform(1500)));
    if (random.OneIn(10)) {
      ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), key).ok());
      model.erase(key);
    } else {
      const std::string value = random.Text(100 + random.Uniform(100));
      ASSERT_TRUE(Put(key, value).ok());
      model[key] = value;
    }
  }
  const auto check = [&] {
    for (int i = 0; i < 1500; ++i) {
      auto it = model.find(Key(i));
      ASSERT_EQ(Get(Key(i)), it == model.end() ? "NOT_FOUND" : it->second) << i;
    }
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    auto expected = model.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_NE(expected, model.end());
      ASSERT_EQ(it->key().ToString(), expected->first);
      ASSERT_EQ(it->value().ToString(), expected->second);
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(expected, model.end());
  };
  check();
  OpenDb();
  check();
  Status s = db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  check();
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  OpenDb();
  check();
}

TEST_F(WriteTest, SnapshotsSurviveFlushAndCompaction) {
  OpenDb();
  ASSERT_TRUE(Put("k", "1").ok());
  const rocksdb::Snapshot* first = db_->GetSnapshot();
  ASSERT_TRUE(Put("k", "2").ok());
  const rocksdb::Snapshot* second = db_->GetSnapshot();
  ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "k").ok());
  EXPECT_EQ(IntProperty("rocksdb.num-snapshots"), 2u);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Get("k", first), "1");
    EXPECT_EQ(Get("k", second), "2");
    EXPECT_EQ(Get("k"), "NOT_FOUND");
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(second);
}

TEST_F(WriteTest, MultiGetInOneAndSeveralFamilies) {
  families_ = {"default", "other"};
  options_.create_missing_column_families = true;
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[0], "a", "1").ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "b", "2").ok());
  std::vector<std::string> values;
  std::vector<Status> statuses = db_->MultiGet(
      rocksdb::ReadOptions(), {handles_[0], handles_[1], handles_[0]}, {"a", "b", "b"}, &values);
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_TRUE(statuses[1].ok());
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_EQ(values[0] + values[1], "12");
}

TEST_F(WriteTest, StopsAtTheMemTableLimitAndContinues) {
  options_.max_write_buffer_number = 2;
  options_.level0_slowdown_writes_trigger = 4;
  options_.level0_stop_writes_trigger = 6;
  OpenDb();
  const std::string value(4000, 'v');
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i % 50), value).ok());
  EXPECT_EQ(Get(Key(3)), value);
}

TEST_F(WriteTest, ProtectedWrites) {
  OpenDb();
  rocksdb::WriteOptions write;
  write.protection_bytes_per_key = 8;
  ASSERT_TRUE(db_->Put(write, "a", "1").ok());
  rocksdb::WriteBatch batch(0, 0, 8, 0);
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  EXPECT_EQ(Scan(), "b=2");
  const_cast<std::string&>(batch.Data()).back() ^= 1;
  EXPECT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).IsCorruption());
  EXPECT_TRUE(db_->Put(rocksdb::WriteOptions(), "c", "3").ok());  // nothing was written of it
  write.protection_bytes_per_key = 7;
  EXPECT_TRUE(db_->Put(write, "a", "1").IsInvalidArgument());
}

TEST_F(WriteTest, TheRateLimiterCountsWritesThatAskForIt) {
  options_.rate_limiter.reset(rocksdb::NewGenericRateLimiter(1 << 30));
  OpenDb();
  rocksdb::WriteOptions write;
  const auto through = [&] { return options_.rate_limiter->GetTotalBytesThrough(); };
  const int64_t before = through();
  ASSERT_TRUE(db_->Put(write, "a", std::string(1000, 'x')).ok());
  EXPECT_EQ(through(), before);
  write.rate_limiter_priority = rocksdb::Env::IO_USER;
  ASSERT_TRUE(db_->Put(write, "a", std::string(1000, 'x')).ok());
  EXPECT_GE(through(), before + 1000);
  write.disableWAL = true;
  EXPECT_TRUE(db_->Put(write, "a", "1").IsInvalidArgument());
  write = rocksdb::WriteOptions();
  write.rate_limiter_priority = rocksdb::Env::IO_HIGH;
  EXPECT_TRUE(db_->Put(write, "a", "1").IsInvalidArgument());
}

TEST_F(WriteTest, DeadlinesInThePastTimeOut) {
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "k", "v").ok());
  rocksdb::ReadOptions read;
  read.deadline = std::chrono::microseconds(1);
  std::string value;
  EXPECT_TRUE(db_->Get(read, "k", &value).IsTimedOut());
  read.deadline = std::chrono::microseconds(INT64_MAX);
  EXPECT_TRUE(db_->Get(read, "k", &value).ok());
  read.io_timeout = std::chrono::microseconds(1);
  EXPECT_TRUE(db_->Get(read, "k", &value).ok()) << "nothing is read from a file";
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid()) << it->status().ToString();
}

TEST_F(WriteTest, ManagedSnapshotsReleaseThemselves) {
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "k", "old").ok());
  uint64_t count = 0;
  {
    rocksdb::ManagedSnapshot snapshot(db_.get());
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "k", "new").ok());
    rocksdb::ReadOptions read;
    read.snapshot = snapshot.snapshot();
    std::string value;
    ASSERT_TRUE(db_->Get(read, "k", &value).ok());
    EXPECT_EQ(value, "old");
    ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &count));
    EXPECT_EQ(count, 1u);
  }
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &count));
  EXPECT_EQ(count, 0u);
}

TEST_F(WriteTest, PropertiesAnswer) {
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "v").ok());
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 100u);
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(IntProperty("rocksdb.estimate-num-keys"), 100u);
  EXPECT_GT(IntProperty("rocksdb.total-sst-files-size"), 0u);
  EXPECT_GT(IntProperty("compassdb.index-memory"), 0u);
  std::string text;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &text));
  EXPECT_EQ(text, "1");
  for (const char* name : {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.sstables",
                           "rocksdb.cfstats", "rocksdb.dbstats", "compassdb.stats",
                           "compassdb.stats-json", "rocksdb.aggregated-table-properties"}) {
    EXPECT_TRUE(db_->GetProperty(name, &text)) << name;
    EXPECT_FALSE(text.empty()) << name;
  }
  EXPECT_FALSE(db_->GetProperty("rocksdb.no-such-thing", &text));
  EXPECT_FALSE(db_->GetProperty("rocksdb.num-files-at-level99", &text));
}

}  // namespace
}  // namespace compassdb
