// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_charge.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

TEST(CacheChargeTest, TakesRoomFromTheCache) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(4 << 20, 0);
  {
    CacheCharge charge(cache);
    charge.Add(1);
    EXPECT_EQ(charge.charged(), 16u << 10);  // a 256th of it
    charge.Add(1 << 20);
    EXPECT_EQ(charge.bytes(), (1u << 20) + 1);
    EXPECT_GE(charge.charged(), charge.bytes());
    EXPECT_LE(charge.charged(), charge.bytes() + (16 << 10));
    EXPECT_GE(cache->GetPinnedUsage(), charge.bytes());
    charge.Subtract((1 << 20) - (100 << 10));
    EXPECT_LE(charge.charged(), 116u << 10);
    EXPECT_GE(charge.charged(), 100u << 10);
    charge.Subtract(10 << 20);  // no more than there is
    EXPECT_EQ(charge.bytes(), 0u);
    EXPECT_EQ(cache->GetUsage(), 0u);
    charge.Add(1 << 20);
  }
  EXPECT_EQ(cache->GetUsage(), 0u);
}

TEST(CacheChargeTest, WithoutACacheItOnlyCounts) {
  CacheCharge charge(nullptr);
  charge.Add(1000);
  EXPECT_EQ(charge.bytes(), 1000u);
  EXPECT_EQ(charge.charged(), 0u);
}

TEST(CacheChargeTest, AStrictCacheIsChargedForWhatItHasRoomFor) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(1 << 20, 0, /*strict_capacity_limit=*/true);
  CacheCharge charge(cache);
  charge.Add(2 << 20);
  EXPECT_LE(cache->GetUsage(), 1u << 20);
  EXPECT_GT(charge.charged(), 900u << 10);
}

}  // namespace
}  // namespace compassdb
