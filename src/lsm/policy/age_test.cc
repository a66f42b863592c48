// SPDX-License-Identifier: Apache-2.0
// Tables whose data is too old, by themselves.
#include <gtest/gtest.h>

#include <deque>

#include "lsm/policy/picker.h"

namespace compassdb {
namespace {

class AgeTest : public ::testing::Test {
 protected:
  AgeTest() {
    config_.comparator = rocksdb::BytewiseComparator();
    input_.levels.resize(4);
    input_.now_seconds = 1000;
  }
  void Add(int level, const std::string& smallest, const std::string& largest, uint64_t created) {
    TphMeta& meta = metas_.emplace_back();
    meta.tph_id = metas_.size();
    meta.smallest = smallest;
    meta.largest = largest;
    const auto piece = std::make_shared<PieceMeta>();
    piece->creation_time = created;
    meta.pieces.assign(1, {piece, 1});
    input_.levels[static_cast<size_t>(level)].emplace_back(&meta, false, 100);
  }
  using Indices = std::vector<size_t>;

  PickerConfig config_;
  PickerInput input_;
  std::deque<TphMeta> metas_;
};

TEST_F(AgeTest, TablesAreRewrittenWhereTheyAre) {
  Add(2, "a", "b", 950);
  Add(2, "c", "d", 900);
  for (uint64_t* const limit : {&config_.ttl_seconds, &config_.periodic_seconds}) {
    *limit = 100;
    const CompactionPlan plan = PickCompaction(input_, config_);
    EXPECT_STREQ(plan.reason, "age");
    EXPECT_TRUE(plan.rewrite);
    EXPECT_EQ(plan.input_level, 2);
    EXPECT_EQ(plan.output_level, 2);
    EXPECT_EQ(plan.inputs, Indices{1});
    *limit = 101;
    EXPECT_TRUE(PickCompaction(input_, config_).empty());
    *limit = 0;
  }
}

TEST_F(AgeTest, LevelZeroGoesDown) {
  Add(0, "a", "d", 950);
  Add(0, "b", "c", 900);
  Add(1, "a", "z", 990);
  for (uint64_t* const limit : {&config_.ttl_seconds, &config_.periodic_seconds}) {
    *limit = 100;
    const CompactionPlan plan = PickCompaction(input_, config_);
    EXPECT_STREQ(plan.reason, "age");
    EXPECT_FALSE(plan.rewrite);
    EXPECT_EQ(plan.input_level, 0);
    EXPECT_EQ(plan.output_level, 1);
    EXPECT_EQ(plan.inputs, (Indices{0, 1}));
    EXPECT_EQ(plan.bases, Indices{0});
    *limit = 101;
    EXPECT_TRUE(PickCompaction(input_, config_).empty());
    *limit = 0;
  }
  // What is busy does not keep deeper levels from it.
  config_.ttl_seconds = 100;
  input_.levels[0][1].busy = true;
  EXPECT_TRUE(PickCompaction(input_, config_).empty());
  Add(3, "a", "b", 900);
  EXPECT_EQ(PickCompaction(input_, config_).input_level, 3);
}

}  // namespace
}  // namespace compassdb
