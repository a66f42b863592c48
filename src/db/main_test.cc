// SPDX-License-Identifier: Apache-2.0
// Runs all tests, and leaves no thread of the pools behind. LeakSanitizer skips a thread whose id
// another one had that has ended, as happens when the ids of a machine wrap around. It would report
// the data of that thread as lost.
#include <gtest/gtest.h>

#include "env/thread_pools.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  delete compassdb::DefaultThreadPools();
  return result;
}
