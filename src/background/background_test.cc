// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "background/flush_pace.h"
#include "background/scheduler.h"
#include "background/stall_controller.h"
#include "util/random.h"
#include "util/start_thread.h"

namespace compassdb {
namespace {

// Holds jobs until it is opened.
class Gate {
 public:
  void Open() {
    MutexLock l(&mu_);
    open_ = true;
    cv_.SignalAll();
  }
  void Pass() {
    MutexLock l(&mu_);
    ++arrived_;
    cv_.SignalAll();
    while (!open_) cv_.Wait();
  }
  void AwaitArrivals(int n) {
    MutexLock l(&mu_);
    while (arrived_ < n) cv_.Wait();
  }

 private:
  Mutex mu_;
  CondVar cv_{&mu_};
  bool open_ = false;
  int arrived_ = 0;
};

TEST(Scheduler, RunsEveryJobOnce) {
  ThreadPools pools;
  Scheduler scheduler(&pools);
  pools.SetThreads(JobPriority::kLow, 4);
  std::atomic<int> runs{0};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(scheduler.Schedule([&] { ++runs; },
                                   i % 2 ? JobPriority::kLow : JobPriority::kHigh));
  }
  scheduler.WaitForIdle();
  EXPECT_EQ(runs, 1000);
  EXPECT_EQ(scheduler.Pending(), 0u);
}

TEST(Scheduler, OneThreadKeepsTheOrder) {
  ThreadPools pools;
  Scheduler scheduler(&pools);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    scheduler.Schedule([&order, i] { order.push_back(i); }, JobPriority::kLow);
  }
  scheduler.WaitForIdle();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Scheduler, FlushesDoNotWaitForCompactions) {
  ThreadPools pools;
  Scheduler scheduler(&pools);
  Gate gate;
  std::atomic<bool> flushed{false};
  scheduler.Schedule([&] { gate.Pass(); }, JobPriority::kLow);
  gate.AwaitArrivals(1);
  Gate flush_done;
  scheduler.Schedule([&] { flushed = true; flush_done.Pass(); }, JobPriority::kHigh);
  flush_done.AwaitArrivals(1);  // while the compaction is still held
  EXPECT_TRUE(flushed);
  flush_done.Open();
  gate.Open();
  scheduler.WaitForIdle();  // the gates are gone before the scheduler is
}

TEST(Scheduler, UnscheduleTakesOnlyTheOwnersQueuedJobs) {
  ThreadPools pools;
  Scheduler mine(&pools), other(&pools);
  Gate gate;
  std::atomic<int> ran{0}, dropped{0}, others{0};
  mine.Schedule([&] { gate.Pass(); ++ran; }, JobPriority::kLow);
  gate.AwaitArrivals(1);
  for (int i = 0; i < 10; ++i) {
    mine.Schedule([&] { ++ran; }, JobPriority::kLow, [&] { ++dropped; });
    other.Schedule([&] { ++others; }, JobPriority::kLow);
  }
  EXPECT_EQ(pools.QueueLength(JobPriority::kLow), 20u);
  EXPECT_EQ(pools.Running(JobPriority::kLow), 1u);
  EXPECT_EQ(mine.Unschedule(JobPriority::kLow), 10);
  EXPECT_EQ(dropped, 10);
  gate.Open();
  mine.WaitForIdle();
  other.WaitForIdle();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(others, 10);
}

TEST(Scheduler, ShutdownWaitsForWhatRunsAndRefusesMore) {
  ThreadPools pools;
  auto scheduler = std::make_unique<Scheduler>(&pools);
  Gate gate;
  std::atomic<bool> finished{false};
  std::atomic<int> dropped{0};
  scheduler->Schedule([&] { gate.Pass(); finished = true; }, JobPriority::kHigh);
  gate.AwaitArrivals(1);
  scheduler->Schedule([] { FAIL() << "ran after shutdown"; }, JobPriority::kHigh,
                      [&] { ++dropped; });
  std::thread opener([&] {
    while (dropped == 0) std::this_thread::yield();  // else the job may run before the shutdown
    gate.Open();
  });
  scheduler->Shutdown();
  EXPECT_TRUE(finished);
  EXPECT_EQ(dropped, 1);
  EXPECT_FALSE(scheduler->Schedule([] {}, JobPriority::kHigh));
  opener.join();
}

TEST(Scheduler, JobsMayScheduleJobs) {
  ThreadPools pools;
  Scheduler scheduler(&pools);
  std::atomic<int> depth{0};
  std::function<void()> next = [&] {
    if (++depth < 50) scheduler.Schedule(next, JobPriority::kLow);
  };
  scheduler.Schedule(next, JobPriority::kLow);
  scheduler.WaitForIdle();
  EXPECT_EQ(depth, 50);
}

