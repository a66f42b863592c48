// SPDX-License-Identifier: Apache-2.0
// Databases whose tables have filters.
#include "rocksdb/filter_policy.h"

#include "db/testing/db_test_util.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"

namespace compassdb {
namespace {

class FilterTest : public DbTest {
 protected:
  FilterTest() { options_.compression = rocksdb::kNoCompression; }
  void Configure(const rocksdb::FilterPolicy* policy, bool whole_keys = true, bool paged = false) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(policy);
    table.whole_key_filtering = whole_keys;
    table.cache_index_and_filter_blocks = paged;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }
  // `flushes` pieces or tables; each has every `flushes`-th key.
  void Fill(int keys, int flushes) {
    for (int f = 0; f < flushes; ++f) {
      for (int i = f; i < keys; i += flushes) ASSERT_TRUE(Put(Key(i), "v" + std::to_string(i)).ok());
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
  }
  static std::string Key(int i) { return "k" + std::to_string(10000 + i); }
  void Check(int keys) {
    rocksdb::get_perf_context()->Reset();
    for (int i = 0; i < keys; ++i) ASSERT_EQ(Get(Key(i)), "v" + std::to_string(i));
    for (int i = 0; i < keys; ++i) ASSERT_EQ(Get(Key(i) + "x"), "NOT_FOUND");
  }
};

TEST_F(FilterTest, KeysAreFoundWhereverTheyAre) {
  for (const bool paged : {false, true}) {
    for (const bool ribbon : {false, true}) {
      Configure(ribbon ? rocksdb::NewRibbonFilterPolicy(10, -1) : rocksdb::NewBloomFilterPolicy(10), true,
                paged);
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      OpenDb();
      Fill(600, 3);
      Check(600);
      EXPECT_GT(rocksdb::get_perf_context()->bloom_sst_miss_count, 500u);
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
      Check(600);
      OpenDb();
      Check(600);
      EXPECT_TRUE(db_->VerifyChecksum().ok());
      std::vector<std::string> keys;
      for (int i = 0; i < 200; ++i) keys.push_back(i % 2 == 0 ? Key(i) : Key(i) + "x");
      const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
      std::vector<std::string> values;
      const auto found = db_->MultiGet(rocksdb::ReadOptions(), slices, &values);
      for (int i = 0; i < 200; ++i) ASSERT_EQ(found[i].ok(), i % 2 == 0);
    }
  }
}

TEST_F(FilterTest, MemoryIsCountedAndFreedWithThePolicy) {
  Configure(rocksdb::NewBloomFilterPolicy(16));
  OpenDb();
  Fill(4000, 1);
  Check(4000);
  const uint64_t filters = IntProperty("compassdb.index-memory-filters");
  EXPECT_GE(filters, 4000u * 2);
  EXPECT_LT(filters, 4000u * 2 + 1000);
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
  uint64_t bytes = 0;
  for (const auto& [name, properties] : tables) {
    bytes += properties->filter_size;
    EXPECT_EQ(properties->filter_policy_name, "bloomfilter") << name;
  }
  EXPECT_GE(bytes, 4000u * 2);
  EXPECT_GT(IntProperty("rocksdb.estimate-table-readers-mem"), filters);
  // The filters stay on disk, and are not asked.
  Configure(nullptr);
  OpenDb();
  Check(4000);
  EXPECT_EQ(IntProperty("compassdb.index-memory-filters"), 0u);
}

// A table of several pieces: merge operands make reads go through all of them.
TEST_F(FilterTest, SpareOtherPiecesToReadsOfOperands) {
  Configure(rocksdb::NewBloomFilterPolicy(20));
  options_.merge_operator = std::make_shared<AppendOperator>();
  OpenDb();
  for (int f = 0; f < 4; ++f) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(i * 4 + f), "x").ok());
    }
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(9000), std::to_string(f)).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  for (int i = 0; i < 400; ++i) ASSERT_EQ(Get(Key(i)), "x");
  EXPECT_EQ(Get(Key(9000)), "0,1,2,3");
}

