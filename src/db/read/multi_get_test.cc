// SPDX-License-Identifier: Apache-2.0
// MultiGet answers what Get answers key by key.
#include <map>

#include "db/testing/db_test_util.h"
#include "env/env_test_util.h"
#include "env/io_ring.h"
#include "format/key_hash.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Snapshot;

class Concatenate : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "Concatenate"; }
};

rocksdb::BlockBasedTableOptions WithoutCache() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  return table;
}

class MultiGetTest : public DbTest {
 protected:
  void OpenFamilies(std::vector<std::string> families) {
    families_ = std::move(families);
    options_.create_missing_column_families = true;
    OpenDb();
  }
  static std::string Key(uint64_t i) {
    char buffer[32];
    snprintf(buffer, sizeof(buffer), "key%06llu", static_cast<unsigned long long>(i));
    return buffer;
  }
  std::string Single(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key) {
    PinnableSlice value;
    Status s = db_->Get(options, family, key, &value);
    return s.ok() ? "=" + value.ToString() : s.ToString();
  }
  // Every form of MultiGet against Get.
  void Compare(const ReadOptions& options, std::vector<ColumnFamilyHandle*> families,
               const std::vector<std::string>& keys) {
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> expected;
    for (size_t i = 0; i < keys.size(); ++i) {
      expected.push_back(Single(options, families[i], keys[i]));
    }
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db_->MultiGet(options, keys.size(), families.data(), slices.data(), values.data(),
                  statuses.data(), /*sorted_input=*/false);
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(statuses[i].ok() ? "=" + values[i].ToString() : statuses[i].ToString(), expected[i])
          << keys[i];
    }
    std::vector<std::string> strings, timestamps;
    statuses = db_->MultiGet(options, families, slices, &strings, &timestamps);
    EXPECT_EQ(timestamps.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(statuses[i].ok() ? "=" + strings[i] : statuses[i].ToString(), expected[i]);
    }
    // The keys of one family, by the form that takes one.
    std::vector<Slice> of_first;
    std::vector<size_t> index;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (families[i] != families[0]) continue;
      of_first.push_back(keys[i]);
      index.push_back(i);
    }
    std::vector<PinnableSlice> few(of_first.size());
    std::vector<std::string> stamps(of_first.size(), "x");
    db_->MultiGet(options, families[0], of_first.size(), of_first.data(), few.data(),
                  stamps.data(), statuses.data());
    for (size_t k = 0; k < of_first.size(); ++k) {
      EXPECT_EQ(statuses[k].ok() ? "=" + few[k].ToString() : statuses[k].ToString(),
                expected[index[k]]);
      EXPECT_EQ(stamps[k], "");
    }
  }
  void RandomisedAgainstGet(uint64_t seed);
};

// Writes of all kinds into three families while snapshots are taken; batches
// with missing and repeated keys, at now and at the snapshots.
void MultiGetTest::RandomisedAgainstGet(uint64_t seed) {
  options_.merge_operator = std::make_shared<Concatenate>();
  options_.write_buffer_size = 16 << 10;
  OpenFamilies({"default", "one", "two"});
  Random random(seed);
  std::vector<const Snapshot*> snapshots;
  const uint64_t space = 400;
  for (int step = 0; step < 3000; ++step) {
    ColumnFamilyHandle* family = handles_[random.Uniform(3)];
    const std::string key = Key(random.Uniform(space));
    const rocksdb::WriteOptions write;
    switch (random.Uniform(12)) {
      case 0: ASSERT_TRUE(db_->Delete(write, family, key).ok()); break;
      case 1: case 2: ASSERT_TRUE(db_->Merge(write, family, key, random.Bytes(5)).ok()); break;
      case 3:
        if (random.OneIn(5)) {
          ASSERT_TRUE(db_->DeleteRange(write, family, key, key + "5").ok());
        }
        break;
      default:
        ASSERT_TRUE(db_->Put(write, family, key, random.Bytes(random.Skewed(10))).ok());
    }
    if (random.OneIn(500)) snapshots.push_back(db_->GetSnapshot());
    if (random.OneIn(700)) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), family).ok());
    }
    if (step == 1500) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), handles_[1], nullptr, nullptr).ok());
    }
    if (!random.OneIn(30)) continue;
    std::vector<ColumnFamilyHandle*> families;
    std::vector<std::string> keys;
    const bool mixed = random.OneIn(2);
    for (uint64_t n = 1 + random.Uniform(random.OneIn(6) ? 400 : 40); n > 0; --n) {
      families.push_back(mixed ? handles_[random.Uniform(3)] : family);
      keys.push_back(!keys.empty() && random.OneIn(8) ? keys.back()
                                                      : Key(random.Uniform(space + 40)));
    }
    ReadOptions options;
    if (!snapshots.empty() && random.OneIn(2)) {
      options.snapshot = snapshots[random.Uniform(snapshots.size())];
    }
    options.fill_cache = !random.OneIn(4);
    options.async_io = random.OneIn(2);
    Compare(options, families, keys);
    if (HasFailure()) return;
  }
  for (const Snapshot* s : snapshots) db_->ReleaseSnapshot(s);
}

