// SPDX-License-Identifier: Apache-2.0
#include "cache/block_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "env/huge_pages.h"
#include "util/random.h"

namespace compassdb {
namespace {

TEST(BlockMemoryTest, LeavesOtherSizesToMalloc) {
  BlockMemory memory;
  memory.SetEnabled(true);
  size_t usable = 0;
  EXPECT_EQ(memory.Allocate(BlockMemory::kMinBytes - 1, &usable), nullptr);
  EXPECT_EQ(memory.Allocate(BlockMemory::kMaxBytes + 1, &usable), nullptr);
  EXPECT_EQ(memory.mapped_bytes(), 0u);
  void* const most = memory.Allocate(BlockMemory::kMaxBytes, &usable);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(usable, BlockMemory::kMaxBytes);
  memory.Free(most);
}

TEST(BlockMemoryTest, AllocatorsAreAskedInOrder) {
  BlockMemory memory;
  BlockAllocator allocator{nullptr, &memory}, from;
  size_t usable = 0;
  void* const plain = allocator.Allocate(4000, &usable, &from);  // not enabled
  EXPECT_EQ(usable, 4000u);
  EXPECT_EQ(from.cells, nullptr);
  from.Free(plain);
  memory.SetEnabled(true);
  void* const cell = allocator.Allocate(4000, &usable, &from);
  EXPECT_EQ(usable, 4096u);
  EXPECT_EQ(from.cells, &memory);
  memory.SetEnabled(false);
  from.Free(cell);
  EXPECT_EQ(memory.mapped_bytes(), kHugePage);
}

TEST(BlockMemoryTest, CellsAreApart) {
  BlockMemory memory;
  memory.SetEnabled(true);
  Random rnd(5);
  std::map<char*, std::pair<size_t, char>> cells;  // asked for, filled with
  for (int i = 0; i < 20000; ++i) {
    if (cells.size() < 3000 && rnd.Uniform(5) < 3) {
      const size_t bytes = 1024 + rnd.Uniform(5000);
      size_t usable = 0;
      auto* const cell = static_cast<char*>(memory.Allocate(bytes, &usable));
      ASSERT_NE(cell, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(cell) % 64, 0u);
      ASSERT_GE(usable, bytes);
      ASSERT_LT(usable, bytes + BlockMemory::kStep);
      const char fill = static_cast<char>(rnd.Uniform(256));
      memset(cell, fill, usable);
      const auto at = cells.emplace(cell, std::make_pair(usable, fill)).first;
      if (at != cells.begin()) {
        const auto before = std::prev(at);
        ASSERT_LE(before->first + before->second.first, cell);
      }
      if (std::next(at) != cells.end()) {
        ASSERT_LE(cell + usable, std::next(at)->first);
      }
    } else if (!cells.empty()) {
      auto victim = cells.lower_bound(std::next(cells.begin(), rnd.Uniform(cells.size()))->first);
      const auto [usable, fill] = victim->second;
      ASSERT_EQ(std::string(victim->first, usable), std::string(usable, fill));
      memory.Free(victim->first);
      cells.erase(victim);
    }
  }
  for (const auto& [cell, what] : cells) memory.Free(cell);
  EXPECT_EQ(memory.mapped_bytes(), kHugePage);
}

TEST(BlockMemoryTest, MemoryOfOneSizeServesAnother) {
  BlockMemory memory;
  memory.SetEnabled(true);
  std::vector<void*> cells;
  size_t usable = 0;
  while (memory.mapped_bytes() <= 4 * kHugePage) cells.push_back(memory.Allocate(4000, &usable));
  const size_t mapped = memory.mapped_bytes();
  for (int round = 0; round < 3; ++round) {
    const size_t bytes = round % 2 == 0 ? 8000 : 4000;
    for (void* cell : cells) memory.Free(cell);
    EXPECT_EQ(memory.mapped_bytes(), kHugePage);  // one stays
    const size_t n = cells.size() * 4000 / bytes;
    cells.clear();
    for (size_t i = 0; i < n; ++i) cells.push_back(memory.Allocate(bytes, &usable));
    EXPECT_LE(memory.mapped_bytes(), mapped + kHugePage);
  }
  for (void* cell : cells) memory.Free(cell);
}

TEST(BlockMemoryTest, ManyThreads) {
  BlockMemory memory;
  memory.SetEnabled(true);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      Random rnd(t + 1);
      std::vector<std::pair<char*, char>> mine;
      for (int i = 0; i < 20000; ++i) {
        if (mine.size() < 50 || (mine.size() < 200 && rnd.OneIn(2))) {
          size_t usable = 0;
          auto* const cell = static_cast<char*>(memory.Allocate(2000 + rnd.Uniform(3000), &usable));
          ASSERT_NE(cell, nullptr);
          cell[0] = cell[usable - 1] = static_cast<char>(i);
          mine.emplace_back(cell, static_cast<char>(i));
        } else {
          const auto [cell, fill] = mine.back();
          ASSERT_EQ(cell[0], fill);
          memory.Free(cell);
          mine.pop_back();
        }
      }
      for (const auto& [cell, fill] : mine) memory.Free(cell);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.mapped_bytes(), kHugePage);
}

}  // namespace
}  // namespace compassdb
