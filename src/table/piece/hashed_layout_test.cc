// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "table/piece/order_page.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr DataOrder kOrders[] = {DataOrder::kSlot, DataOrder::kHash};

// Every key is in one block, the one that its hash locates.
void ExpectConsistent(DataOrder order, const std::vector<uint64_t>& h1,
                      const HashedLayout& layout) {
  ASSERT_EQ(layout.keys.size(), h1.size());
  BlockLocator locator;
  ASSERT_TRUE(BlockLocator::Parse(order, layout.locator, layout.block_end.size(), &locator));
  std::set<uint32_t> seen;
  uint32_t i = 0;
  for (uint32_t b = 0; b < layout.block_end.size(); ++b) {
    for (; i < layout.block_end[b]; ++i) {
      EXPECT_TRUE(seen.insert(layout.keys[i]).second);
      ASSERT_EQ(locator.Locate(h1[layout.keys[i]]), b);
    }
  }
  EXPECT_EQ(i, h1.size());
  Random random(11);
  for (int n = 0; n < 1000; ++n) {
    ASSERT_LT(locator.Locate(random.Next()), layout.block_end.size());
  }
}

TEST(HashedLayoutTest, EveryKeyIsWhereItsHashSays) {
  Random random(5);
  for (DataOrder order : kOrders) {
    for (size_t n : {1, 2, 3, 30, 1000, 20000}) {
      for (uint32_t size : {10, 130, 1000, 9000}) {
        std::vector<uint64_t> h1(n);
        std::vector<uint32_t> bytes(n);
        for (size_t i = 0; i < n; ++i) {
          h1[i] = random.Next();
          bytes[i] = size / 2 + static_cast<uint32_t>(random.Uniform(size));
        }
        for (perfect_hash::Kind kind : {perfect_hash::Kind::kPilot, perfect_hash::Kind::kCpHash}) {
          HashedLayout layout;
          ASSERT_TRUE(PlanHashedLayout(order, h1, bytes, 4000, 3600, {.kind = kind, .seed = 7}, &layout));
          ExpectConsistent(order, h1, layout);
        }
      }
    }
  }
}

TEST(HashedLayoutTest, NoKeysNoBlocks) {
  for (DataOrder order : kOrders) {
    HashedLayout layout;
    ASSERT_TRUE(PlanHashedLayout(order, {}, {}, 4000, 3600, {.seed = 7}, &layout));
    EXPECT_TRUE(layout.block_end.empty());
    BlockLocator locator;
    EXPECT_TRUE(BlockLocator::Parse(order, layout.locator, 0, &locator));
  }
}

TEST(HashedLayoutTest, EqualHashesShareABlock) {
  for (DataOrder order : kOrders) {
    std::vector<uint64_t> h1(300);
    Random random(1);
    for (size_t i = 0; i < h1.size(); ++i) h1[i] = i % 3 == 0 ? 77 : random.Next();
    const std::vector<uint32_t> bytes(h1.size(), 500);
    HashedLayout layout;
    ASSERT_TRUE(PlanHashedLayout(order, h1, bytes, 4000, 3600, {.seed = 7}, &layout));
    ExpectConsistent(order, h1, layout);
  }
}

TEST(HashedLayoutTest, HashOrderFillsBlocksAndCostsFewBits) {
  Random random(9);
  std::vector<uint64_t> h1(100000);
  for (uint64_t& h : h1) h = random.Next();
  const std::vector<uint32_t> bytes(h1.size(), 125);
  HashedLayout layout;
  ASSERT_TRUE(PlanHashedLayout(DataOrder::kHash, h1, bytes, 4000, 3600, {.seed = 7}, &layout));
  uint32_t begin = 0;
  for (uint32_t end : layout.block_end) {
    EXPECT_LE(end - begin, 32u);
    begin = end;
  }
  EXPECT_LT(layout.block_end.size(), h1.size() / 31);
  EXPECT_TRUE(std::is_sorted(layout.keys.begin(), layout.keys.end(),
                             [&](uint32_t a, uint32_t b) { return h1[a] < h1[b]; }));
  // Nine bits per block.
  EXPECT_LT(layout.locator.size() * 8, layout.block_end.size() * 11);
}

TEST(HashedLayoutTest, SlotOrderHasAFixedNumberOfSlotsPerBlock) {
  Random random(9);
  std::vector<uint64_t> h1(10000);
  for (uint64_t& h : h1) h = random.Next();
  const std::vector<uint32_t> bytes(h1.size(), 125);
  HashedLayout layout;
  ASSERT_TRUE(PlanHashedLayout(DataOrder::kSlot, h1, bytes, 4000, 3600, {.seed = 7}, &layout));
  EXPECT_NEAR(static_cast<double>(layout.block_end.size()), 10000 / 32.0 * 1.02, 10);
  uint32_t begin = 0;
  for (uint32_t end : layout.block_end) {
    EXPECT_LE(end - begin, 32u);
    begin = end;
  }
}

