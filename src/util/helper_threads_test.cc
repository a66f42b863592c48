// SPDX-License-Identifier: Apache-2.0
#include "util/helper_threads.h"

#include <gtest/gtest.h>

#include <atomic>

#include "util/parallel.h"

namespace compassdb {
namespace {

TEST(HelperThreadsTest, EachHasItsNumber) {
  std::vector<std::atomic<int>> calls(4);
  HelperThreads helpers(calls.size(), [&](size_t i) { ++calls[i]; });
  EXPECT_EQ(helpers.count(), calls.size());
  helpers.Join();
  for (const auto& n : calls) EXPECT_EQ(n, 1);
  helpers.Join();  // nothing more to wait for
}

TEST(HelperThreadsTest, TheyHaveNames) {
  std::vector<std::string> names(12);
  HelperThreads helpers(names.size(), [&](size_t i) {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    names[i] = name;
  });
  helpers.Join();
  for (size_t i = 0; i < helpers.count(); ++i) {
    EXPECT_EQ(names[i], (i < 10 ? "compassdb:part" : "compassdb:par") + std::to_string(i));
  }
}

TEST(HelperThreadsTest, TheyWorkConcurrentlyWithTheirMaker) {
  std::atomic<bool> go{false};
  std::atomic<int> gone{0};
  {
    HelperThreads helpers(2, [&](size_t) {
      go.wait(false);
      ++gone;
    });
    EXPECT_EQ(gone, 0);
    go = true;
    go.notify_all();
  }
  EXPECT_EQ(gone, 2);
}

TEST(HelperThreadsTest, NoneAreWanted) {
  const HelperThreads helpers(0, [](size_t) { ADD_FAILURE(); });
  EXPECT_EQ(helpers.count(), 0u);
}

// A start may lower its thread's priority for good.
TEST(RunInParallelTest, ItsCallerIsNotStarted) {
  EXPECT_TRUE(RunInParallel({}, 2, [] { ADD_FAILURE(); }).ok());
}

}  // namespace
}  // namespace compassdb
