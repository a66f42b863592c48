// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <gtest/gtest.h>

#include <set>

#include "util/random.h"

namespace compassdb {
namespace {

// These values are in files: they must never change.
TEST(Hash, ValuesAreStable) {
  EXPECT_EQ(Hash64("", 0), 0x2d06800538d394c2u);
  EXPECT_EQ(Checksum32("", 0), 0x38d394c2u);
}

TEST(Hash, TwoPartsEqualTheWhole) {
  Random random(1);
  const std::string data = random.Bytes(9000);
  for (size_t n : {0, 1, 8, 16, 17, 128, 240, 241, 256, 1024, 2000, 4101, 9000}) {
    const Slice whole(data.data(), n);
    for (size_t cut = 0; cut <= n; cut += 1 + n / 7) {
      EXPECT_EQ(Checksum32(Slice(data.data(), cut), Slice(data.data() + cut, n - cut), 77),
                Checksum32(whole, 77));
    }
  }
}

TEST(Hash, ContextDistinguishesEqualBytes) {
  std::set<uint32_t> seen;
  for (uint64_t file = 0; file < 30; ++file) {
    for (uint64_t offset = 0; offset < 30; ++offset) {
      seen.insert(Checksum32("the same block", MixContext(file, offset)));
    }
  }
  EXPECT_GE(seen.size(), 899u);
}

TEST(Random, SameSeedSameSequenceAndFairRange) {
  Random a(7), b(7);
  int counts[10] = {};
  for (int i = 0; i < 100000; ++i) {
    const uint64_t v = a.Uniform(10);
    ASSERT_EQ(v, b.Uniform(10));
    ++counts[v];
  }
  for (int count : counts) EXPECT_NEAR(count, 10000, 600);
  for (int i = 0; i < 1000; ++i) {
    const double d = a.NextDouble();
    ASSERT_TRUE(d >= 0 && d < 1);
    const uint64_t v = a.Between(5, 7);
    ASSERT_TRUE(v >= 5 && v <= 7);
  }
}

}  // namespace
}  // namespace compassdb