TEST_F(MultiGetTest, AgreesWithGetInMemory) { RandomisedAgainstGet(1); }

TEST_F(MultiGetTest, AgreesWithGetWithoutACache) {
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(WithoutCache()));
  RandomisedAgainstGet(2);
}

TEST_F(MultiGetTest, AgreesWithGetWhereHashesCollide) {
  TEST_SetKeyHashMask(0x7f);
  RandomisedAgainstGet(3);
  TEST_SetKeyHashMask(UINT64_MAX);
}

TEST_F(MultiGetTest, ReadsMissingBlocksTogether) {
  OpenDb();
  const std::string value(1000, 'v');
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), value + Key(i)).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  options_.statistics = rocksdb::CreateDBStatistics();
  OpenDb();
  std::vector<std::string> keys;
  for (int i = 0; i < 300; i += 3) keys.push_back(Key(i));
  keys.push_back(Key(0));
  keys.push_back(Key(1000));
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), keys.size(), slices.data(),
                values.data(), statuses.data());
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    ASSERT_TRUE(statuses[i].ok()) << statuses[i].ToString();
    EXPECT_EQ(values[i], value + keys[i]);
  }
  EXPECT_TRUE(statuses.back().IsNotFound());
  const auto& stats = *options_.statistics;
  EXPECT_EQ(stats.getTickerCount(rocksdb::NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(stats.getTickerCount(rocksdb::NUMBER_MULTIGET_KEYS_READ), keys.size());
  EXPECT_EQ(stats.getTickerCount(rocksdb::NUMBER_MULTIGET_KEYS_FOUND), keys.size() - 1);
  EXPECT_EQ(stats.getTickerCount(rocksdb::NUMBER_MULTIGET_BYTES_READ),
            (keys.size() - 1) * (1000 + keys[0].size()));
  EXPECT_EQ(stats.getTickerCount(rocksdb::MEMTABLE_MISS), keys.size());
  rocksdb::HistogramData batches;
  stats.histogramData(rocksdb::MULTIGET_IO_BATCH_SIZE, &batches);
  EXPECT_EQ(batches.count, 2u);  // 64 keys at once
  EXPECT_EQ(stats.getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS), batches.sum);
}

TEST_F(MultiGetTest, SizeLimitLeavesOutTheLastKeys) {
  OpenDb();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  std::vector<std::string> keys;
  for (int i = 19; i >= 0; --i) keys.push_back(Key(i));
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(20);
  std::vector<Status> statuses(20);
  ReadOptions options;
  options.value_size_soft_limit = 450;
  db_->MultiGet(options, db_->DefaultColumnFamily(), 20, slices.data(), values.data(),
                statuses.data());
  for (size_t i = 0; i < 20; ++i) {
    if (i >= 15) {
      EXPECT_TRUE(statuses[i].ok()) << i;
    } else {
      EXPECT_TRUE(statuses[i].IsAborted()) << i;
      EXPECT_TRUE(values[i].empty());
    }
  }
}

