// SPDX-License-Identifier: Apache-2.0
// Group and settled compaction: which tables of a full level go down together.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "lsm/policy/picker.h"

namespace compassdb {
namespace {

class GroupTest : public ::testing::Test {
 protected:
  GroupTest() {
    config_.comparator = rocksdb::BytewiseComparator();
    config_.rewrites = true;
    config_.level1_max_bytes = 1;
    config_.group_bytes = 1000;
    input_.levels.resize(4);
  }
  PickerTable& Add(int level, const std::string& smallest, const std::string& largest,
                   uint64_t bytes = 100) {
    TphMeta& meta = metas_.emplace_back();
    meta.tph_id = metas_.size();
    meta.smallest = smallest;
    meta.largest = largest;
    input_.levels[level].emplace_back(&meta, false, bytes);
    return input_.levels[level].back();
  }
  using Indices = std::vector<size_t>;
  CompactionPlan Pick(uint64_t limit) const { return PickGroup(input_, config_, 1, limit, 0); }

  PickerConfig config_;
  PickerInput input_;
  std::deque<TphMeta> metas_;
};

TEST_F(GroupTest, VictimsNeedNotBeNeighbours) {
  Add(1, "b", "c");
  Add(1, "e", "f", 50);  // meets twice its size
  Add(1, "k", "l");
  Add(2, "b", "bb");
  Add(2, "e", "ee");
  Add(2, "f", "g");
  Add(2, "h", "i");
  Add(2, "k", "kk");
  config_.group_bytes = 200;
  const CompactionPlan plan = Pick(0);
  EXPECT_EQ(plan.inputs, (Indices{0, 2}));
  EXPECT_EQ(plan.bases, (Indices{0, 4}));
  EXPECT_EQ(plan.fences, (Indices{1}));  // at "e" the job cuts what it writes
  EXPECT_FALSE(plan.trivial_move);
  EXPECT_EQ(plan.output_level, 2);
}

TEST_F(GroupTest, NeighboursShareABaseAndNeedNoFence) {
  Add(1, "b", "c");
  Add(1, "d", "e");
  Add(2, "a", "f");
  const CompactionPlan plan = Pick(0);
  EXPECT_EQ(plan.inputs, (Indices{0, 1}));
  EXPECT_EQ(plan.bases, (Indices{0}));
  EXPECT_TRUE(plan.fences.empty());
}

TEST_F(GroupTest, TheBudgetBoundsAJob) {
  for (char c = 'a'; c <= 'j'; ++c) {
    Add(1, std::string(1, c), std::string(1, c) + "x");
    Add(2, std::string(1, c), std::string(1, c) + "x");
  }
  config_.group_bytes = 350;
  EXPECT_EQ(Pick(0).inputs.size(), 3u);
  config_.group_bytes = 0;
  EXPECT_EQ(Pick(0).inputs.size(), 1u);  // one at a time, of any size
  config_.group_bytes = 10000;
  EXPECT_EQ(Pick(0).inputs.size(), 10u);
  EXPECT_EQ(Pick(720).inputs.size(), 4u);  // until the level is an eighth below its limit
  config_.max_compaction_bytes = 450;
  EXPECT_EQ(Pick(0).inputs.size(), 2u);
}

TEST_F(GroupTest, LeastOverlapGoesFirst) {
  Add(1, "a", "b");
  Add(1, "c", "d");
  Add(1, "e", "f", 400);
  Add(2, "a", "b", 300);
  Add(2, "c", "d", 200);
  Add(2, "e", "f", 400);  // once its size
  config_.group_bytes = 500;
  EXPECT_EQ(Pick(0).inputs, (Indices{1, 2}));
}

TEST_F(GroupTest, WhatOverlapsNothingMovesByTheManifestAlone) {
  Add(1, "a", "b");
  Add(1, "c", "d");
  Add(1, "e", "f");
  Add(2, "c", "cc", 1);
  const CompactionPlan plan = Pick(0);
  EXPECT_TRUE(plan.trivial_move);
  EXPECT_EQ(plan.inputs, (Indices{0, 2}));
  EXPECT_TRUE(plan.bases.empty());
  EXPECT_TRUE(plan.fences.empty());
  // No more than bring the level to its limit.
  EXPECT_EQ(Pick(250).inputs, (Indices{0}));
}

TEST_F(GroupTest, AnExclusiveEndMeetsNothing) {
  Add(1, "a", "c");
  metas_.back().largest_exclusive = true;
  Add(1, "d", "e");
  Add(2, "c", "e");
  const CompactionPlan plan = Pick(0);
  EXPECT_TRUE(plan.trivial_move);
  EXPECT_EQ(plan.inputs, (Indices{0}));
}

TEST_F(GroupTest, OtherOrdersTakeNoNoticeOfOverlap) {
  const auto add = [&](const char* low, const char* high, uint64_t bytes, uint64_t first,
                       uint64_t last) {
    Add(1, low, high, bytes);
    metas_.back().smallest_seq = first;
    metas_.back().largest_seq = last;
  };
  add("a", "b", 100, 5, 9);
  add("c", "d", 300, 3, 8);
  add("e", "f", 200, 4, 7);
  Add(2, "c", "d", 900);
  config_.group_bytes = 0;
  config_.victim_order = VictimOrder::kLongestAgo;
  EXPECT_EQ(Pick(0).inputs, (Indices{1}));
  EXPECT_EQ(Pick(0).bases, (Indices{0}));
  config_.victim_order = VictimOrder::kOldestNewest;
  EXPECT_EQ(Pick(0).inputs, (Indices{2}));
  EXPECT_TRUE(Pick(0).trivial_move);  // it happens to meet nothing
  config_.victim_order = VictimOrder::kLargest;
  EXPECT_EQ(Pick(0).inputs, (Indices{1}));
}

TEST_F(GroupTest, BusyTablesStayAndAreFences) {
  Add(1, "a", "b");
  Add(1, "c", "d").busy = true;
  Add(1, "e", "f");
  Add(1, "i", "j");
  Add(2, "a", "b");
  Add(2, "c", "d").busy = true;
  Add(2, "e", "f").busy = true;  // so "e" cannot go
  Add(2, "i", "j");
  const CompactionPlan plan = Pick(0);
  EXPECT_EQ(plan.inputs, (Indices{0, 3}));
  EXPECT_EQ(plan.bases, (Indices{0, 3}));
  EXPECT_EQ(plan.fences, (Indices{1}));
}

// Where a merge leaves the pieces below, what counts is the directory that it rewrites.
TEST_F(GroupTest, WithDirectoriesTheOverlapIsTheirBytes) {
  config_.rewrites = false;
  Add(1, "a", "b");
  Add(1, "c", "d");
  Add(2, "a", "b", 10);
  metas_.back().directory.length = 500;
  Add(2, "c", "d", 100000);
  metas_.back().directory.length = 20;
  config_.group_bytes = 0;
  EXPECT_EQ(Pick(0).inputs, (Indices{1}));
  config_.group_bytes = 1000;
  EXPECT_EQ(PickGroup(input_, config_, 1, 0, 1.0).inputs, (Indices{1}));  // the other is not worth it
  EXPECT_EQ(Pick(0).inputs, (Indices{0, 1}));
}

TEST_F(GroupTest, DeeperLevelsMakeRoomFirst) {
  config_.level1_max_bytes = 100;
  config_.level0_trigger = 2;
  for (int i = 0; i < 5; ++i) Add(0, "a", "z");
  Add(1, "a", "b", 120);
  Add(2, "a", "b");
  EXPECT_GT(LevelScore(input_, config_, 0), LevelScore(input_, config_, 1));
  EXPECT_EQ(PickCompaction(input_, config_).input_level, 1);
  Add(0, "a", "z");  // three times the trigger: writers would be slowed down
  EXPECT_EQ(PickCompaction(input_, config_).input_level, 0);
  config_.rewrites = false;
  input_.levels[0].pop_back();
  EXPECT_EQ(PickCompaction(input_, config_).input_level, 0);
}

TEST_F(GroupTest, LevelsAreNotStretchedWhereMergesRewrite) {
  config_.level1_max_bytes = 1000;
  config_.level_multiplier = 10;
  Add(1, "a", "b", 1500);
  Add(3, "a", "b", 3000);
  EXPECT_EQ(LevelMaxBytes(input_, config_, 1), 1000u);
  EXPECT_EQ(LevelMaxBytes(input_, config_, 2), 10000u);
  EXPECT_EQ(LevelGoalBytes(input_, config_, 3), 100000u);
  EXPECT_GT(LevelScore(input_, config_, 1), 1);
  TphMeta bounds;
  bounds.smallest = "a";
  bounds.largest = "z";
  EXPECT_TRUE(PickMemTableMerge(input_, config_, bounds, 1 << 30).empty());
}

}  // namespace
}  // namespace compassdb