// The system gives that many more threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int64_t more) { LimitThreadsForTest(more); }
  ~ThreadLimit() { LimitThreadsForTest(-1); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

TEST(NoThreads, TheCallerThatWaitsDoesTheWork) {
  ThreadPools pools;
  const ThreadLimit limit(0);
  Scheduler scheduler(&pools);
  scheduler.EnsureThreads(JobPriority::kHigh, 2);
  std::thread::id ran[2];
  scheduler.Schedule([&] { ran[0] = std::this_thread::get_id(); }, JobPriority::kLow);
  scheduler.Schedule([&] { ran[1] = std::this_thread::get_id(); }, JobPriority::kHigh);
  EXPECT_TRUE(scheduler.Starved());
  EXPECT_TRUE(scheduler.RunStarved());
  EXPECT_EQ(ran[1], std::this_thread::get_id());  // the more urgent one first
  EXPECT_EQ(ran[0], std::thread::id());
  scheduler.WaitForIdle();
  EXPECT_EQ(ran[0], std::this_thread::get_id());
  EXPECT_FALSE(scheduler.Starved());
  EXPECT_FALSE(scheduler.RunStarved());
}

TEST(NoThreads, ACallerDoesNotRunTheJobsOfOthers) {
  ThreadPools pools;
  const ThreadLimit limit(0);
  Scheduler mine(&pools), other(&pools);
  int ran = 0;
  other.Schedule([&] { ADD_FAILURE() << "of the other"; }, JobPriority::kHigh);
  mine.Schedule([&] { ++ran; }, JobPriority::kHigh);
  EXPECT_TRUE(mine.RunStarved());
  EXPECT_FALSE(mine.RunStarved());
  EXPECT_EQ(ran, 1);
  other.Shutdown();  // does not hang, and drops the job
  EXPECT_EQ(other.Pending(), 0u);
}

TEST(NoThreads, AThreadOfAnotherPoolHelps) {
  ThreadPools pools;
  Scheduler scheduler(&pools);
  Gate gate;
  scheduler.Schedule([&] { gate.Pass(); }, JobPriority::kLow);
  gate.AwaitArrivals(1);
  const ThreadLimit limit(0);
  std::atomic<int> runs{0};
  std::thread::id ran;
  for (const JobPriority priority : {JobPriority::kHigh, JobPriority::kSpace, JobPriority::kBeside}) {
    scheduler.Schedule([&] { ran = std::this_thread::get_id(); ++runs; gate.Pass(); }, priority);
  }
  EXPECT_TRUE(scheduler.Starved());
  gate.Open();
  gate.AwaitArrivals(4);  // nobody waits for the scheduler
  scheduler.WaitForIdle();
  EXPECT_EQ(runs, 3);
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(NoThreads, WorkGoesOnWhenThereAreSomeAgain) {
  Gate gate;
  ThreadPools pools;
  Scheduler scheduler(&pools);
  {
    const ThreadLimit limit(0);
    scheduler.Schedule([&] { gate.Pass(); }, JobPriority::kHigh);
    EXPECT_TRUE(scheduler.Starved());
  }
  EXPECT_FALSE(scheduler.RunStarved());  // a thread is started for it instead
  gate.Open();
  gate.AwaitArrivals(1);
  EXPECT_FALSE(scheduler.Starved());
}

TEST(NoThreads, EveryJobRunsWhicheverThreadIsTheLast) {
  for (int64_t more = 0; more < 8; ++more) {
    ThreadPools pools;
    const ThreadLimit limit(more);
    Scheduler scheduler(&pools);
    pools.SetThreads(JobPriority::kLow, 3);
    std::atomic<int> runs{0};
    for (int i = 0; i < 60; ++i) {
      scheduler.Schedule([&] { ++runs; }, static_cast<JobPriority>(i % kNumJobPriorities));
    }
    scheduler.WaitForIdle();
    EXPECT_EQ(runs, 60) << more << " threads";
  }
}

TEST(Scheduler, BottomJobsRunWithoutABottomPool) {
  ThreadPools pools;
  ASSERT_EQ(pools.Threads(JobPriority::kBottom), 0);
  Scheduler scheduler(&pools);
  std::atomic<bool> ran{false};
  scheduler.Schedule([&] { ran = true; }, JobPriority::kBottom);
  scheduler.WaitForIdle();
  EXPECT_TRUE(ran);
}

TEST(ThreadPools, ThreadsFollowTheLimit) {
  ThreadPools pools;
  pools.SetThreads(JobPriority::kLow, 3);
  Gate gate;
  for (int i = 0; i < 5; ++i) pools.Schedule([&] { gate.Pass(); }, JobPriority::kLow);
  gate.AwaitArrivals(3);
  EXPECT_EQ(pools.Running(JobPriority::kLow), 3u);
  EXPECT_EQ(pools.QueueLength(JobPriority::kLow), 2u);
  pools.IncreaseThreads(JobPriority::kLow, 5);
  gate.AwaitArrivals(5);
  pools.IncreaseThreads(JobPriority::kLow, 2);
  EXPECT_EQ(pools.Threads(JobPriority::kLow), 5);
  gate.Open();
  pools.WaitForAll();
  pools.SetThreads(JobPriority::kLow, 1);
  std::atomic<int> at_once{0}, most{0};
  for (int i = 0; i < 50; ++i) {
    pools.Schedule([&] {
      const int now = ++at_once;
      if (now > most) most = now;
      --at_once;
    }, JobPriority::kLow);
  }
  pools.WaitForAll();
  EXPECT_EQ(most, 1);
}

TEST(ThreadPools, DestructorUnschedulesTheQueue) {
  std::atomic<int> ran{0}, dropped{0};
  {
    ThreadPools pools;
    pools.SetThreads(JobPriority::kUser, 0);
    for (int i = 0; i < 7; ++i) {
      pools.Schedule([&] { ++ran; }, JobPriority::kUser, nullptr, [&] { ++dropped; });
    }
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(dropped, 7);
}

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

TEST(Stall, WhoDoesNotWaitKeepsTheRateToo) {
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
  EXPECT_FALSE(pace.CutShort(1090 * kMs, 0.9, 0.0, 10));   // 10 ms: who cares
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

// Where writers are stopped all the time, they are not saved from it.
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
