// SPDX-License-Identifier: Apache-2.0
// The background jobs of one database, on thread pools that it shares with the
// other databases of its environment.
//
// Thread safety: every function may be called by any thread; Shutdown, WaitForIdle
// and the destructor not from a job.
// Lock order: mu_, then the pools' mutex.
// Invariant: after Shutdown no job of this scheduler runs or will run.
#pragma once

#include <functional>

#include "env/thread_pools.h"

namespace compassdb {

class Scheduler {
 public:
  explicit Scheduler(ThreadPools* pools = DefaultThreadPools()) : pools_(pools) {}
  ~Scheduler() { Shutdown(); }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Flushes at kHigh, compactions at kLow, those into the last level at kBottom, rehashes at kLong;
  // collections that a flush waits for, and jobs that free space, at kSpace.
  // False (and `job` is dropped) after Shutdown. `unscheduled` is called instead
  // of `job` if Unschedule or Shutdown takes it out of the queue. A kBottom job
  // runs at kLow if the bottom pool has no threads.
  bool Schedule(std::function<void()> job, JobPriority priority,
                std::function<void()> unscheduled = nullptr);
  // Takes out this database's queued jobs; returns how many.
  int Unschedule(JobPriority priority) { return pools_->Unschedule(this, priority); }
  void WaitForIdle() { pools_->WaitForIdle(this); }
  size_t Pending() const { return pools_->Pending(this); }
  // Unschedules queued jobs and waits for running ones.
  void Shutdown();

  // For a caller that waits for jobs while the system has no thread for them: see ThreadPools.
  bool Starved() const { return pools_->Starved(); }
  bool RunStarved() { return pools_->RunStarved(this); }

  void EnsureThreads(JobPriority priority, int at_least) {
    pools_->IncreaseThreads(priority, at_least);
  }
  ThreadPools* pools() const { return pools_; }

 private:
  ThreadPools* const pools_;
  Mutex mu_;
  bool shut_down_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
