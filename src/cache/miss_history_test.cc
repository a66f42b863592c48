// SPDX-License-Identifier: Apache-2.0
#include "cache/miss_history.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "cache/sharded_cache.h"

namespace compassdb {
namespace {

uint64_t Hash(uint64_t i) { return ShardedCache::HashOfWords(i, 7); }

TEST(MissHistoryTest, KnowsWhatCameBack) {
  MissHistory history;
  EXPECT_FALSE(history.NoteBlock(Hash(1)));  // nothing to note it in
  EXPECT_FALSE(history.NoteBlock(Hash(1)));
  history.Resize(1 << 20);
  EXPECT_FALSE(history.NoteBlock(Hash(1)));
  EXPECT_TRUE(history.NoteBlock(Hash(1)));
  EXPECT_FALSE(history.NoteRecord(Hash(1)));  // records are noted apart
  EXPECT_TRUE(history.NoteRecord(Hash(1)));
}

TEST(MissHistoryTest, ForgetsAsTheCacheWould) {
  MissHistory history;
  history.Resize(1 << 20);
  for (uint64_t i = 0; i < 16; ++i) history.NoteBlock(Hash(i));
  int known = 0;
  for (uint64_t i = 0; i < 16; ++i) known += history.NoteBlock(Hash(i)) ? 1 : 0;
  EXPECT_GE(known, 12);  // 128 slots
  for (uint64_t i = 1000; i < 3000; ++i) history.NoteBlock(Hash(i));
  known = 0;
  for (uint64_t i = 0; i < 16; ++i) known += history.NoteBlock(Hash(i)) ? 1 : 0;
  EXPECT_EQ(known, 0);
}

TEST(MissHistoryTest, ResizesConcurrentWithReaders) {
  MissHistory history;
  history.Resize(1 << 16);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 20000; ++i) history.NoteRecord(Hash(i + t));
    });
  }
  for (int round = 0; round < 20; ++round) history.Resize(size_t{1} << (14 + round % 12));
  for (std::thread& thread : threads) thread.join();
  history.Resize(64 << 20);
  history.NoteRecord(Hash(5));
  EXPECT_TRUE(history.NoteRecord(Hash(5)));
}

}  // namespace
}  // namespace compassdb
