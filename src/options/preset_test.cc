// SPDX-License-Identifier: Apache-2.0
#include "compassdb/preset.h"

#include <gtest/gtest.h>
#include <strings.h>

#include "compassdb/table.h"
#include "options/projection.h"
#include "options/table_factories.h"
#include "rocksdb/cache.h"

namespace compassdb {
namespace {

TEST(PresetTest, NamesGoRoundTrip) {
  EXPECT_EQ(AllPresets().size(), 8u);
  for (Preset preset : AllPresets()) {
    Preset found = Preset::kDefault;
    ASSERT_TRUE(PresetFromName(PresetName(preset), &found).ok());
    EXPECT_EQ(found, preset);
  }
}

StoreOptions Projected(Preset preset, rocksdb::ColumnFamilyOptions options = {}) {
  EXPECT_TRUE(ApplyPreset(preset, &options).ok());
  return ProjectStoreOptions(options, 0, "default");
}

// A cache that was not asked for does not conflict with memory_limit.
TEST(PresetTest, WorksWithAMemoryLimit) {
  rocksdb::DBOptions db;
  db.memory_limit = 64 << 20;
  for (Preset preset : AllPresets()) {
    rocksdb::ColumnFamilyOptions options;
    ASSERT_TRUE(ApplyPreset(preset, &options).ok());
    const Status s = options.table_factory->ValidateOptions(db, options);
    EXPECT_TRUE(s.ok()) << PresetName(preset) << ": " << s.ToString();
  }
}

TEST(PresetTest, EachReachesTheStore) {
  EXPECT_FALSE(Projected(Preset::kDefault).one_level);
  EXPECT_EQ(Projected(Preset::kDefault).max_pieces, 16u);
  EXPECT_TRUE(Projected(Preset::kReadMostly).one_level);
  EXPECT_EQ(Projected(Preset::kReadMostly).max_pieces, 64u);
  EXPECT_FALSE(Projected(Preset::kUpdateHeavy).one_level);
  EXPECT_EQ(Projected(Preset::kUpdateHeavy).max_pieces, 2u);
  EXPECT_EQ(Projected(Preset::kUpdateHeavy).data_order, DataOrder::kKey);
  EXPECT_EQ(Projected(Preset::kCompassPaper).data_order, DataOrder::kSlot);
  EXPECT_TRUE(Projected(Preset::kCompassPaper).hash_range);
  EXPECT_EQ(Projected(Preset::kCompassPaper).max_pieces, 16u);
  EXPECT_EQ(Projected(Preset::kCompassPaper).scan_bytes_per_read, 0u);
  EXPECT_FALSE(Projected(Preset::kDefault).values.enabled);
  EXPECT_TRUE(Projected(Preset::kHashKv).values.enabled);
  EXPECT_TRUE(Projected(Preset::kHashKv).values.collect);
  EXPECT_EQ(Projected(Preset::kHashKv).values.min_size, 192u);
  EXPECT_TRUE(Projected(Preset::kHashKv).values.hot_cold);
  EXPECT_EQ(Projected(Preset::kCompassPaper).perfect_hash, perfect_hash::Kind::kCpHash);
  EXPECT_FALSE(Projected(Preset::kDefault).hash_range);
  EXPECT_TRUE(Projected(Preset::kHashRange).hash_range);
  EXPECT_FALSE(Projected(Preset::kDefault).filter_index);
  EXPECT_FALSE(Projected(Preset::kDefault).filter.new_bits);
  EXPECT_EQ(Projected(Preset::kDefault).target_table_bytes, 32u << 20);
  EXPECT_TRUE(Projected(Preset::kBoltSorted).filter_index);
  EXPECT_TRUE(Projected(Preset::kBoltSorted).filter.new_bits);
  EXPECT_EQ(Projected(Preset::kBoltSorted).target_table_bytes, 1u << 20);
  EXPECT_EQ(Projected(Preset::kDefault).group_compaction_bytes, 64u << 20);
  EXPECT_EQ(Projected(Preset::kBoltSorted).group_compaction_bytes, 64u << 20);
  EXPECT_FALSE(Projected(Preset::kDefault).leveled);
  EXPECT_TRUE(Projected(Preset::kBoltSorted).leveled);
  EXPECT_TRUE(Projected(Preset::kBoltSorted).dynamic_levels);
}

// BoLT's tables with directories, and a filter index with what it needs.
TEST(PresetTest, PointIndexAndLevelingAreApart) {
  rocksdb::ColumnFamilyOptions options;
  ASSERT_TRUE(ApplyPreset(Preset::kBoltSorted, &options).ok());
  PieceTableOptions piece = TableSettingsOf(options.table_factory.get()).piece;
  EXPECT_TRUE(piece.leveled);
  piece.point_index = PointIndex::kPerfectHash;
  options.table_factory.reset(NewPieceTableFactory(piece));
  StoreOptions store = ProjectStoreOptions(options, 0, "default");
  EXPECT_TRUE(store.leveled);
  EXPECT_FALSE(store.filter_index);
  EXPECT_FALSE(store.filter.new_bits);
  EXPECT_EQ(store.target_table_bytes, 1u << 20);
  piece.leveled = false;
  options.table_factory.reset(NewPieceTableFactory(piece));
  store = ProjectStoreOptions(options, 0, "default");
  EXPECT_FALSE(store.leveled);
  EXPECT_FALSE(store.dynamic_levels);
  EXPECT_EQ(store.target_table_bytes, 32u << 20);
  piece.point_index = PointIndex::kFilter;
  options.table_factory.reset(NewPieceTableFactory(piece));
  store = ProjectStoreOptions(options, 0, "default");
  EXPECT_TRUE(store.leveled);
  EXPECT_TRUE(store.filter_index);
}

TEST(PresetTest, CompactionPriIsTheOrderOfInputs) {
  rocksdb::ColumnFamilyOptions options;
  EXPECT_EQ(Projected(Preset::kBoltSorted, options).input_order, InputOrder::kLeastOverlap);
  options.compaction_pri = rocksdb::kOldestSmallestSeqFirst;
  EXPECT_EQ(Projected(Preset::kBoltSorted, options).input_order, InputOrder::kLongestAgo);
  options.compaction_pri = rocksdb::kOldestLargestSeqFirst;
  EXPECT_EQ(Projected(Preset::kBoltSorted, options).input_order, InputOrder::kOldestNewest);
  options.compaction_pri = rocksdb::kByCompensatedSize;
  EXPECT_EQ(Projected(Preset::kBoltSorted, options).input_order, InputOrder::kLargest);
}

TEST(PresetTest, LeavesBlocksCacheAndSizesAlone) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 5 << 20;
  options.target_file_size_base = 7 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 8192;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  ASSERT_TRUE(ApplyPreset(Preset::kReadMostly, &options).ok());
  EXPECT_EQ(options.write_buffer_size, size_t{5} << 20);
  EXPECT_EQ(options.min_write_buffer_number_to_merge, 4);
  const StoreOptions store = ProjectStoreOptions(options, 0, "default");
  EXPECT_EQ(store.block_size, 8192u);
  EXPECT_EQ(store.block_cache, table.block_cache);
  EXPECT_EQ(store.target_table_bytes, 7u << 19);
}

// Rule 6: hashing only where different bytes are different keys.
class CaseInsensitive : public rocksdb::Comparator {
 public:
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return strcasecmp(a.ToString().c_str(), b.ToString().c_str());
  }
  const char* Name() const override { return "CaseInsensitive"; }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(PresetTest, HashRangeNeedsAComparatorOfBytes) {
  CaseInsensitive comparator;
  rocksdb::ColumnFamilyOptions options;
  ASSERT_TRUE(ApplyPreset(Preset::kHashRange, &options).ok());
  EXPECT_TRUE(options.table_factory->ValidateOptions(rocksdb::DBOptions(), options).ok());
  options.comparator = &comparator;
  const Status s = options.table_factory->ValidateOptions(rocksdb::DBOptions(), options);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("CaseInsensitive"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace compassdb
