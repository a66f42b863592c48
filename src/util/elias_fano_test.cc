// SPDX-License-Identifier: Apache-2.0
#include "util/elias_fano.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "util/random.h"

namespace compassdb {
namespace {

std::string Encoded(const std::vector<uint64_t>& values) {
  std::string s;
  EncodeEliasFano(values, &s);
  return s;
}

void ExpectHolds(const std::vector<uint64_t>& values) {
  const std::string bytes = Encoded(values);
  rocksdb::Slice in(bytes);
  EliasFano ef;
  ASSERT_TRUE(EliasFano::Parse(&in, values.size(), &ef));
  EXPECT_TRUE(in.empty());
  ASSERT_EQ(ef.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(ef[i], values[i]) << i;
  const auto count = [&](uint64_t v) {
    return static_cast<uint64_t>(std::upper_bound(values.begin(), values.end(), v) - values.begin());
  };
  for (uint64_t v : values) {
    for (uint64_t probe : {v, v + 1, v == 0 ? v : v - 1}) {
      ASSERT_EQ(ef.CountUpTo(probe), count(probe)) << probe;
    }
  }
  ASSERT_EQ(ef.CountUpTo(UINT64_MAX), values.size());
  ASSERT_EQ(ef.CountUpTo(0), count(0));
}

TEST(EliasFanoTest, RoundTrip) {
  ExpectHolds({});
  ExpectHolds({0});
  ExpectHolds({7});
  ExpectHolds({0, 0, 0});
  ExpectHolds({0, 1, 2, 3, 4, 5});
  ExpectHolds({1ull << 62});
  ExpectHolds({0, UINT64_MAX - 1});
  ExpectHolds(std::vector<uint64_t>(1000, 5));
  Random random(7);
  for (uint64_t range : {10ull, 1000ull, 1ull << 20, 1ull << 40, 1ull << 62}) {
    for (size_t n : {2, 63, 64, 65, 1000, 5000}) {
      std::vector<uint64_t> values(n);
      for (uint64_t& v : values) v = random.Next() % range;
      std::sort(values.begin(), values.end());
      ExpectHolds(values);
    }
  }
}

TEST(EliasFanoTest, ClustersAndGaps) {
  std::vector<uint64_t> values;
  for (uint64_t base : {0ull, 1ull << 20, 1ull << 30}) {
    for (uint64_t i = 0; i < 700; ++i) values.push_back(base + i / 3);
  }
  ExpectHolds(values);
}

TEST(EliasFanoTest, BlocksCostFewBits) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 10000; ++i) values.push_back(i * 4000 + i % 100);
  const std::string bytes = Encoded(values);
  EXPECT_LT(bytes.size() * 8, values.size() * 14);
  rocksdb::Slice in(bytes);
  EliasFano ef;
  ASSERT_TRUE(EliasFano::Parse(&in, values.size(), &ef));
  EXPECT_LT(ef.MemoryBytes() * 8, values.size() * 17);
}

TEST(EliasFanoTest, DamageNeverLeavesTheBounds) {
  std::vector<uint64_t> values;
  Random random(3);
  for (size_t i = 0; i < 300; ++i) values.push_back(random.Next() % 100000);
  std::sort(values.begin(), values.end());
  const std::string bytes = Encoded(values);
  for (size_t n = 0; n < bytes.size(); ++n) {
    rocksdb::Slice in(bytes.data(), n);
    EliasFano ef;
    EXPECT_FALSE(EliasFano::Parse(&in, values.size(), &ef)) << n;
  }
  size_t accepted = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    rocksdb::Slice in(damaged);
    EliasFano ef;
    if (!EliasFano::Parse(&in, values.size(), &ef)) continue;
    ++accepted;
    uint64_t previous = 0;
    for (uint64_t i = 0; i < ef.size(); ++i) {
      ASSERT_GE(ef[i], previous);
      previous = ef[i];
      ASSERT_LE(ef.CountUpTo(previous), ef.size());
    }
  }
  EXPECT_GT(accepted, 0u);  // low bits have no redundancy
}

}  // namespace
}  // namespace compassdb
