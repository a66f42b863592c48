// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "db/jobs/scheduler.h"
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
  for (const JobPriority priority : {JobPriority::kHigh, JobPriority::kSpace, JobPriority::kLong}) {
    scheduler.Schedule([&] { ran = std::this_thread::get_id(); ++runs; gate.Pass(); }, priority);
  }
  EXPECT_TRUE(scheduler.Starved());
  gate.Open();
  gate.AwaitArrivals(4);  // no test waits for the scheduler
  scheduler.WaitForIdle();
  EXPECT_EQ(runs, 3);
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(NoThreads, WorkContinuesWhenThereAreSomeAgain) {
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

}  // namespace
}  // namespace compassdb
