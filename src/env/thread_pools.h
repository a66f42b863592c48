// SPDX-License-Identifier: Apache-2.0
// Background threads, one pool per priority.
//
// Each pool has one thread by default, the bottom one none and kSpace two. That and kLong have no name in the
// public API.
// A pool starts threads as jobs arrive, up to its limit, and ends them when the
// limit is lowered. Jobs of a pool start in the order in which they were
// scheduled. A job may schedule others; it must not wait for one of its own pool.
//
// A pool is starved while it has jobs and should have threads, but the system refused the first one. Idle threads of
// other pools then run its jobs, and so does RunStarved on the thread of its caller. Each new job, each job that ends
// and each RunStarved tries again to start threads. A caller that waits for a job has to call RunStarved while Starved.
//
// Thread safety: every function may be called by any thread, WaitForIdle and the
// destructor not from a job.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "rocksdb/thread_status.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

// In the order of rocksdb::Env::Priority, and two more, which run next to those of kLow: long jobs, and jobs that free
// space.
enum class JobPriority { kBottom = 0, kLow = 1, kHigh = 2, kUser = 3, kLong = 4, kSpace = 5 };
inline constexpr size_t kNumJobPriorities = 6;

class ThreadPools {
 public:
  ThreadPools();
  // Unschedules queued jobs and waits for running ones.
  ~ThreadPools();
  ThreadPools(const ThreadPools&) = delete;
  ThreadPools& operator=(const ThreadPools&) = delete;

  // `tag` names the owner of the job. Exactly one of `job` and `unscheduled` is called.
  void Schedule(std::function<void()> job, JobPriority priority, const void* tag = nullptr,
                std::function<void()> unscheduled = nullptr);
  // Removes the owner's queued jobs, calls their `unscheduled`, returns their number.
  // Running jobs continue.
  int Unschedule(const void* tag, JobPriority priority);
  // Until the owner has neither a queued nor a running job of any priority.
  void WaitForIdle(const void* tag);
  // Until no job at all is queued or running.
  void WaitForAll();

  // Some pool is starved.
  bool Starved() const { return starved_.load(std::memory_order_relaxed); }
  // Tries again to start threads. Runs the most urgent of the owner's jobs that are queued in pools still starved.
  // False: there was none.
  bool RunStarved(const void* tag);

  // At least 0: a pool without threads only queues.
  void SetThreads(JobPriority priority, int threads);
  int Threads(JobPriority priority) const;
  // As SetThreads, but never fewer than there are. Starts the pool's first thread at once.
  void IncreaseThreads(JobPriority priority, int at_least);

  size_t QueueLength(JobPriority priority) const;
  size_t Running(JobPriority priority) const;
  // Queued and running jobs of an owner.
  size_t Pending(const void* tag) const;

  // A child of fork() begins without threads and jobs. Limits stay.
  static ForkCalls StartOver();

 private:
  struct Job {
    std::function<void()> run;
    std::function<void()> unscheduled;
    const void* tag;
  };
  struct Pool {
    int limit = 1;
    int alive = 0;                   // threads that have not decided to end
    int idle = 0;                    // of those, waiting for a job
    std::deque<Job> queue;
    std::list<const void*> running;  // tags
    std::unique_ptr<CondVar> wake;
  };

  void StartOverInChild() NO_THREAD_SAFETY_ANALYSIS;
  rocksdb::ThreadStatus::ThreadType TypeOf(const Pool* pool) const EXCLUDES(mu_);
  void Work(Pool* pool);
  bool StartOne(Pool* pool) REQUIRES(mu_);
  void StartThreads(Pool* pool) REQUIRES(mu_);
  // Tries to start threads for all starved pools.
  void Feed() REQUIRES(mu_);
  void UpdateStarved() REQUIRES(mu_);
  static bool IsStarved(const Pool& pool) { return pool.alive == 0 && pool.limit > 0 && !pool.queue.empty(); }
  // The next job of a thread of `pool`: its own, or that of a starved pool. Null: none.
  Pool* NextFor(Pool* pool) REQUIRES(mu_);
  // As RunStarved, for all owners if `any_tag`.
  bool RunStarvedJob(const void* tag, bool any_tag) REQUIRES(mu_);
  // Releases mu_ while the job runs.
  void RunJob(Pool* pool, std::deque<Job>::iterator at) REQUIRES(mu_);
  bool IsIdle(const void* tag, bool any_tag) const REQUIRES(mu_);
  void Wait(const void* tag, bool any_tag);

  mutable Mutex mu_;
  CondVar changed_;  // a job ended or was unscheduled
  std::array<Pool, kNumJobPriorities> pools_ GUARDED_BY(mu_);
  std::list<std::thread> threads_ GUARDED_BY(mu_);   // running or about to end
  std::list<std::thread> ended_ GUARDED_BY(mu_);     // to be joined
  bool closing_ GUARDED_BY(mu_) = false;
  std::atomic<bool> starved_{false};
};

// Shared by the databases of a process; never destroyed.
ThreadPools* DefaultThreadPools();

}  // namespace compassdb
