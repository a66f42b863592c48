// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable_filter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "util/random.h"

namespace compassdb {
namespace {

TEST(MemTableFilterTest, NoKeyIsMissedAndFewAreInvented) {
  MemTableFilter filter(64 << 10);
  Random rnd(1);
  std::vector<uint64_t> keys;
  for (int i = 0; i < 30000; ++i) keys.push_back(rnd.Next());
  for (const uint64_t k : keys) filter.Add(k);
  for (const uint64_t k : keys) ASSERT_TRUE(filter.MayContain(k));
  int invented = 0;
  for (int i = 0; i < 30000; ++i) invented += filter.MayContain(rnd.Next());
  EXPECT_LT(invented, 900);  // 17 bits per key: some 0.1 % expected
  EXPECT_EQ(filter.BytesInUse(30000), size_t{64} << 10);
  EXPECT_EQ(filter.BytesInUse(2), size_t{8} << 10);
}

TEST(MemTableFilterTest, TheSmallestOne) {
  MemTableFilter filter(0);
  EXPECT_FALSE(filter.MayContain(0xabcdef0123456789));
  filter.Add(0xabcdef0123456789);
  EXPECT_TRUE(filter.MayContain(0xabcdef0123456789));
}

TEST(MemTableFilterTest, ConcurrentWriters) {
  MemTableFilter filter(1 << 10);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random rnd(t);
      for (int i = 0; i < 2000; ++i) {
        const uint64_t k = rnd.Next();
        filter.Add(k);
        EXPECT_TRUE(filter.MayContain(k));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (uint64_t t = 0; t < 4; ++t) {
    Random rnd(t);
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(filter.MayContain(rnd.Next()));
  }
}

}  // namespace
}  // namespace compassdb
