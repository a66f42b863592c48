// SPDX-License-Identifier: Apache-2.0
#include "db/space/hole_pace.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// Bytes that passes, one every tenth of a second, may punch in some seconds, and the most that one of them may.
struct Passes {
  uint64_t total = 0, most = 0, passes = 0;
};
Passes Simulate(uint64_t rate, uint64_t seconds) {
  HolePace pace;
  Passes run;
  for (uint64_t now = 1000 * kSecond; now < (1000 + seconds) * kSecond; now += kSecond / 10) {
    const uint64_t due = pace.Due(now, rate);
    if (due == 0) continue;
    pace.Took(due);
    run.total += due;
    run.most = std::max(run.most, due);
    ++run.passes;
  }
  return run;
}

TEST(HolePaceTest, TheRateHolds) {
  for (uint64_t rate : {uint64_t{1} << 20, uint64_t{8} << 20, uint64_t{1} << 30}) {
    const Passes run = Simulate(rate, 20);
    EXPECT_LE(run.total, rate * 20);
    EXPECT_GT(run.total, rate * 19);
    EXPECT_LE(run.most, rate / 4);
  }
}

TEST(HolePaceTest, ALowRateMakesFewPasses) {
  const Passes run = Simulate(16 << 10, 100);
  EXPECT_LE(run.total, (16u << 10) * 100);
  EXPECT_GE(run.passes, 24u);  // of 64 KiB, one in four seconds
  EXPECT_LE(run.passes, 25u);
  EXPECT_EQ(Simulate(1, 1000).passes, 0u);
}

TEST(HolePaceTest, TimeWithoutHolesEarnsAQuarterOfASecond) {
  HolePace pace;
  EXPECT_EQ(pace.Due(kSecond, 40 << 20), 0u);  // nothing was earned yet
  EXPECT_EQ(pace.Due(1000 * kSecond, 40 << 20), 10u << 20);
  pace.Took(30 << 20);  // more than was due: it is waited for
  EXPECT_EQ(pace.Due(1000 * kSecond + kSecond / 2, 40 << 20), 0u);
  EXPECT_GT(pace.Due(1001 * kSecond, 40 << 20), 0u);
  EXPECT_EQ(pace.Due(500 * kSecond, 40 << 20), pace.Due(500 * kSecond, 40 << 20));  // a clock that is set back
}

TEST(HolePaceTest, NoRateNoWait) { EXPECT_EQ(HolePace().Due(0, 0), UINT64_MAX); }

TEST(HolePaceTest, WhenHolesNoLongerWait) {
  HoleLoad load;
  load.live_bytes = 1000 << 20;
  load.percent = 10;
  load.waiting_bytes = 99 << 20;
  EXPECT_FALSE(OverShare(load));
  load.waiting_bytes = 101 << 20;
  EXPECT_TRUE(OverShare(load));
  load.percent = 0;
  EXPECT_FALSE(OverShare(load));
  // Held bytes take their part, but no more than that: holes may always take a quarter.
  load.percent = 10;
  load.waiting_bytes = 51 << 20;
  load.held_bytes = 50 << 20;
  EXPECT_TRUE(OverShare(load));
  load.held_bytes = 48 << 20;
  EXPECT_FALSE(OverShare(load));
  load.waiting_bytes = 24 << 20;
  load.held_bytes = 1000 << 20;
  EXPECT_FALSE(OverShare(load));
  load.waiting_bytes = 26 << 20;
  EXPECT_TRUE(OverShare(load));
  load = {512 << 10, 0, 1 << 20, 10};
  EXPECT_FALSE(OverShare(load));  // less than 1 MiB

  load.waiting_bytes = 1;
  EXPECT_TRUE(ShortOfSpace(load, 255 << 20));
  EXPECT_FALSE(ShortOfSpace(load, 257 << 20));
  load.waiting_bytes = uint64_t{1} << 30;
  EXPECT_TRUE(ShortOfSpace(load, uint64_t{1} << 29));
  EXPECT_FALSE(ShortOfSpace(load, uint64_t{1} << 31));
  load.waiting_bytes = 0;
  EXPECT_FALSE(ShortOfSpace(load, 0));
}

}  // namespace
}  // namespace compassdb
