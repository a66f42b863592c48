// SPDX-License-Identifier: Apache-2.0
// Tables whose range deletions hide separated values: they move down until no data is below.
#include <gtest/gtest.h>

#include <deque>

#include "lsm/policy/picker.h"

namespace compassdb {
namespace {

class CoveringTest : public ::testing::Test {
 protected:
  CoveringTest() {
    config_.comparator = rocksdb::BytewiseComparator();
    input_.levels.resize(4);
  }
  PickerTable& Add(int level, const std::string& smallest, const std::string& largest, size_t pieces = 1) {
    TphMeta& meta = metas_.emplace_back();
    meta.tph_id = metas_.size();
    meta.smallest = smallest;
    meta.largest = largest;
    meta.pieces.assign(pieces, {std::make_shared<PieceMeta>(), 1});
    input_.levels[static_cast<size_t>(level)].emplace_back(&meta, false, 100);
    return input_.levels[static_cast<size_t>(level)].back();
  }
  using Indices = std::vector<size_t>;

  PickerConfig config_;
  PickerInput input_;
  std::deque<TphMeta> metas_;
};

TEST_F(CoveringTest, GoesDownWhileSomethingLiesBelow) {
  Add(1, "a", "b");
  Add(1, "d", "f").covers = true;
  Add(3, "e", "g");
  CompactionPlan plan = PickCompaction(input_, config_);
  EXPECT_EQ(plan.input_level, 1);
  EXPECT_EQ(plan.output_level, 2);
  EXPECT_EQ(plan.inputs, Indices{1});
  EXPECT_TRUE(plan.trivial_move);
  EXPECT_STREQ(plan.reason, kCoveredReason);
  input_.levels[2].push_back(input_.levels[1][1]);
  input_.levels[1].pop_back();
  plan = PickCompaction(input_, config_);
  EXPECT_EQ(plan.input_level, 2);
  EXPECT_EQ(plan.output_level, 3);
  EXPECT_EQ(plan.bases, Indices{0});
  input_.levels[3][0].busy = true;
  EXPECT_TRUE(PickCompaction(input_, config_).empty());
}

// Else the range deletion would stay for what a table below may have at its end, and be picked again and again.
TEST_F(CoveringTest, GoesDownEvenToWhatOnlyTouchesItsEnd) {
  Add(1, "d", "f").covers = true;
  metas_[0].largest_exclusive = true;
  Add(2, "f", "g");
  EXPECT_EQ(PickCompaction(input_, config_).output_level, 2);
}

TEST_F(CoveringTest, EndsWhereNothingLiesBelow) {
  Add(2, "a", "b").covers = true;
  Add(2, "c", "d");
  Add(2, "e", "f", 3).covers = true;
  Add(3, "c", "d");
  const CompactionPlan plan = PickCompaction(input_, config_);
  EXPECT_TRUE(plan.rewrite);
  EXPECT_EQ(plan.input_level, 2);
  EXPECT_EQ(plan.output_level, 2);
  EXPECT_EQ(plan.inputs, (Indices{0, 2}));
  // Where anything may be ingested below, range deletions stay: only records under one in the table can be dropped.
  config_.open_below = true;
  EXPECT_EQ(PickCompaction(input_, config_).inputs, Indices{2});
  metas_[2].pieces.resize(1);
  EXPECT_TRUE(PickCompaction(input_, config_).empty());
}

TEST_F(CoveringTest, TakesLevel0WithIt) {
  Add(0, "a", "z");
  Add(0, "c", "d").covers = true;
  Add(1, "c", "d");
  CompactionPlan plan = PickCompaction(input_, config_);
  EXPECT_EQ(plan.inputs, (Indices{0, 1}));
  EXPECT_EQ(plan.output_level, 1);
  input_.levels[0][1].covers = false;
  EXPECT_TRUE(PickCompaction(input_, config_).empty());
}

// There is one level for all data.
TEST_F(CoveringTest, EndsOnTheOneLevel) {
  config_.one_level = true;
  Add(2, "a", "z", 2).covers = true;
  const CompactionPlan plan = PickCompaction(input_, config_);
  EXPECT_TRUE(plan.rewrite);
  EXPECT_EQ(plan.output_level, 2);
}

}  // namespace
}  // namespace compassdb
