// SPDX-License-Identifier: Apache-2.0
#include "value_store/update_counts.h"

#include <gtest/gtest.h>

#include <thread>

#include "util/random.h"

namespace compassdb {
namespace {

uint64_t Hash(uint64_t key) {
  Random random(key + 1);
  return random.Next();
}

TEST(UpdateCountsTest, WithoutRoomNothingIsHot) {
  UpdateCounts counts;
  for (int i = 0; i < 10; ++i) counts.Add(Hash(1));
  EXPECT_FALSE(counts.Hot(Hash(1)));
  EXPECT_EQ(counts.MemoryBytes(), 0u);
}

TEST(UpdateCountsTest, WhatIsUpdatedAgainIsHotUntilItIsForgotten) {
  UpdateCounts counts;
  counts.Reserve(1);
  counts.Add(Hash(1));
  EXPECT_FALSE(counts.Hot(Hash(1)));
  counts.Add(Hash(1));
  EXPECT_TRUE(counts.Hot(Hash(1)));
  EXPECT_FALSE(counts.Hot(Hash(2)));
  for (uint64_t i = 0; i < 4 * UpdateCounts::kMinSlots; ++i) counts.Add(Hash(1000 + i));
  EXPECT_FALSE(counts.Hot(Hash(1)));
}

TEST(UpdateCountsTest, GrowingKeepsTheCounts) {
  UpdateCounts counts;
  counts.Reserve(1000);
  for (int i = 0; i < 3; ++i) counts.Add(Hash(1));
  counts.Reserve(100 * 1000);
  EXPECT_TRUE(counts.Hot(Hash(1)));
  counts.Reserve(10);  // never shrinks
  EXPECT_TRUE(counts.Hot(Hash(1)));
  EXPECT_EQ(counts.MemoryBytes(), 64u << 10);  // what is replaced is freed
}

// Half of the updates go to a hundredth of the keys.
TEST(UpdateCountsTest, DistinguishesTheFewFromTheMany) {
  UpdateCounts counts;
  constexpr uint64_t kKeys = 50000;
  counts.Reserve(kKeys);
  Random random(301);
  for (uint64_t i = 0; i < 6 * kKeys; ++i) {
    counts.Add(Hash(random.Uniform(2) == 0 ? random.Uniform(kKeys / 100) : random.Uniform(kKeys)));
  }
  uint64_t few = 0, many = 0;
  for (uint64_t i = 0; i < kKeys; ++i) (i < kKeys / 100 ? few : many) += counts.Hot(Hash(i)) ? 1 : 0;
  EXPECT_GT(few, kKeys / 100 * 95 / 100);
  EXPECT_LT(many, kKeys / 10);
}

TEST(UpdateCountsTest, FromManyThreads) {
  UpdateCounts counts;
  counts.Reserve(UpdateCounts::kMinSlots);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&counts, t] {
      for (uint64_t i = 0; i < 20000; ++i) {
        counts.Add(Hash(i % 100));
        if (i % 5000 == t * 1000) counts.Reserve(UpdateCounts::kMinSlots * (t + 1));
        counts.Hot(Hash(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(counts.Hot(Hash(i))) << i;
}

}  // namespace
}  // namespace compassdb
