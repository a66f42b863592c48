// SPDX-License-Identifier: Apache-2.0
// Which path the files of a level go to, and what may settle without being rewritten.
#include <gtest/gtest.h>

#include "lsm/policy/picker.h"

namespace compassdb {
namespace {

class LevelPathsTest : public ::testing::Test {
 protected:
  LevelPathsTest() {
    config_.comparator = rocksdb::BytewiseComparator();
    config_.level1_max_bytes = 100;
    config_.level_multiplier = 10;
    input_.levels.resize(5);
    meta_.smallest = "a";
    meta_.largest = "b";
  }
  std::vector<size_t> Paths() const {
    std::vector<size_t> paths;
    for (int level = 0; level < 5; ++level) paths.push_back(PathOfLevel(input_, config_, level));
    return paths;
  }
  using Expected = std::vector<size_t>;
  PickerConfig config_;
  PickerInput input_;
  TphMeta meta_;
};

TEST_F(LevelPathsTest, OnePathHoldsAll) {
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 0, 0}));
  config_.path_targets = {1};
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 0, 0}));
}

// As in RocksDB, entry l of the additional multipliers is that from level l to the one below.
TEST_F(LevelPathsTest, LevelsHaveMultipliersOfTheirOwn) {
  config_.level_multiplier_additional = {7, 2, 3};
  // 100, 100, 2000, 60000, 600000.
  config_.path_targets = {2199, 0};
  EXPECT_EQ(Paths(), (Expected{0, 0, 1, 1, 1}));
  config_.path_targets = {2200, 59999, 0};
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 2, 2}));
  config_.path_targets = {2200, 60000, 0};
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 1, 2}));
}

TEST_F(LevelPathsTest, LevelsFillThePathsByTheirConfiguredSizes) {
  // Level 0 counts as level 1 does: 100, 100, 1000, 10000, 100000.
  config_.path_targets = {200, 1000, 0};
  EXPECT_EQ(Paths(), (Expected{0, 0, 1, 2, 2}));
  config_.path_targets = {199, 1000, 0};
  EXPECT_EQ(Paths(), (Expected{0, 1, 2, 2, 2}));
  config_.path_targets = {1200, 10000};
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 1, 1}));
}

TEST_F(LevelPathsTest, Level0IsInTheFirst) {
  config_.path_targets = {0, 1000};
  EXPECT_EQ(Paths(), (Expected{0, 1, 1, 1, 1}));
}

TEST_F(LevelPathsTest, ALevelThatHoldsMoreThanConfiguredTakesThatMuch) {
  config_.path_targets = {1200, 20000, 0};
  EXPECT_EQ(Paths(), (Expected{0, 0, 0, 1, 2}));
  input_.levels[2].emplace_back(&meta_, false, 1001);
  EXPECT_EQ(Paths(), (Expected{0, 0, 1, 1, 2}));
  input_.levels[2].back().live_bytes = 10001;
  EXPECT_EQ(Paths(), (Expected{0, 0, 1, 2, 2}));
}

TEST_F(LevelPathsTest, TablesSettleOnlyInTheirOwnPath) {
  config_.path_targets = {200, 100000};
  PickerTable table(&meta_, false, 1000);
  table.paths = PathBit(0);
  EXPECT_TRUE(SettlesOn(input_, config_, table, 1));
  EXPECT_FALSE(SettlesOn(input_, config_, table, 2));
  table.paths = PathBit(1);
  EXPECT_TRUE(SettlesOn(input_, config_, table, 2));
  table.paths |= PathBit(0);
  EXPECT_FALSE(SettlesOn(input_, config_, table, 2));
  config_.path_targets.clear();
  EXPECT_TRUE(SettlesOn(input_, config_, table, 2));
}

TEST_F(LevelPathsTest, AVictimThatMayNotSettleIsRewritten) {
  meta_.pieces.push_back({std::make_shared<PieceMeta>(), 1});
  input_.levels[1].emplace_back(&meta_, false, 1000);
  for (const bool elsewhere : {false, true}) {
    config_.path_targets = {200, 100000};
    input_.levels[1][0].paths = elsewhere ? PathBit(0) : PathBit(1);
    const CompactionPlan plan = PickCompaction(input_, config_);
    ASSERT_FALSE(plan.empty());
    EXPECT_EQ(plan.output_level, 2);
    EXPECT_EQ(plan.path, 1u);
    EXPECT_EQ(plan.trivial_move, !elsewhere);
  }
}

TEST_F(LevelPathsTest, RequestsMayNameAPath) {
  config_.path_targets = {200, 100000};
  meta_.pieces.push_back({std::make_shared<PieceMeta>(), 1});
  input_.levels[1].emplace_back(&meta_, false, 10);
  ManualRange range;
  range.input_level = 1;
  range.output_level = 2;
  bool conflict = false;
  EXPECT_EQ(PickManual(input_, config_, range, &conflict).path, 1u);
  range.path = 0;
  EXPECT_EQ(PickManual(input_, config_, range, &conflict).path, 0u);
}

}  // namespace
}  // namespace compassdb
