// SPDX-License-Identifier: Apache-2.0
#include "util/arena.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "util/concurrent_arena.h"
#include "util/random.h"

namespace compassdb {
namespace {

struct Block {
  char* p;
  size_t n;
  unsigned char fill;
};

void ExpectIntact(const std::vector<Block>& blocks) {
  for (const Block& b : blocks) {
    for (size_t i = 0; i < b.n; ++i) ASSERT_EQ(static_cast<unsigned char>(b.p[i]), b.fill);
  }
}

TEST(Arena, AllocationsDoNotOverlapAndAreAligned) {
  Arena arena(4096);
  Random random(3);
  std::vector<Block> blocks;
  for (int i = 0; i < 5000; ++i) {
    const size_t n = random.OneIn(50) ? random.Uniform(9000) : random.Uniform(100);
    const size_t alignment = size_t{1} << random.Uniform(7);
    char* p = random.OneIn(2) ? arena.Allocate(n) : arena.AllocateAligned(n, alignment);
    if (i % 3 == 0) {
      p = arena.AllocateAligned(n, alignment);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
    }
    const auto fill = static_cast<unsigned char>(i);
    memset(p, fill, n);
    blocks.push_back({p, n, fill});
  }
  ExpectIntact(blocks);
}

TEST(Arena, MemoryUsageCoversAllocations) {
  Arena arena;
  size_t total = 0;
  for (int i = 1; i < 2000; ++i) {
    arena.Allocate(static_cast<size_t>(i));
    total += static_cast<size_t>(i);
    ASSERT_GE(arena.MemoryAllocatedBytes(), total);
    ASSERT_GE(arena.ApproximateMemoryUsage(), total);
    ASSERT_LE(arena.ApproximateMemoryUsage(), arena.MemoryAllocatedBytes());
  }
}

TEST(ConcurrentArena, LittleTakesLittle) {
  ConcurrentArena arena(1 << 20);
  EXPECT_EQ(arena.MemoryAllocatedBytes(), 0u);
  for (int i = 0; i < 10; ++i) arena.AllocateAligned(100, 8);
  EXPECT_LE(arena.MemoryAllocatedBytes(), 2 * Arena::kMinBlockSize);
  size_t total = 1000;
  for (; total < 20 << 20; total += 1000) arena.AllocateAligned(1000, 8);
  EXPECT_LE(arena.MemoryAllocatedBytes(), total + (2 << 20));
}

TEST(ConcurrentArena, ThreadsGetDisjointMemory) {
  ConcurrentArena arena(64 << 10);
  constexpr int kThreads = 4;
  std::vector<std::vector<Block>> blocks(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      for (int i = 0; i < 3000; ++i) {
        const size_t n = random.OneIn(100) ? random.Uniform(20000) : random.Uniform(200);
        char* p = arena.AllocateAligned(n, 8);
        const auto fill = static_cast<unsigned char>(t * 50 + i % 50);
        memset(p, fill, n);
        blocks[t].push_back({p, n, fill});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  size_t total = 0;
  for (const auto& of_thread : blocks) {
    ExpectIntact(of_thread);
    for (const Block& b : of_thread) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(b.p) % 8, 0u);
      total += b.n;
    }
  }
  EXPECT_GE(arena.MemoryAllocatedBytes(), total);
  EXPECT_GE(arena.ApproximateMemoryUsage(), total);
}

// Also those that are larger than a chunk, and while the table of chunks grows. Run under TSan.
TEST(ConcurrentArena, AddressesFindTheirMemory) {
  ConcurrentArena arena(4 << 10, /*addresses=*/true);
  EXPECT_EQ(arena.At(0), nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> lost{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      std::vector<std::pair<uint32_t, char*>> all;
      for (int i = 0; i < 5000; ++i) {
        const size_t n = random.OneIn(20) ? random.Uniform(200000) : random.Uniform(200);
        arena.AllocateAligned(random.Uniform(10), 1);
        char* const p = arena.AllocateWithAddress(n, &all.emplace_back().first);
        all.back().second = p;
        lost += reinterpret_cast<uintptr_t>(p) % 4 != 0 || all.back().first == 0 ? 1 : 0;
      }
      for (const auto& [address, p] : all) lost += arena.At(address) == p ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace compassdb
