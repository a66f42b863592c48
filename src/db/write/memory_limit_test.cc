// SPDX-License-Identifier: Apache-2.0
// Indexes that do not fit into memory, and one number that caps all of it.
#include <atomic>
#include <thread>

#include "compassdb/index.h"
#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/table.h"
#include "rocksdb/write_buffer_manager.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr int kKeys = 160000;

class MemoryLimitTest : public DbTest {
 protected:
  MemoryLimitTest() {
    options_.target_file_size_base = 2 << 20;
    options_.max_bytes_for_level_base = 4 << 20;
    options_.write_buffer_size = 512 << 10;
    options_.statistics = rocksdb::CreateDBStatistics();
    options_.merge_operator = std::make_shared<AppendOperator>();
  }

  static std::string Value(int i, int round) {
    return std::to_string(i) + "." + std::to_string(round) + std::string(8, 'v');
  }
  int Round(int i) const { return i % 3 == 0 ? 2 : 1; }

  // Without a limit: every key once, a third of them again, a range deleted.
  void Fill() {
    OpenDb();
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 1)).ok());
    for (int i = 0; i < kKeys; i += 3) ASSERT_TRUE(Put(Key(i), Value(i, 2)).ok());
    ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(1000), Key(1100)).ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    // Or a compaction, here or after the next opening, takes away what LoadIndex has just loaded.
    ASSERT_TRUE(db_->WaitForCompact({}).ok());
    ASSERT_TRUE(LoadIndex(db_.get(), db_->DefaultColumnFamily()).ok());
    index_bytes_ = IntProperty("compassdb.index-memory");
    CloseDb();
  }

  std::string Expected(int i) const {
    if (i >= kKeys || (i >= 1000 && i < 1100)) return "NOT_FOUND";
    return Value(i, Round(i));
  }

  // Reads by all ways that there are.
  void Check(int gets) {
    Random rnd(9);
    for (int n = 0; n < gets; ++n) {
      const int i = static_cast<int>(rnd.Uniform(kKeys + 2000));
      ASSERT_EQ(Get(Key(i)), Expected(i)) << i;
    }
    for (int n = 0; n < gets / 64; ++n) {
      std::vector<std::string> keys, values;
      std::vector<int> numbers;
      for (int k = 0; k < 32; ++k) numbers.push_back(static_cast<int>(rnd.Uniform(kKeys + 500)));
      for (int i : numbers) keys.push_back(Key(i));
      const std::vector<Slice> slices(keys.begin(), keys.end());
      const std::vector<Status> statuses = db_->MultiGet({}, slices, &values);
      for (size_t k = 0; k < keys.size(); ++k) {
        ASSERT_EQ(statuses[k].ok() ? values[k] : statuses[k].IsNotFound() ? "NOT_FOUND"
                                                                          : statuses[k].ToString(),
                  Expected(numbers[k]));
      }
    }
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) {
      while (Expected(i) == "NOT_FOUND" && i < kKeys) ++i;
      ASSERT_EQ(it->key().ToString(), Key(i));
      ASSERT_EQ(it->value().ToString(), Expected(i));
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(i, kKeys);
  }

  uint64_t Usage() { return IntProperty("rocksdb.block-cache-usage"); }

  uint64_t index_bytes_ = 0;
};

TEST_F(MemoryLimitTest, IndexInASmallBlockCache) {
  Fill();
  for (const bool pin : {false, true}) {
    rocksdb::BlockBasedTableOptions table;
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = pin;
    table.block_cache = rocksdb::NewLRUCache(index_bytes_ / 2, 0);
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    ASSERT_TRUE(options_.statistics->Reset().ok());
    OpenDb();
    Check(3000);
    EXPECT_LE(Usage(), index_bytes_ / 2 + (300 << 10));
    EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOCK_CACHE_FILTER_MISS), 100u);
    EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOCK_CACHE_FILTER_HIT), 100u);
    EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOCK_CACHE_INDEX_HIT), 100u);
    EXPECT_LE(IntProperty("compassdb.index-memory"), index_bytes_);
    CloseDb();
    EXPECT_LT(table.block_cache->GetPinnedUsage(), 1u);
  }
}

