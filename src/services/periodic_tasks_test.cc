// SPDX-License-Identifier: Apache-2.0
#include "services/periodic_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace compassdb {
namespace {

using std::chrono::microseconds;

void WaitUntil(const std::atomic<int>& count, int least) {
  while (count.load() < least) std::this_thread::sleep_for(microseconds(100));
}

TEST(PeriodicTasks, RunAgainAndAgainUntilRemoved) {
  PeriodicTasks tasks;
  std::atomic<int> often{0}, seldom{0};
  const uint64_t first = tasks.Add(microseconds(200), [&] { ++often; });
  const uint64_t second = tasks.Add(std::chrono::hours(1), [&] { ++seldom; });
  EXPECT_NE(first, second);
  WaitUntil(often, 3);
  tasks.Remove(first);
  const int last = often.load();
  const uint64_t third = tasks.Add(microseconds(200), [&] { ++seldom; });
  WaitUntil(seldom, 3);
  EXPECT_EQ(often.load(), last);
  tasks.Remove(second);
  tasks.Remove(third);
  tasks.Remove(0);
}

TEST(PeriodicTasks, RemoveWaitsForTheTask) {
  PeriodicTasks tasks;
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> inside{0}, begun{0};
    const uint64_t id = tasks.Add(microseconds(1), [&] {
      ++inside;
      ++begun;
      std::this_thread::yield();
      --inside;
    });
    WaitUntil(begun, 1);
    tasks.Remove(id);
    ASSERT_EQ(inside.load(), 0);
  }
}

TEST(PeriodicTasks, ManyComeAndGo) {
  PeriodicTasks tasks;
  std::vector<std::thread> threads;
  std::atomic<int> runs{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const uint64_t id = tasks.Add(microseconds(1 + i % 7), [&] { ++runs; });
        if (i % 3 == 0) std::this_thread::yield();
        tasks.Remove(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int before = runs.load();
  const uint64_t id = tasks.Add(microseconds(1), [&] { ++runs; });
  WaitUntil(runs, before + 2);
  tasks.Remove(id);
}

}  // namespace
}  // namespace compassdb
