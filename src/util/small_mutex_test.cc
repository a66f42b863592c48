// SPDX-License-Identifier: Apache-2.0
#include "util/small_mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace compassdb {
namespace {

TEST(SmallMutexTest, OneAtATime) {
  SmallMutex mu;
  int inside = 0, sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        SmallMutexLock lock(&mu);
        EXPECT_EQ(++inside, 1);
        ++sum;
        if (i % 100 == 0) std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 80000);
}

}  // namespace
}  // namespace compassdb