// Pages are erased with their tables, and by nothing else.
TEST_F(MemoryLimitTest, ClosedDatabasesLeaveNoIndexBehind) {
  Fill();
  rocksdb::BlockBasedTableOptions table;
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(64 << 20, 0);
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  OpenDb();
  ASSERT_TRUE(LoadIndex(db_.get(), db_->DefaultColumnFamily()).ok());
  EXPECT_GT(table.block_cache->GetUsage(), index_bytes_ / 2);
  CloseDb();
  EXPECT_EQ(table.block_cache->GetUsage(), 0u);
}

TEST_F(MemoryLimitTest, HalfOfTheIndexIsEnough) {
  Fill();
  options_.memory_limit = index_bytes_ / 2;
  OpenDb();
  std::atomic<bool> done{false};
  std::atomic<uint64_t> highest{0};
  std::thread watch([&] {
    while (!done) {
      highest = std::max<uint64_t>(highest, Usage());
      std::this_thread::yield();
    }
  });
  Check(2000);
  for (int i = 0; i < kKeys; i += 2) {
    const Status s = Put(Key(i), Value(i, Round(i)));
    if (!s.ok() || (i >= 1000 && i < 1100 && !db_->Delete({}, Key(i)).ok())) {
      ADD_FAILURE() << s.ToString();
    }
  }
  EXPECT_TRUE(db_->Merge({}, "merged", "a").ok());
  EXPECT_TRUE(db_->Merge({}, "merged", "b").ok());
  EXPECT_EQ(Get("merged"), "a,b");
  EXPECT_TRUE(db_->Delete({}, "merged").ok());
  Check(2000);
  EXPECT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  Check(2000);
  done = true;
  watch.join();
  // What readers hold at the moment cannot be evicted: an iterator has the separators of all pieces
  // that it is in, a Get a head, a page and a block.
  EXPECT_LE(highest, options_.memory_limit + (128 << 10));
  EXPECT_GT(highest, options_.memory_limit / 2);
}

TEST_F(MemoryLimitTest, MemtablesStayWithinTheirShare) {
  options_.memory_limit = 8 << 20;
  options_.write_buffer_size = 64 << 20;
  OpenDb();
  uint64_t highest = 0;
  for (int i = 0; i < 60000; ++i) {
    ASSERT_TRUE(Put(Key(i), std::string(200, 'v')).ok());
    if (i % 100 == 0) highest = std::max(highest, IntProperty("rocksdb.cur-size-all-mem-tables"));
  }
  EXPECT_LE(highest, (2 << 20) + (512 << 10));
  EXPECT_GT(highest, 512u << 10);
  EXPECT_EQ(IntProperty("rocksdb.block-cache-capacity"), 8u << 20);
}

TEST_F(MemoryLimitTest, ContradictionsAreRefused) {
  const auto refused = [&](const char* word) {
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(word), std::string::npos) << s.ToString();
  };
  options_.memory_limit = 16 << 20;
  options_.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(1 << 20);
  refused("write_buffer_manager");
  options_.write_buffer_manager = nullptr;
  options_.db_write_buffer_size = 12 << 20;
  refused("db_write_buffer_size");
  options_.db_write_buffer_size = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  refused("block_cache");
  table.block_cache = nullptr;
  table.no_block_cache = true;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  refused("no_block_cache");
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
  OpenDb();
  EXPECT_EQ(db_->GetDBOptions().memory_limit, 16u << 20);
}

// Errors of paged parts are errors of the read that needed them.
TEST_F(MemoryLimitTest, PagesThatCannotBeReadAreErrorsOfTheRead) {
  Fill();
  options_.memory_limit = 128 << 10;
  options_.disable_auto_compactions = true;
  OpenDb();
  rocksdb::ReadOptions cache_only;
  cache_only.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(db_->Get(cache_only, Key(1), &value).IsIncomplete());
  EXPECT_EQ(Get(Key(5)), Expected(5));
  fs_->FailAll(FaultOp::kRead, ".ph", Status::IOError("injected"));
  int failed = 0;
  for (int i = 0; i < kKeys; i += 100) {
    const std::string got = Get(Key(i));
    if (got.find("injected") != std::string::npos) {
      ++failed;
    } else {
      EXPECT_EQ(got, Expected(i));
    }
  }
  EXPECT_GT(failed, 100);
  EXPECT_NE(Scan().find("injected"), std::string::npos);
  fs_->ClearFaults();
  Check(1000);
}

