// SPDX-License-Identifier: Apache-2.0
// Leveled tables (BoLT's) with either point index: small tables, levels within their sizes, one form read by the other.
#include <cmath>
#include <map>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "util/random.h"

namespace compassdb {
namespace {

class LeveledTest : public DbTest, public ::testing::WithParamInterface<PointIndex> {
 protected:
  void SetUp() override {
    options_.write_buffer_size = 1 << 20;
    options_.max_bytes_for_level_base = 4 << 20;
    options_.max_bytes_for_level_multiplier = 4;
    options_.target_file_size_base = 64 << 20;
    Use(GetParam());
  }
  void Use(PointIndex index) {
    ASSERT_TRUE(ApplyPreset(Preset::kBoltSorted, &options_).ok());
    options_.table_factory->GetOptions<PieceTableOptions>()->point_index = index;
  }

  void Write(int records, uint64_t seed) {
    Random rnd(seed);
    for (int i = 0; i < records; ++i) {
      const std::string key = Key(static_cast<int>(rnd.Uniform(40000)));
      const std::string value = std::to_string(i) + "-" + std::to_string(seed) + std::string(1000, 'v');
      ASSERT_TRUE(Put(key, value).ok());
      model_[key] = value;
    }
    Flush();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  }
  void CheckReads() {
    for (const auto& [key, value] : model_) ASSERT_EQ(Get(key), value);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i) + "x"), "NOT_FOUND");
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    auto at = model_.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
      ASSERT_TRUE(at != model_.end() && it->key() == at->first && it->value() == at->second);
    }
    ASSERT_TRUE(it->status().ok() && at == model_.end());
    const Status s = db_->VerifyChecksum();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Tables of 1 MB each, and levels that hold what they should.
  void CheckShape() {
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    const bool dynamic = options_.level_compaction_dynamic_level_bytes;
    const size_t last = meta.levels.size() - 1;
    size_t tables = 0;
    for (size_t level = 1; level <= last; ++level) {
      for (const auto& file : meta.levels[level].files) EXPECT_LT(file.size, 1700u << 10) << "level " << level;
      tables += meta.levels[level].files.size();
      if (dynamic && level == last) continue;
      const auto base = static_cast<double>(options_.max_bytes_for_level_base);
      const double limit = dynamic ? std::max(base, static_cast<double>(meta.levels[last].size) /
                                                        std::pow(4, last - level))
                                   : base * std::pow(4, level - 1);
      // Half a table for what a cut leaves over, and the directories.
      EXPECT_LT(static_cast<double>(meta.levels[level].size), limit * 1.1 + (1 << 20)) << "level " << level;
    }
    EXPECT_GT(meta.levels[dynamic ? last : 2].files.size(), 5u);
    EXPECT_EQ(meta.levels[dynamic ? 1 : last].files.size(), 0u);
    EXPECT_GT(tables, meta.size >> 21);
    EXPECT_LT(tables, meta.size >> 19);
  }

  std::string Property(const char* name) {
    std::string value;
    return db_->GetProperty(name, &value) ? value : "none";
  }

  std::map<std::string, std::string> model_;
};

TEST_P(LeveledTest, TablesAreSmallAndLevelsWithinTheirSizes) {
  OpenDb();
  Write(30000, 1);
  CheckShape();
  CheckReads();
  OpenDb();
  CheckReads();
  Write(10000, 2);
  CheckShape();
  CheckReads();
}

// A tree with configured sizes becomes one with dynamic ones when it is opened, and may turn back.
TEST_P(LeveledTest, LevelSizesChange) {
  options_.level_compaction_dynamic_level_bytes = false;
  OpenDb();
  Write(30000, 1);
  CheckShape();
  EXPECT_EQ(Property("rocksdb.base-level"), "1");
  options_.level_compaction_dynamic_level_bytes = true;
  OpenDb();
  CheckReads();
  Write(5000, 2);
  CheckShape();
  CheckReads();
  Compact();
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  EXPECT_EQ(meta.levels.back().size, meta.size);
  EXPECT_EQ(Property("rocksdb.estimate-pending-compaction-bytes"), "0");
  options_.level_compaction_dynamic_level_bytes = false;
  OpenDb();
  Write(5000, 3);
  CheckReads();
  EXPECT_EQ(Property("rocksdb.base-level"), "1");
}

// CompactRange brings level 0 to the last level in one step.
TEST_P(LeveledTest, ManualCompactionOfADynamicTree) {
  options_.disable_auto_compactions = true;
  options_.statistics = rocksdb::CreateDBStatistics();
  OpenDb();
  EXPECT_EQ(Property("rocksdb.base-level"), "6");
  Write(2500, 1);
  const uint64_t before = options_.statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  Compact();
  const uint64_t written = options_.statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES) - before;
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  EXPECT_EQ(meta.levels.back().size, meta.size);
  EXPECT_LT(written, meta.size * 11 / 10);
  CheckReads();
}

// The other point index, and tables of several pieces, on an existing database.
TEST_P(LeveledTest, OpensWhatTheOthersLeft) {
  OpenDb();
  Write(20000, 1);
  Use(GetParam() == PointIndex::kFilter ? PointIndex::kPerfectHash : PointIndex::kFilter);
  OpenDb();
  CheckReads();
  Write(10000, 2);
  CheckShape();
  CheckReads();
  ASSERT_TRUE(ApplyPreset(Preset::kDefault, &options_).ok());
  OpenDb();
  CheckReads();
  Write(10000, 3);
  CheckReads();
  Use(GetParam());
  OpenDb();
  CheckReads();
  Write(10000, 4);
  Compact(/*force=*/true);
  CheckReads();
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  for (const auto& level : meta.levels) {
    for (const auto& file : level.files) EXPECT_LT(file.size, 1700u << 10) << "level " << level.level;
  }
}

INSTANTIATE_TEST_SUITE_P(Indexes, LeveledTest, ::testing::Values(PointIndex::kPerfectHash, PointIndex::kFilter),
                         [](const auto& info) {
                           return std::string(info.param == PointIndex::kFilter ? "Filter" : "PerfectHash");
                         });

}  // namespace
}  // namespace compassdb
