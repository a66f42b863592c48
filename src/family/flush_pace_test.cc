// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "family/flush_pace.h"

namespace compassdb {
namespace {

constexpr uint64_t kMs = 1000 * 1000;

// Ten memtables of 1,000 bytes, one every 100 ms; the last at 1,000 ms.
FlushPace Steady() {
  FlushPace pace;
  for (uint64_t i = 1; i <= 10; ++i) pace.Sealed(i * 100 * kMs, 1000);
  return pace;
}

TEST(FlushPace, CutsShortAsLateAsItMay) {
  FlushPace pace = Steady();
  pace.MergeBegun(1000 * kMs);
  // 270 ms are left, and 170 until writers stop: there is time to write 90 ms' worth as a run later.
  EXPECT_FALSE(pace.CutShort(1030 * kMs, 0.1, 1.7, 900));
  // 240 ms of 140; the next question comes in 30 ms.
  EXPECT_FALSE(pace.CutShort(1060 * kMs, 0.2, 1.4, 800));
  EXPECT_FALSE(pace.CutShort(1090 * kMs, 0.3, 1.1, 700));
  EXPECT_TRUE(pace.CutShort(1120 * kMs, 0.4, 0.8, 600));
}

TEST(FlushPace, LetsAMergeEndThatEndsInTime) {
  FlushPace pace = Steady();
  pace.MergeBegun(1000 * kMs);
  EXPECT_FALSE(pace.CutShort(1050 * kMs, 0.5, 0.5, 10));   // 50 ms of 50
  EXPECT_FALSE(pace.CutShort(1090 * kMs, 0.9, 0.0, 10));   // 10 ms: not worth it
  EXPECT_TRUE(pace.CutShort(1100 * kMs, 0.5, 0.0, 10));
}

TEST(FlushPace, SpendsOnlyWhatItHas) {
  FlushPace pace = Steady();
  pace.MergeBegun(1000 * kMs);
  EXPECT_FALSE(pace.CutShort(1200 * kMs, 0.5, 0.0, 2050));
  EXPECT_TRUE(pace.CutShort(1200 * kMs, 0.5, 0.0, 1750));  // 500 and ten eighths of 1,000
  EXPECT_FALSE(pace.CutShort(1200 * kMs, 0.5, 0.0, 1));
  for (uint64_t i = 1; i <= 100; ++i) pace.Sealed((1200 + i * 100) * kMs, 1000);
  EXPECT_FALSE(pace.CutShort(12000 * kMs, 0.5, 0.0, 2001));
  EXPECT_TRUE(pace.CutShort(12000 * kMs, 0.5, 0.0, 2000));
}

// If writers are stopped all the time, this does not change that.
TEST(FlushPace, EarnsNothingWhileWritersAreStopped) {
  FlushPace pace = Steady();
  pace.MergeBegun(1000 * kMs);
  EXPECT_TRUE(pace.CutShort(1200 * kMs, 0.5, 0.0, 1750));
  for (uint64_t i = 1; i <= 100; ++i) {
    if (i % 4 == 1) pace.Stopped();
    pace.Sealed((1200 + i * 100) * kMs, 1000);
  }
  EXPECT_FALSE(pace.CutShort(12000 * kMs, 0.5, 0.0, 1));
}

TEST(FlushPace, PairsMemTablesWhereThereIsTime) {
  FlushPace pace = Steady();
  EXPECT_FALSE(pace.AwaitSecond());  // how long a merge takes is not known
  pace.MergeBegun(1000 * kMs);
  pace.MergeEnded(1029 * kMs, 1);
  EXPECT_TRUE(pace.AwaitSecond());  // two take 58 of the 100 ms in which writers fill one
  pace.MergeBegun(1100 * kMs);
  pace.MergeEnded(1162 * kMs, 2);
  EXPECT_FALSE(pace.AwaitSecond());
  // Writers are stopped now and then, then half of the time.
  pace.Stopped();
  pace.Sealed(1200 * kMs, 1000);
  EXPECT_FALSE(pace.AwaitSecond());
  pace.Sealed(1300 * kMs, 1000);
  pace.Stopped();
  pace.Sealed(1400 * kMs, 1000);
  EXPECT_TRUE(pace.AwaitSecond());
  for (uint64_t i = 5; i <= 7; ++i) pace.Sealed((1000 + i * 100) * kMs, 1000);
  EXPECT_FALSE(pace.AwaitSecond());
}

TEST(FlushPace, KnowsNothingAtFirst) {
  FlushPace pace;
  EXPECT_FALSE(pace.AwaitSecond());
  pace.MergeBegun(100 * kMs);
  EXPECT_FALSE(pace.CutShort(200 * kMs, 0.5, 0.0, 1));
  pace.Sealed(200 * kMs, 1000);
  EXPECT_FALSE(pace.CutShort(300 * kMs, 0.5, 0.0, 1));  // how fast writers are
  pace.Sealed(300 * kMs, 1000);
  EXPECT_FALSE(pace.CutShort(400 * kMs, 0.0, 0.0, 1));
  EXPECT_TRUE(pace.CutShort(400 * kMs, 0.5, 0.0, 1));
}

}  // namespace
}  // namespace compassdb
