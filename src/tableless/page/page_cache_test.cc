// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace compassdb {
namespace {

TEST(PageCacheTest, WhatWasReadBeforeAWriteIsNotKept) {
  PageCache cache(rocksdb::NewLRUCache(1 << 20));
  const uint64_t before = cache.Number(7);
  cache.Insert(1, 7, before, "old");
  {
    PageCache::Hold hold;
    cache.Find(1, 7, &hold);
    ASSERT_TRUE(hold.found());
    EXPECT_EQ(hold.records(), Slice("old"));
    cache.Erase(1, 7);
    EXPECT_EQ(hold.records(), Slice("old"));  // held
  }
  cache.Insert(1, 7, before, "old");
  PageCache::Hold hold;
  cache.Find(1, 7, &hold);
  EXPECT_FALSE(hold.found());
  cache.Insert(1, 7, cache.Number(7), "new");
  PageCache::Hold again, other;
  cache.Find(1, 7, &again);
  ASSERT_TRUE(again.found());
  EXPECT_EQ(again.records(), Slice("new"));
  cache.Find(2, 7, &other);
  EXPECT_FALSE(other.found());
}

// A reader never finds an older version than one that was written before it looked.
TEST(PageCacheTest, NeverStaleWithConcurrentWriters) {
  PageCache cache(rocksdb::NewLRUCache(1 << 20));
  std::atomic<uint64_t> page{0}, written{0};  // the page on disk; the last write that ended
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const uint64_t least = written;
        PageCache::Hold hold;
        cache.Find(1, 3, &hold);
        if (hold.found()) {
          ASSERT_GE(std::stoull(hold.records().ToString()), least);
          continue;
        }
        const uint64_t number = cache.Number(3);
        cache.Insert(1, 3, number, std::to_string(page));
      }
    });
  }
  for (int i = 0; i < 20000; ++i) {
    ++page;
    cache.Erase(1, 3);
    written = page.load();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace compassdb
