// SPDX-License-Identifier: Apache-2.0
#include "util/checked.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

TEST(CheckedTest, ReleaseDoesNotEvaluateInvariants) {
  int asked = 0;
  const auto holds = [&asked] { return ++asked > 0; };
  COMPASSDB_INVARIANT(holds(), "holds");
  EXPECT_EQ(asked, kChecked ? 1 : 0);
}

TEST(CheckedTest, ABrokenInvariantEndsTheProcess) {
  if (!kChecked) GTEST_SKIP() << "Release has no invariants";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(COMPASSDB_INVARIANT(1 > 2, "one is more"), "checked_test.cc:.*invariant broken: one is more \\(1 > 2\\)");
}

}  // namespace
}  // namespace compassdb