// Of separated values: their segments, the lists of those, counts of updates, and pages of the values' places.
TEST_F(MemoryLimitTest, GroupTablesAreWithinIt) {
  constexpr int kValues = 100000;
  PieceTableOptions piece;
  piece.value_hot_cold = true;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  options_.enable_blob_files = true;
  options_.min_blob_size = 192;
  options_.enable_blob_garbage_collection = true;
  options_.memory_limit = 4 << 20;
  OpenDb();
  uint64_t highest = 0;
  const auto value = [](int i) { return std::to_string(i) + std::string(250, static_cast<char>('a' + i % 26)); };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kValues; i += round == 0 ? 1 : 7) {
      ASSERT_TRUE(Put(Key(i), value(i + round)).ok());
      if (i % 128 == 0) highest = std::max(highest, Usage());
    }
  }
  ASSERT_TRUE(db_->Flush({}).ok());
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  EXPECT_LE(highest, options_.memory_limit + (128 << 10));
  // The counts of updates, and what comes before the first read.
  uint64_t fixed = IntProperty("compassdb.index-memory-values");
  EXPECT_GT(fixed, 150u << 10);
  EXPECT_GE(IntProperty("rocksdb.block-cache-pinned-usage"), fixed);
  OpenDb();
  fixed = IntProperty("compassdb.index-memory-values");
  EXPECT_GT(fixed, 100u << 10);
  const uint64_t memtables = 128 << 10;
  EXPECT_GE(IntProperty("rocksdb.block-cache-pinned-usage"), fixed);
  EXPECT_LE(IntProperty("rocksdb.block-cache-pinned-usage"), fixed + memtables);
  // Pages count while they are in the cache.
  for (int i = 0; i < kValues; i += 97) ASSERT_EQ(Get(Key(i)), value(i % 7 == 0 ? i + 1 : i)) << i;
  EXPECT_GT(IntProperty("compassdb.index-memory-values"), fixed + (20 << 10));
  EXPECT_LE(IntProperty("compassdb.index-memory-values"), Usage());
  EXPECT_LE(Usage(), options_.memory_limit + (128 << 10));
  CloseDb();
  // To a cache of the application's as well, which has nothing left of it afterwards.
  rocksdb::BlockBasedTableOptions table;
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(16 << 20, 0);
  options_.memory_limit = 0;
  options_.table_factory.reset(NewPieceTableFactory(piece, table));
  OpenDb();
  EXPECT_GE(table.block_cache->GetPinnedUsage(), fixed / 2);
  for (int i = 0; i < kValues; i += 97) ASSERT_EQ(Get(Key(i)), value(i % 7 == 0 ? i + 1 : i)) << i;
  CloseDb();
  EXPECT_LE(table.block_cache->GetPinnedUsage(), 0u);
}

// Memtables without records, or with few, must not use up what memtables may take together: every write would seal one.
TEST_F(MemoryLimitTest, ManyFamiliesShareLittleMemory) {
  for (const bool limit : {true, false}) {
    families_.clear();
    options_.create_missing_column_families = true;
    options_.memory_limit = limit ? 4 << 20 : 0;
    options_.db_write_buffer_size = limit ? 0 : 1 << 20;
    options_.write_buffer_size = 64 << 20;
    families_ = {"default"};
    for (int i = 1; i < 60; ++i) families_.push_back("family" + std::to_string(i));
    options_.statistics = rocksdb::CreateDBStatistics();
    OpenDb();
    for (int i = 0; i < 1200; ++i) {
      ASSERT_TRUE(db_->Put({}, handles_[static_cast<size_t>(i) % 60], Key(i), std::string(20, 'v')).ok());
    }
    uint64_t flushed = 0;
    ASSERT_TRUE(db_->WaitForCompact({}).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      rocksdb::ColumnFamilyMetaData metadata;
      db_->GetColumnFamilyMetaData(handle, &metadata);
      flushed += metadata.file_count;
    }
    EXPECT_EQ(flushed, 0u) << IntProperty("rocksdb.cur-size-active-mem-table") << " bytes in the first of them, "
                           << (limit ? "memory_limit" : "db_write_buffer_size");
    for (int i = 0; i < 1200; ++i) {
      std::string value;
      ASSERT_TRUE(db_->Get({}, handles_[static_cast<size_t>(i) % 60], Key(i), &value).ok());
    }
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

}  // namespace
}  // namespace compassdb
