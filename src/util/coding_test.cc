// SPDX-License-Identifier: Apache-2.0
#include "util/coding.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/random.h"

namespace compassdb {
namespace {

std::vector<uint64_t> Boundaries() {
  std::vector<uint64_t> values = {0, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t v = uint64_t{1} << bit;
    values.insert(values.end(), {v - 1, v, v + 1});
  }
  return values;
}

TEST(Coding, FixedRoundTrip) {
  std::string s;
  PutFixed16(&s, 0xbeef);
  PutFixed32(&s, 0xdeadbeef);
  PutFixed64(&s, 0x0123456789abcdef);
  ASSERT_EQ(s.size(), 14u);
  EXPECT_EQ(static_cast<unsigned char>(s[0]), 0xef);  // little-endian
  Slice in(s);
  uint16_t a;
  uint32_t b;
  uint64_t c;
  ASSERT_TRUE(GetFixed16(&in, &a) && GetFixed32(&in, &b) && GetFixed64(&in, &c));
  EXPECT_EQ(a, 0xbeef);
  EXPECT_EQ(b, 0xdeadbeefu);
  EXPECT_EQ(c, 0x0123456789abcdefu);
  EXPECT_FALSE(GetFixed16(&in, &a));
}

TEST(Coding, Varint64RoundTripAtEveryBoundary) {
  std::string s;
  for (uint64_t v : Boundaries()) {
    const size_t before = s.size();
    PutVarint64(&s, v);
    EXPECT_EQ(s.size() - before, static_cast<size_t>(VarintLength(v))) << v;
  }
  Slice in(s);
  for (uint64_t v : Boundaries()) {
    uint64_t got;
    ASSERT_TRUE(GetVarint64(&in, &got));
    EXPECT_EQ(got, v);
  }
  EXPECT_TRUE(in.empty());
}

TEST(Coding, Varint32RejectsWiderNumbers) {
  for (uint64_t v : Boundaries()) {
    std::string s;
    PutVarint64(&s, v);
    Slice in(s);
    uint32_t got;
    EXPECT_EQ(GetVarint32(&in, &got), v <= UINT32_MAX) << v;
    if (v <= UINT32_MAX) {
      EXPECT_EQ(got, v);
    }
  }
}

TEST(Coding, TruncatedVarintIsRejectedAndInputUnchanged) {
  for (uint64_t v : Boundaries()) {
    std::string s;
    PutVarint64(&s, v);
    for (size_t n = 0; n < s.size(); ++n) {
      Slice in(s.data(), n);
      uint64_t got;
      EXPECT_FALSE(GetVarint64(&in, &got));
      EXPECT_EQ(in.size(), n);
    }
  }
}

TEST(Coding, OverlongVarintIsRejected) {
  uint64_t got;
  std::string eleven(10, '\x80');
  eleven.push_back(1);
  Slice in(eleven);
  EXPECT_FALSE(GetVarint64(&in, &got));
  std::string too_many_bits(9, '\xff');
  too_many_bits.push_back(2);
  in = too_many_bits;
  EXPECT_FALSE(GetVarint64(&in, &got));
}

TEST(Coding, LengthPrefixedSlices) {
  std::string s;
  PutLengthPrefixedSlice(&s, "");
  PutLengthPrefixedSlice(&s, "key");
  PutLengthPrefixedSlice(&s, std::string(1000, 'x'));
  Slice in(s), out;
  ASSERT_TRUE(GetLengthPrefixedSlice(&in, &out));
  EXPECT_EQ(out, "");
  ASSERT_TRUE(GetLengthPrefixedSlice(&in, &out));
  EXPECT_EQ(out, "key");
  ASSERT_TRUE(GetLengthPrefixedSlice(&in, &out));
  EXPECT_EQ(out.size(), 1000u);
  EXPECT_FALSE(GetLengthPrefixedSlice(&in, &out));
  for (size_t n = 2; n < 5; ++n) {  // inside "key"
    Slice cut(s.data() + 1, n - 1);
    EXPECT_FALSE(GetLengthPrefixedSlice(&cut, &out));
  }
}

TEST(Coding, ZigZagIsABijection) {
  for (uint64_t v : Boundaries()) {
    const auto i = static_cast<int64_t>(v);
    EXPECT_EQ(UnZigZag(ZigZag(i)), i);
  }
  EXPECT_EQ(ZigZag(-1), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
}

}  // namespace
}  // namespace compassdb