// Its first byte says of which kind the function is (perfect_hash/build_options.h).
TEST(HashedLayoutTest, SlotOrderUsesTheFunctionThatIsAskedFor) {
  for (perfect_hash::Kind kind : {perfect_hash::Kind::kPilot, perfect_hash::Kind::kCpHash}) {
    HashedLayout layout;
    ASSERT_TRUE(PlanHashedLayout(DataOrder::kSlot, std::vector<uint64_t>{1, 2, 3},
                                 std::vector<uint32_t>{9, 9, 9}, 4000, 3600, {.kind = kind}, &layout));
    rocksdb::Slice locator(layout.locator), function;
    uint32_t slots_per_block = 0;
    ASSERT_TRUE(GetVarint32(&locator, &slots_per_block));
    ASSERT_TRUE(GetLengthPrefixedSlice(&locator, &function));
    EXPECT_EQ(function[0], static_cast<char>(kind));
  }
}

TEST(HashedLayoutTest, DamagedLocatorsAreRefusedOrStayInBounds) {
  Random random(4);
  std::vector<uint64_t> h1(2000);
  for (uint64_t& h : h1) h = random.Next();
  const std::vector<uint32_t> bytes(h1.size(), 300);
  for (DataOrder order : kOrders) {
    HashedLayout layout;
    ASSERT_TRUE(PlanHashedLayout(order, h1, bytes, 4000, 3600, {.seed = 7}, &layout));
    const uint64_t blocks = layout.block_end.size();
    BlockLocator locator;
    for (size_t n = 0; n < layout.locator.size(); ++n) {
      EXPECT_FALSE(BlockLocator::Parse(order, {layout.locator.data(), n}, blocks, &locator)) << n;
    }
    EXPECT_FALSE(BlockLocator::Parse(order, layout.locator, blocks + 1, &locator));
    EXPECT_FALSE(BlockLocator::Parse(order, layout.locator + "x", blocks, &locator));
    for (size_t bit = 0; bit < layout.locator.size() * 8; ++bit) {
      std::string damaged = layout.locator;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      if (!BlockLocator::Parse(order, damaged, blocks, &locator)) continue;
      for (size_t i = 0; i < h1.size(); i += 97) ASSERT_LT(locator.Locate(h1[i]), blocks);
    }
  }
}

// --- the reverse index ---

std::string RandomKey(Random* random) {
  std::string key = random->OneIn(3) ? "" : (random->OneIn(2) ? "user" : std::string("us\0", 3));
  const size_t n = random->Uniform(6);
  for (size_t i = 0; i < n; ++i) key.push_back(static_cast<char>(random->OneIn(2) ? 0xff : random->Uniform(3)));
  return key;
}

TEST(OrderPageTest, BlindSearchFindsTheLowerBound) {
  Random random(21);
  for (int round = 0; round < 400; ++round) {
    std::set<std::string> set;
    const size_t n = 1 + random.Uniform(90);
    while (set.size() < n) set.insert(RandomKey(&random) + RandomKey(&random));
    const std::vector<std::string> keys(set.begin(), set.end());
    std::vector<RecordPlace> places(n);
    std::vector<uint32_t> differences(n, 0);
    for (uint32_t i = 0; i < n; ++i) {
      places[i] = {i * 3, i % 16};
      if (i > 0) differences[i] = static_cast<uint32_t>(FirstDifference(keys[i - 1], keys[i]));
    }
    OrderWidths widths;
    widths.block = 9;
    widths.index = 4;
    widths.difference = 12;
    std::string payload;
    OrderPage::Encode(places, differences, widths, &payload);
    Block block;
    OrderPage page;
    ASSERT_TRUE(Block::Parse(payload, &block));
    ASSERT_TRUE(OrderPage::Parse(block, static_cast<uint32_t>(n), widths, &page));
    EXPECT_FALSE(OrderPage::Parse(block, static_cast<uint32_t>(n) + 9, widths, &page));
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(page.place(i).block, places[i].block);
      EXPECT_EQ(page.place(i).index, places[i].index);
    }
    const uint32_t begin = static_cast<uint32_t>(random.Uniform(n));
    const uint32_t end = begin + 1 + static_cast<uint32_t>(random.Uniform(n - begin));
    for (int probe = 0; probe < 60; ++probe) {
      const std::string key =
          random.OneIn(2) ? keys[random.Uniform(n)] : RandomKey(&random) + RandomKey(&random);
      const uint32_t candidate = page.Candidate(begin, end, key);
      ASSERT_GE(candidate, begin);
      ASSERT_LT(candidate, end);
      const uint64_t difference = FirstDifference(keys[candidate], key);
      const uint32_t found =
          difference == UINT64_MAX
              ? candidate
              : page.LowerBound(begin, end, candidate, difference, BitAt(key, difference));
      const auto expected = std::lower_bound(keys.begin() + begin, keys.begin() + end, key);
      ASSERT_EQ(found, expected - keys.begin());
    }
  }
}

TEST(OrderPageTest, FirstDifferenceOrdersLikeBytes) {
  Random random(8);
  for (int i = 0; i < 5000; ++i) {
    const std::string a = RandomKey(&random), b = RandomKey(&random);
    const uint64_t d = FirstDifference(a, b);
    if (a == b) {
      EXPECT_EQ(d, UINT64_MAX);
    } else {
      EXPECT_NE(BitAt(a, d), BitAt(b, d));
      EXPECT_EQ(BitAt(b, d), a < b);
      for (uint64_t j = 0; j < d; ++j) ASSERT_EQ(BitAt(a, j), BitAt(b, j));
    }
  }
}

}  // namespace
}  // namespace compassdb
