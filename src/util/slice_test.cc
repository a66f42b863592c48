// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/slice.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ROCKSDB_NAMESPACE {
namespace {

void Count(void* counter, void* /*unused*/) { ++*static_cast<int*>(counter); }

TEST(SliceTest, ComparesAsUnsignedBytesAndByLength) {
  EXPECT_LT(Slice("a").compare("b"), 0);
  EXPECT_LT(Slice("a").compare("aa"), 0);
  EXPECT_GT(Slice("\xff").compare("a"), 0);
  EXPECT_EQ(0, Slice("").compare(Slice()));
  EXPECT_EQ(2u, Slice("abc").difference_offset("abd"));
  EXPECT_EQ(1u, Slice("a").difference_offset("ab"));
  EXPECT_TRUE(Slice("abc").starts_with("ab"));
  EXPECT_TRUE(Slice("abc").ends_with("bc"));
  EXPECT_FALSE(Slice("c").ends_with("bc"));
}

TEST(SliceTest, HexIsUpperCaseAndReadsEitherCase) {
  EXPECT_EQ("00FFA1", Slice("\x00\xff\xa1", 3).ToString(true));
  std::string bytes;
  EXPECT_TRUE(Slice("00fFa1").DecodeHex(&bytes));
  EXPECT_EQ(std::string("\x00\xff\xa1", 3), bytes);
  EXPECT_FALSE(Slice("0").DecodeHex(&bytes));
  EXPECT_FALSE(Slice("0g").DecodeHex(&bytes));
}

TEST(SliceTest, PartsAreJoined) {
  const Slice parts[] = {"a", "", "bc"};
  std::string buffer = "old";
  EXPECT_EQ("abc", Slice(SliceParts(parts, 3), &buffer).ToString());
}

TEST(PinnableSliceTest, PinsOrCopies) {
  int released = 0;
  const std::string bytes = "pinned";
  PinnableSlice s;
  s.PinSlice(bytes, &Count, &released, nullptr);
  EXPECT_TRUE(s.IsPinned());
  EXPECT_EQ(bytes.data(), s.data());
  s.remove_prefix(3);
  EXPECT_EQ("ned", s.ToString());
  s.Reset();
  EXPECT_EQ(1, released);
  s.PinSelf("copied");
  s.remove_suffix(1);
  s.remove_prefix(1);
  EXPECT_EQ("opie", s.ToString());
  EXPECT_EQ("opie", *s.GetSelf());
}

TEST(PinnableSliceTest, MovesWhatItHolds) {
  for (const std::string& value : {std::string("short"), std::string(100, 'x')}) {
    PinnableSlice a;
    a.PinSelf(value);
    PinnableSlice b(std::move(a));
    EXPECT_EQ(value, b.ToString());
    EXPECT_TRUE(a.empty());  // NOLINT: that is the question
    a.PinSelf("again");
    EXPECT_EQ(value, b.ToString());
  }
  int released = 0;
  {
    PinnableSlice a;
    a.PinSlice("p", &Count, &released, nullptr);
    std::vector<PinnableSlice> many;
    many.push_back(std::move(a));
    many.emplace_back();
    EXPECT_EQ("p", many[0].ToString());
    EXPECT_EQ(0, released);
  }
  EXPECT_EQ(1, released);
}

TEST(PinnableSliceTest, AGivenStringStaysInUse) {
  std::string buffer;
  PinnableSlice a(&buffer);
  a.PinSelf("v");
  PinnableSlice b;
  b = std::move(a);
  EXPECT_EQ("v", b.ToString());
  EXPECT_EQ(&buffer, b.GetSelf());
}

TEST(CleanableTest, RunsEachCleanupOnce) {
  int count = 0;
  {
    Cleanable a;
    EXPECT_FALSE(a.HasCleanups());
    for (int i = 0; i < 3; ++i) a.RegisterCleanup(&Count, &count, nullptr);
    Cleanable b;
    b.RegisterCleanup(&Count, &count, nullptr);
    a.DelegateCleanupsTo(&b);
    EXPECT_FALSE(a.HasCleanups());
    Cleanable c(std::move(b));
    EXPECT_EQ(0, count);
    c.Reset();
    EXPECT_EQ(4, count);
  }
  EXPECT_EQ(4, count);
}

TEST(CleanableTest, SharedOnesRunWithTheLastHolder) {
  int count = 0;
  Cleanable target;
  {
    SharedCleanablePtr p;
    EXPECT_EQ(nullptr, p.get());
    p.Allocate();
    p->RegisterCleanup(&Count, &count, nullptr);
    SharedCleanablePtr q = p;
    p.RegisterCopyWith(&target);
    q.MoveAsCleanupTo(&target);
    EXPECT_EQ(nullptr, q.get());
  }
  EXPECT_EQ(0, count);
  target.Reset();
  EXPECT_EQ(1, count);
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
