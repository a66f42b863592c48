// SPDX-License-Identifier: Apache-2.0
#include "iter/get_context.h"

#include <gtest/gtest.h>

#include "api/wide_column_codec.h"
#include "iter/test_support.h"

namespace compassdb {
namespace {

using rocksdb::PinnableSlice;
using test::AppendOperator;

class GetContextTest : public ::testing::Test {
 protected:
  AppendOperator op_;
  PinnableSlice value_;
  GetContext ctx_{"k", 100, &op_, &value_};
};

TEST_F(GetContextTest, NothingFoundIsNotFound) { EXPECT_TRUE(ctx_.Finish().IsNotFound()); }

TEST_F(GetContextTest, AValueEndsTheSearch) {
  EXPECT_FALSE(ctx_.Add(9, kTypeValue, "v", nullptr));
  EXPECT_TRUE(ctx_.done());
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.ToString(), "v");
  EXPECT_EQ(ctx_.found_sequence(), 9u);
}

TEST_F(GetContextTest, APinIsTakenOver) {
  rocksdb::Cleanable pin;
  int released = 0;
  pin.RegisterCleanup([](void* p, void*) { ++*static_cast<int*>(p); }, &released, nullptr);
  static const char kData[] = "pinned";
  ctx_.Add(9, kTypeValue, Slice(kData, 6), &pin);
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.data(), kData);
  EXPECT_TRUE(value_.IsPinned());
  pin.Reset();
  EXPECT_EQ(released, 0);
  value_.Reset();
  EXPECT_EQ(released, 1);
}

TEST_F(GetContextTest, AnEntityShowsItsDefaultColumnOrItself) {
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns({{"", "default"}, {"a", "1"}}, &stored).ok());
  EXPECT_FALSE(ctx_.Add(9, kTypeWideColumnEntity, stored, nullptr));
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.ToString(), "default");
  EXPECT_FALSE(ctx_.found_entity());
  PinnableSlice whole;
  GetContext keeping("k", 100, &op_, &whole);
  keeping.KeepEntities();
  EXPECT_FALSE(keeping.Add(9, kTypeWideColumnEntity, stored, nullptr));
  ASSERT_TRUE(keeping.Finish().ok());
  EXPECT_TRUE(keeping.found_entity());
  EXPECT_EQ(whole.ToString(), stored);
}

TEST_F(GetContextTest, WhatEntitiesCannotDo) {
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns({{"a", "1"}}, &stored).ok());
  EXPECT_TRUE(ctx_.Add(9, kTypeMerge, "x", nullptr));
  EXPECT_FALSE(ctx_.Add(8, kTypeWideColumnEntity, stored, nullptr));
  EXPECT_TRUE(ctx_.Finish().IsNotSupported());
  std::vector<std::string> operands;
  GetContext collecting("k", 100, &op_, nullptr);
  collecting.CollectOperandsOnly(&operands);
  EXPECT_FALSE(collecting.Add(8, kTypeWideColumnEntity, stored, nullptr));
  EXPECT_TRUE(collecting.Finish().IsNotSupported());
  GetContext damaged("k", 100, &op_, &value_);
  EXPECT_FALSE(damaged.Add(8, kTypeWideColumnEntity, "junk", nullptr));
  EXPECT_FALSE(damaged.Finish().ok());
}

TEST_F(GetContextTest, DeletionsHide) {
  EXPECT_FALSE(ctx_.Add(9, kTypeDeletion, "", nullptr));
  EXPECT_TRUE(ctx_.Finish().IsNotFound());
}

TEST_F(GetContextTest, RangeTombstonesHideWhatIsOlder) {
  ctx_.AddCoveringTombstone(8);
  EXPECT_FALSE(ctx_.Add(7, kTypeValue, "v", nullptr));
  EXPECT_TRUE(ctx_.Finish().IsNotFound());
}

TEST_F(GetContextTest, RangeTombstonesDoNotHideWhatIsNewer) {
  ctx_.AddCoveringTombstone(8);
  ctx_.Add(9, kTypeValue, "v", nullptr);
  EXPECT_TRUE(ctx_.Finish().ok());
}