TEST_F(FilterTest, PrefixesAloneAnswerForKeysToo) {
  Configure(rocksdb::NewBloomFilterPolicy(20), /*whole_keys=*/false);
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
  OpenDb();
  ASSERT_TRUE(Put("aa1", "1").ok());
  ASSERT_TRUE(Put("cc1", "2").ok());
  ASSERT_TRUE(Put("c", "3").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(Get("aa1"), "1");
  EXPECT_EQ(Get("c"), "3");
  rocksdb::get_perf_context()->Reset();
  EXPECT_EQ(Get("bb1"), "NOT_FOUND");
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_sst_miss_count, 1u);
  EXPECT_EQ(Get("aa2"), "NOT_FOUND");
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_sst_hit_count, 1u);
  ASSERT_TRUE(db_->SetOptions({{"prefix_extractor", "fixed:1"}}).ok());
  EXPECT_EQ(Get("aa1"), "1");
  EXPECT_EQ(Get("bb1"), "NOT_FOUND");
}

// Seeks for a prefix across tables and pieces, against those that look at everything.
TEST_F(FilterTest, PrefixSeeksFindWhatThereIs) {
  Configure(rocksdb::NewBloomFilterPolicy(6));
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  options_.target_file_size_base = 8 << 10;
  OpenDb();
  for (int f = 0; f < 5; ++f) {
    for (int i = f; i < 3000; i += 7) ASSERT_TRUE(Put("p" + Key(i), std::string(50, 'v')).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    if (f == 2) {
      ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "pk10500",
                                   "pk11800")
                      .ok());
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
  }
  ASSERT_TRUE(db_->SetOptions({{"prefix_extractor", "fixed:4"}}).ok());
  Fill(50, 2);  // tables with prefixes of another length next to the old ones
  rocksdb::ReadOptions total, prefix;
  total.total_order_seek = true;
  prefix.prefix_same_as_start = true;
  for (int i = 0; i < 4000; i += 13) {
    const std::string target = "p" + Key(i);
    std::unique_ptr<rocksdb::Iterator> expected(db_->NewIterator(total)), it(db_->NewIterator(prefix));
    expected->Seek(target);
    it->Seek(target);
    for (int n = 0; n < 5; ++n) {
      const bool wanted = expected->Valid() && expected->key().starts_with(target.substr(0, 4));
      ASSERT_EQ(it->Valid(), wanted) << target;
      if (!wanted) break;
      ASSERT_EQ(it->key(), expected->key());
      it->Next();
      expected->Next();
    }
  }
}

// With optimize_filters_for_hits there are none: tables of the last level have no filter.
TEST_F(FilterTest, NoneInTheLastLevelIfHitsAreExpected) {
  options_.optimize_filters_for_hits = true;
  Configure(rocksdb::NewBloomFilterPolicy(10));
  OpenDb();
  Fill(3000, 1);
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(force, nullptr, nullptr).ok());
  Check(3000);
  EXPECT_EQ(IntProperty("compassdb.index-memory-filters"), 0u);
}

// A policy of the application's that chooses among the built-in ones.
class ByReason : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return "ByReason"; }
  const char* CompatibilityName() const override { return bloom_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    asked_ += context.column_family_name + " " + std::to_string(context.level_at_creation) +
              (context.reason == rocksdb::TableFileCreationReason::kFlush ? " flush;" : " compaction;");
    if (context.table_options.filter_policy.get() != this) asked_ += "?";
    return bloom_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return bloom_->GetFilterBitsReader(contents);
  }
  const std::unique_ptr<const rocksdb::FilterPolicy> bloom_{rocksdb::NewBloomFilterPolicy(10)};
  mutable std::string asked_;
};

TEST_F(FilterTest, APolicyOfTheApplicationIsAskedWithItsContext) {
  auto* const policy = new ByReason;
  options_.disable_auto_compactions = true;
  Configure(policy);
  OpenDb();
  Fill(100, 2);
  EXPECT_EQ(policy->asked_, "default 0 flush;default 0 flush;");
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(policy->asked_, "default 0 flush;default 0 flush;default 1 compaction;");
  Check(100);
}

}  // namespace
}  // namespace compassdb
