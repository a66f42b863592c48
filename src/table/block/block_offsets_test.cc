// SPDX-License-Identifier: Apache-2.0
#include "table/block/block_offsets.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/random.h"

namespace compassdb {
namespace {

std::vector<uint64_t> Offsets(Random* rnd, uint32_t n, uint64_t length, uint64_t spread) {
  std::vector<uint64_t> offsets{0};
  for (uint32_t i = 0; i < n; ++i) {
    offsets.push_back(offsets.back() + length + (spread == 0 ? 0 : rnd->Uniform(spread)));
  }
  return offsets;
}

TEST(BlockOffsetsTest, RoundTrip) {
  Random rnd(1);
  for (uint32_t n : {0u, 1u, 2u, 127u, 128u, 129u, 1000u}) {
    for (uint64_t length : {0, 1, 4096}) {
      for (uint64_t spread : {0, 1, 2, 5000, 1 << 30}) {
        const std::vector<uint64_t> offsets = Offsets(&rnd, n, length, spread);
        std::string bytes;
        ASSERT_TRUE(BlockOffsets::Encode(offsets.data(), n, &bytes));
        bytes += "rest";
        rocksdb::Slice input(bytes);
        BlockOffsets index;
        ASSERT_TRUE(BlockOffsets::Parse(&input, n, offsets.back(), &index));
        EXPECT_EQ(input.ToString(), "rest");
        for (uint32_t i = 0; i <= n; ++i) ASSERT_EQ(index[i], offsets[i]);
        for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(index.Length(i), offsets[i + 1] - offsets[i]);
      }
    }
  }
}

TEST(BlockOffsetsTest, BlocksOfOneLengthTakeABit) {
  Random rnd(2);
  std::string bytes;
  ASSERT_TRUE(BlockOffsets::Encode(Offsets(&rnd, 1280, 4096, 0).data(), 1280, &bytes));
  EXPECT_LE(bytes.size() * 8, 1280u + 100);
}

TEST(BlockOffsetsTest, DamageStaysInBounds) {
  Random rnd(3);
  const std::vector<uint64_t> offsets = Offsets(&rnd, 300, 100, 50);
  std::string good;
  ASSERT_TRUE(BlockOffsets::Encode(offsets.data(), 300, &good));
  for (size_t size = 0; size < good.size(); ++size) {
    rocksdb::Slice input(good.data(), size);
    BlockOffsets index;
    EXPECT_FALSE(BlockOffsets::Parse(&input, 300, offsets.back(), &index)) << size;
  }
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << (bit % 8));
    rocksdb::Slice input(bad);
    BlockOffsets index;
    if (!BlockOffsets::Parse(&input, 300, offsets.back(), &index)) continue;
    for (uint32_t i = 0; i < 300; ++i) {
      ASSERT_LE(index[i], offsets.back());
      ASSERT_LE(index.Length(i), offsets.back());
    }
  }
}

}  // namespace
}  // namespace compassdb
