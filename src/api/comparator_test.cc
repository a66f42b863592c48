// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/comparator.h"

#include <gtest/gtest.h>

#include "api/comparator_u64ts.h"
#include "rocksdb/config_options.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace {

std::string Separate(const Comparator* c, std::string start, const Slice& limit) {
  c->FindShortestSeparator(&start, limit);
  return start;
}

std::string Succeed(const Comparator* c, std::string key) {
  c->FindShortSuccessor(&key);
  return key;
}

TEST(ComparatorTest, BytewiseShortens) {
  const Comparator* c = BytewiseComparator();
  EXPECT_EQ("abd", Separate(c, "abc", "abf"));
  EXPECT_EQ("abe", Separate(c, "abdzz", "abg"));
  EXPECT_EQ("abc2", Separate(c, "abc1", "abd"));
  EXPECT_EQ("ac", Separate(c, "abz", "b"));
  EXPECT_EQ("a\xff\xff", Separate(c, "a\xff\xff", "b"));
  EXPECT_EQ("ab", Separate(c, "ab", "abc"));
  EXPECT_EQ("b", Separate(c, "b", "a"));
  EXPECT_EQ("b", Succeed(c, "abc"));
  EXPECT_EQ("\xff\xff" "b", Succeed(c, "\xff\xff" "a"));
  EXPECT_EQ("\xff", Succeed(c, "\xff"));
  EXPECT_EQ("", Succeed(c, ""));
}

TEST(ComparatorTest, ReverseShortens) {
  const Comparator* c = ReverseBytewiseComparator();
  EXPECT_EQ("ac", Separate(c, "ac123", "ab456"));
  EXPECT_EQ("abc", Separate(c, "abc", "ab"));
  EXPECT_EQ("abc", Succeed(c, "abc"));
}

// The contract of shortening, over keys that share much.
TEST(ComparatorTest, ShortenedKeysStayInTheirInterval) {
  uint64_t state = 1;
  auto next = [&state](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  auto key = [&next] {
    static const char kBytes[] = {'\x00', '\x01', 'a', 'b', '\xfe', '\xff'};
    std::string k;
    for (uint64_t n = next(6); n > 0; --n) k.push_back(kBytes[next(sizeof(kBytes))]);
    return k;
  };
  for (const Comparator* c : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    for (int i = 0; i < 20000; ++i) {
      const std::string a = key();
      const std::string b = key();
      const std::string after = Succeed(c, a);
      EXPECT_LE(c->Compare(a, after), 0);
      EXPECT_LE(after.size(), a.size());
      if (c->Compare(a, b) >= 0) continue;
      const std::string between = Separate(c, a, b);
      EXPECT_LE(c->Compare(a, between), 0) << Slice(a).ToString(true);
      EXPECT_LT(c->Compare(between, b), 0) << Slice(b).ToString(true);
      EXPECT_LE(between.size(), a.size());
    }
  }
}

TEST(ComparatorTest, ImmediateSuccessorsOfEqualLength) {
  const Comparator* c = BytewiseComparator();
  EXPECT_TRUE(c->IsSameLengthImmediateSuccessor("ab", "ac"));
  EXPECT_TRUE(c->IsSameLengthImmediateSuccessor("a\xff", Slice("b\x00", 2)));
  EXPECT_FALSE(c->IsSameLengthImmediateSuccessor("ab", "ad"));
  EXPECT_FALSE(c->IsSameLengthImmediateSuccessor("ab", "ab"));
  EXPECT_FALSE(c->IsSameLengthImmediateSuccessor("ab", "abc"));
  EXPECT_TRUE(ReverseBytewiseComparator()->IsSameLengthImmediateSuccessor("ac", "ab"));
}

std::string WithTimestamp(std::string key, uint64_t ts) {
  compassdb::PutFixed64(&key, ts);
  return key;
}

TEST(ComparatorTest, TimestampsOrderNewestFirst) {
  const Comparator* c = compassdb::BytewiseComparatorWithU64Ts();
  EXPECT_EQ(8u, c->timestamp_size());
  EXPECT_LT(c->Compare(WithTimestamp("a", 9), WithTimestamp("a", 8)), 0);
  EXPECT_LT(c->Compare(WithTimestamp("a", 1), WithTimestamp("b", 2)), 0);
  EXPECT_EQ(0, c->CompareWithoutTimestamp(WithTimestamp("a", 1), WithTimestamp("a", 2)));
  EXPECT_EQ(0, c->CompareWithoutTimestamp("a", false, WithTimestamp("a", 2), true));
  EXPECT_TRUE(c->EqualWithoutTimestamp(WithTimestamp("a", 1), WithTimestamp("a", 2)));
  const Comparator* r = compassdb::ReverseBytewiseComparatorWithU64Ts();
  EXPECT_GT(r->Compare(WithTimestamp("a", 1), WithTimestamp("b", 2)), 0);
  EXPECT_LT(r->Compare(WithTimestamp("a", 9), WithTimestamp("a", 8)), 0);
}

TEST(ComparatorTest, MadeByName) {
  ConfigOptions config;
  const Comparator* c = nullptr;
  for (const char* name :
       {"leveldb.BytewiseComparator", "rocksdb.ReverseBytewiseComparator",
        "leveldb.BytewiseComparator.u64ts", "rocksdb.ReverseBytewiseComparator.u64ts"}) {
    ASSERT_TRUE(Comparator::CreateFromString(config, name, &c).ok());
    EXPECT_STREQ(name, c->Name());
    EXPECT_EQ(name, c->GetId());
  }
  config.ignore_unsupported_options = false;
  EXPECT_TRUE(Comparator::CreateFromString(config, "nope", &c).IsNotSupported());
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