TEST_F(GetContextTest, OperandsMergeOntoAValue) {
  EXPECT_TRUE(ctx_.Add(9, kTypeMerge, "c", nullptr));
  EXPECT_TRUE(ctx_.Add(8, kTypeMerge, "b", nullptr));
  EXPECT_FALSE(ctx_.Add(7, kTypeValue, "a", nullptr));
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.ToString(), "a,b,c");
}

TEST_F(GetContextTest, OperandsMergeOntoNothing) {
  ctx_.Add(9, kTypeMerge, "c", nullptr);
  ctx_.Add(8, kTypeMerge, "b", nullptr);
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.ToString(), "b,c");
}

TEST(GetContext, TheOperatorIsAskedWithAllOperandsSoFar) {
  class Asked : public AppendOperator {
   public:
    bool ShouldMerge(const std::vector<Slice>& operands) const override {
      seen.clear();
      for (const Slice& operand : operands) seen += operand.ToString() + ",";
      return operands.size() == 50;
    }
    mutable std::string seen;
  } asked;
  for (const bool collected : {false, true}) {
    rocksdb::PinnableSlice value;
    std::vector<std::string> operands;
    GetContext ctx("key", 1000, &asked, collected ? nullptr : &value);
    if (collected) ctx.CollectOperandsOnly(&operands);
    std::string expected;
    for (int i = 0; i < 50; ++i) {
      const std::string operand(static_cast<size_t>(i % 3 * 20 + 1), static_cast<char>('a' + i % 26));
      EXPECT_EQ(ctx.Add(900 - static_cast<SequenceNumber>(i), kTypeMerge, operand, nullptr), i < 49);
      EXPECT_EQ(asked.seen, expected += operand + ",");
    }
  }
}

TEST_F(GetContextTest, ARangeTombstoneEndsAMerge) {
  ctx_.Add(9, kTypeMerge, "c", nullptr);
  ctx_.AddCoveringTombstone(8);
  EXPECT_FALSE(ctx_.Add(7, kTypeValue, "a", nullptr));
  ASSERT_TRUE(ctx_.Finish().ok());
  EXPECT_EQ(value_.ToString(), "c");
}

TEST_F(GetContextTest, AFailedMergeIsCorruption) {
  ctx_.Add(9, kTypeMerge, "fail", nullptr);
  EXPECT_EQ(ctx_.Finish().ToString(), "Corruption: Merge operator failed: Could not perform merge.");
}

TEST(GetContext, AMergeWithoutOperatorIsRefused) {
  PinnableSlice value;
  GetContext ctx("k", 100, nullptr, &value);
  EXPECT_FALSE(ctx.Add(9, kTypeMerge, "x", nullptr));
  EXPECT_TRUE(ctx.Finish().IsInvalidArgument());
}

TEST(GetContext, OperandsCanBeCollected) {
  AppendOperator op;
  std::vector<std::string> operands;
  GetContext ctx("k", 100, &op, nullptr);
  ctx.CollectOperandsOnly(&operands);
  ctx.Add(9, kTypeMerge, "b", nullptr);
  ctx.Add(8, kTypeValue, "a", nullptr);
  ASSERT_TRUE(ctx.Finish().ok());
  EXPECT_EQ(operands, (std::vector<std::string>{"b", "a"}));
}

TEST(MergeHelper, AnOperatorMayNameAnOperandAsTheResult) {
  class Last : public AppendOperator {
   public:
    bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
      out->existing_operand = in.operand_list.back();
      return true;
    }
  };
  Last op;
  std::string result = "before";
  Slice base(result);
  ASSERT_TRUE(FullMerge(MergeEnv{&op}, "k", &base, {"a", "b"}, &result).ok());
  EXPECT_EQ(result, "b");
}

TEST(MergeHelper, PartialMergeNeedsTwoOperands) {
  AppendOperator op;
  std::string result;
  EXPECT_FALSE(PartialMerge(MergeEnv{&op}, "k", {"a"}, &result));
  ASSERT_TRUE(PartialMerge(MergeEnv{&op}, "k", {"a", "b", "c"}, &result));
  EXPECT_EQ(result, "a,b,c");
}

}  // namespace
}  // namespace compassdb
