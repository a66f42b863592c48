// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "family/stall_controller.h"
#include "util/random.h"

namespace compassdb {
namespace {

TEST(Stall, ThresholdsAndReasons) {
  StallTriggers t;
  t.max_write_buffer_number = 4;
  t.level0_slowdown_writes_trigger = 20;
  t.level0_stop_writes_trigger = 36;
  t.soft_pending_compaction_bytes = 1000;
  t.hard_pending_compaction_bytes = 2000;
  struct {
    StallInputs in;
    StallState state;
    StallReason reason;
    bool near_stop;
  } cases[] = {
      {{0, 0, 0}, StallState::kNormal, StallReason::kNone, false},
      {{2, 19, 999}, StallState::kNormal, StallReason::kNone, false},
      {{3, 0, 0}, StallState::kDelayed, StallReason::kMemtableLimit, false},
      {{4, 0, 0}, StallState::kStopped, StallReason::kMemtableLimit, true},
      {{0, 20, 0}, StallState::kDelayed, StallReason::kL0Files, false},
      {{0, 34, 0}, StallState::kDelayed, StallReason::kL0Files, true},
      {{0, 36, 0}, StallState::kStopped, StallReason::kL0Files, true},
      {{0, 0, 1000}, StallState::kDelayed, StallReason::kPendingCompactionBytes, false},
      {{0, 0, 1900}, StallState::kDelayed, StallReason::kPendingCompactionBytes, true},
      {{0, 0, 2000}, StallState::kStopped, StallReason::kPendingCompactionBytes, true},
  };
  for (const auto& c : cases) {
    const StallDecision d = ChooseStall(t, c.in);
    EXPECT_EQ(d.state, c.state) << DescribeStall(d, t, c.in, 1);
    EXPECT_EQ(d.reason, c.reason) << DescribeStall(d, t, c.in, 1);
    EXPECT_EQ(d.near_stop, c.near_stop) << DescribeStall(d, t, c.in, 1);
  }
  t.disable_auto_compactions = true;
  EXPECT_EQ(ChooseStall(t, {0, 100, 1 << 20}).state, StallState::kNormal);
  EXPECT_EQ(ChooseStall(t, {4, 0, 0}).state, StallState::kStopped);
  t.disable_auto_compactions = false;
  t.max_write_buffer_number = 3;  // with few memtables only the stop remains
  EXPECT_EQ(ChooseStall(t, {2, 0, 0}).state, StallState::kNormal);
  t.soft_pending_compaction_bytes = t.hard_pending_compaction_bytes = 0;
  EXPECT_EQ(ChooseStall(t, {0, 0, UINT64_MAX}).state, StallState::kNormal);
}

TEST(Stall, SlowsBeforeItStops) {
  const StallTriggers t;
  for (int runs = 0; runs < 40; ++runs) {
    const StallState now = ChooseStall(t, {0, runs, 0}).state;
    const StallState next = ChooseStall(t, {0, runs + 1, 0}).state;
    EXPECT_LE(static_cast<int>(now), static_cast<int>(next));
    EXPECT_LE(static_cast<int>(next) - static_cast<int>(now), 1) << "from normal to stopped";
  }
}

TEST(Stall, RateFallsWhileTheBacklogGrowsAndRecovers) {
  StallController controller(16 << 20);
  const StallDecision delayed{StallState::kDelayed, StallReason::kL0Files, false};
  const StallDecision near{StallState::kDelayed, StallReason::kL0Files, true};
  const StallDecision stopped{StallState::kStopped, StallReason::kL0Files, true};
  EXPECT_EQ(controller.Update(delayed, 20), 16u << 20);
  const uint64_t slower = controller.Update(delayed, 21);
  EXPECT_NEAR(static_cast<double>(slower), 0.8 * (16 << 20), 2);
  EXPECT_EQ(controller.Update(delayed, 21), slower) << "changed without a change";
  EXPECT_NEAR(static_cast<double>(controller.Update(near, 34)), 0.6 * slower, 2);
  const uint64_t low = controller.rate();
  controller.Update(stopped, 36);
  EXPECT_LT(controller.Update(near, 35), low);
  uint64_t backlog = 35;
  const uint64_t lowest = controller.rate();
  while (backlog > 20) controller.Update(delayed, --backlog);
  EXPECT_GT(controller.rate(), lowest);
  const uint64_t before = controller.rate();
  EXPECT_GE(controller.Update(StallDecision(), 0), before);
  for (uint64_t i = 0; i < 100; ++i) controller.Update(delayed, i);
  EXPECT_EQ(controller.rate(), StallController::kMinRate);
}

TEST(Stall, BucketHoldsTheRateOverTime) {
  Random random(3);
  for (uint64_t rate : {100u << 10, 16u << 20}) {
    DelayBucket bucket;
    uint64_t now = 1000000, bytes = 0;
    const uint64_t start = now;
    for (int i = 0; i < 20000; ++i) {
      const uint64_t n = random.Between(1, 2000);
      now += bucket.PauseMicros(n, rate, now);
      bytes += n;
    }
    const double measured = static_cast<double>(bytes) * 1e6 / static_cast<double>(now - start);
    EXPECT_GT(measured, 0.9 * rate);
    EXPECT_LT(measured, 1.1 * rate);
  }
}

TEST(Stall, AWriterThatDoesNotWaitKeepsTheRateToo) {
  constexpr uint64_t kRate = 1 << 20;
  for (const uint64_t n : {10, 1000, 3000}) {
    DelayBucket bucket;
    uint64_t passed = 0;
    for (uint64_t now = 1000000; now < 11000000; now += 100) {
      if (bucket.Passes(n, kRate, now)) passed += n;
    }
    EXPECT_LT(passed, 11 * kRate) << n;
    EXPECT_GT(passed, n == 10 ? 0 : 9 * kRate) << n;
  }
}

TEST(Stall, IdleTimeBuysOnlyASmallBurst) {
  DelayBucket bucket;
  uint64_t now = 1000000;
  now += bucket.PauseMicros(1, 1 << 20, now);
  now += 3600ull * 1000000;
  uint64_t burst = 0;
  while (bucket.PauseMicros(1000, 1 << 20, now) == 0) burst += 1000;
  EXPECT_LT(burst, 200u << 10);
}
}  // namespace
}  // namespace compassdb