TEST_F(MultiGetTest, FailedReadsFailTheirKeysOnly) {
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(WithoutCache()));
  OpenDb();
  const std::string value(3000, 'v');
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put(Key(i), value).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(Key(i));
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(40);
  std::vector<Status> statuses(40);
  fs_->FailNth(FaultOp::kRead, 7, "", Status::IOError("injected"));
  db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 40, slices.data(), values.data(),
                statuses.data());
  int failed = 0;
  for (int i = 0; i < 40; ++i) {
    if (statuses[i].ok()) {
      EXPECT_EQ(values[i], value);
    } else {
      EXPECT_TRUE(statuses[i].IsIOError()) << statuses[i].ToString();
      ++failed;
    }
  }
  EXPECT_GE(failed, 1);
  EXPECT_LE(failed, 3);  // the records of one block
  // Nothing may be read: no key is found, none is said to be absent.
  ReadOptions memory;
  memory.read_tier = rocksdb::kBlockCacheTier;
  db_->MultiGet(memory, db_->DefaultColumnFamily(), 40, slices.data(), values.data(),
                statuses.data());
  for (const Status& s : statuses) EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
}

TEST_F(MultiGetTest, TimeLimits) {
  OpenDb();
  ASSERT_TRUE(Put("k", "v").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  OpenDb();
  // The first read takes the time that the hook gives it.
  fs_->SetHook([](FaultOp op, const std::string&) {
    if (op == FaultOp::kRead) SystemClock()->SleepMicros(3000);
  });
  std::vector<std::string> values;
  ReadOptions options;
  options.io_timeout = std::chrono::microseconds(1000);
  EXPECT_TRUE(db_->MultiGet(options, {"k"}, &values)[0].IsTimedOut());
  fs_->SetHook(nullptr);
  options.io_timeout = std::chrono::seconds(1000);
  EXPECT_TRUE(db_->MultiGet(options, {"k"}, &values)[0].ok());
  options.deadline = std::chrono::microseconds(1);
  EXPECT_TRUE(db_->MultiGet(options, {"k"}, &values)[0].IsTimedOut());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
  EXPECT_FALSE(it->status().ok());
}

// The operating system's files: through the ring where there is one.
TEST(MultiGetPosixTest, AgreesWithGetDirectAndBuffered) {
  const std::string dir = NewTestPath();
  for (const bool direct : {false, true}) {
    for (const bool ring : {true, false}) {
      rocksdb::Options options;
      options.create_if_missing = true;
      options.use_direct_reads = direct;
      options.write_buffer_size = 256 << 10;
      rocksdb::DB* raw = nullptr;
      Status s = rocksdb::DB::Open(options, dir, &raw);
      if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
      ASSERT_TRUE(s.ok()) << s.ToString();
      std::unique_ptr<rocksdb::DB> db(raw);
      Random random(direct * 2 + ring);
      std::map<std::string, std::string> model;
      for (int i = 0; i < 3000; ++i) {
        const std::string key = "k" + std::to_string(random.Uniform(5000));
        model[key] = random.Bytes(200);
        ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), key, model[key]).ok());
      }
      ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
      IoRing::TEST_Permit(ring);
      for (int round = 0; round < 20; ++round) {
        std::vector<std::string> keys;
        for (int i = 0; i < 100; ++i) keys.push_back("k" + std::to_string(random.Uniform(5000)));
        std::vector<Slice> slices(keys.begin(), keys.end());
        std::vector<std::string> values;
        std::vector<Status> statuses = db->MultiGet(rocksdb::ReadOptions(), slices, &values);
        for (size_t i = 0; i < keys.size(); ++i) {
          std::string value;
          Status single = db->Get(rocksdb::ReadOptions(), keys[i], &value);
          ASSERT_EQ(statuses[i].ToString(), single.ToString());
          if (single.ok()) {
            ASSERT_EQ(values[i], value);
          }
        }
      }
      IoRing::TEST_Permit(true);
      db.reset();
      ASSERT_TRUE(rocksdb::DestroyDB(dir, options).ok());
    }
  }
}

}  // namespace
}  // namespace compassdb
