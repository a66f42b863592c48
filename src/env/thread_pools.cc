// SPDX-License-Identifier: Apache-2.0
#include "env/thread_pools.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "util/thread_tracking.h"

namespace compassdb {

ThreadPools::ThreadPools() : changed_(&mu_) {
  MutexLock l(&mu_);
  for (Pool& pool : pools_) pool.wake = std::make_unique<CondVar>(&mu_);
  pools_[static_cast<size_t>(JobPriority::kBottom)].limit = 0;
  pools_[static_cast<size_t>(JobPriority::kSpace)].limit = 2;  // a collection, and what gives back to the disk
}

ThreadPools::~ThreadPools() {
  std::deque<Job> dropped;
  std::list<std::thread> threads;
  {
    MutexLock l(&mu_);
    closing_ = true;
    for (Pool& pool : pools_) {
      std::move(pool.queue.begin(), pool.queue.end(), std::back_inserter(dropped));
      pool.queue.clear();
      pool.wake->SignalAll();
    }
    // A running job may still schedule: those jobs are unscheduled at once.
    while (!threads_.empty()) changed_.Wait();
    threads.swap(ended_);
  }
  for (std::thread& thread : threads) thread.join();
  for (Job& job : dropped) {
    if (job.unscheduled) job.unscheduled();
  }
}

void ThreadPools::Schedule(std::function<void()> job, JobPriority priority, const void* tag,
                           std::function<void()> unscheduled) {
  {
    MutexLock l(&mu_);
    if (!closing_) {
      Pool* pool = &pools_[static_cast<size_t>(priority)];
      pool->queue.push_back({std::move(job), std::move(unscheduled), tag});
      StartThreads(pool);
      pool->wake->Signal();
      return;
    }
  }
  if (unscheduled) unscheduled();
}

void ThreadPools::StartThreads(Pool* pool) {
  while (!closing_ && pool->alive < pool->limit &&
         static_cast<size_t>(pool->idle) < pool->queue.size()) {
    try {
      threads_.emplace_back([this, pool] { Work(pool); });
    } catch (const std::exception&) {
      return;  // no memory, or no more threads to be had: those there are work the queue off
    }
    ++pool->alive;
    ++pool->idle;  // until it has taken a job
  }
}

rocksdb::ThreadStatus::ThreadType ThreadPools::TypeOf(const Pool* pool) const {
  MutexLock l(&mu_);
  switch (static_cast<JobPriority>(pool - pools_.data())) {
    case JobPriority::kBottom: return rocksdb::ThreadStatus::BOTTOM_PRIORITY;
    case JobPriority::kLow:
    case JobPriority::kBeside:
    case JobPriority::kSpace: return rocksdb::ThreadStatus::LOW_PRIORITY;
    case JobPriority::kHigh: return rocksdb::ThreadStatus::HIGH_PRIORITY;
    case JobPriority::kUser: break;
  }
  return rocksdb::ThreadStatus::USER;
}

void ThreadPools::Work(Pool* pool) {
  std::list<std::thread> finished;
  {
    MutexLock l(&mu_);
    finished.swap(ended_);
  }
  for (std::thread& thread : finished) thread.join();
  const TrackedThread tracked(TypeOf(pool));

  mu_.Lock();
  while (true) {
    while (pool->queue.empty() && !closing_ && pool->alive <= pool->limit) pool->wake->Wait();
    if (closing_ || pool->alive > pool->limit) break;
    --pool->idle;
    Job job = std::move(pool->queue.front());
    pool->queue.pop_front();
    const auto mine = pool->running.insert(pool->running.end(), job.tag);
    mu_.Unlock();
    job.run();
    // What the job holds goes before the owner may be told that it is idle.
    job = Job();
    mu_.Lock();
    pool->running.erase(mine);
    ++pool->idle;
    changed_.SignalAll();
  }
  --pool->idle;
  --pool->alive;
  const auto self = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& t) {
    return t.get_id() == std::this_thread::get_id();
  });
  ended_.splice(ended_.end(), threads_, self);
  changed_.SignalAll();
  mu_.Unlock();
}

int ThreadPools::Unschedule(const void* tag, JobPriority priority) {
  std::deque<Job> dropped;
  {
    MutexLock l(&mu_);
    std::deque<Job>& queue = pools_[static_cast<size_t>(priority)].queue;
    std::deque<Job> kept;
    for (Job& job : queue) (job.tag == tag ? dropped : kept).push_back(std::move(job));
    queue.swap(kept);
    changed_.SignalAll();
  }
  for (Job& job : dropped) {
    if (job.unscheduled) job.unscheduled();
  }
  return static_cast<int>(dropped.size());
}

bool ThreadPools::IsIdle(const void* tag, bool any_tag) const {
  for (const Pool& pool : pools_) {
    for (const void* running : pool.running) {
      if (any_tag || running == tag) return false;
    }
    for (const Job& job : pool.queue) {
      if (any_tag || job.tag == tag) return false;
    }
  }
  return true;
}

void ThreadPools::Wait(const void* tag, bool any_tag) {
  MutexLock l(&mu_);
  while (!IsIdle(tag, any_tag)) changed_.Wait();
}

void ThreadPools::WaitForIdle(const void* tag) { Wait(tag, false); }
void ThreadPools::WaitForAll() { Wait(nullptr, true); }

void ThreadPools::SetThreads(JobPriority priority, int threads) {
  MutexLock l(&mu_);
  Pool* pool = &pools_[static_cast<size_t>(priority)];
  pool->limit = std::max(threads, 0);
  StartThreads(pool);
  pool->wake->SignalAll();
}

void ThreadPools::IncreaseThreads(JobPriority priority, int at_least) {
  MutexLock l(&mu_);
  Pool* pool = &pools_[static_cast<size_t>(priority)];
  pool->limit = std::max(pool->limit, at_least);
  StartThreads(pool);
}

int ThreadPools::Threads(JobPriority priority) const {
  MutexLock l(&mu_);
  return pools_[static_cast<size_t>(priority)].limit;
}

size_t ThreadPools::QueueLength(JobPriority priority) const {
  MutexLock l(&mu_);
  return pools_[static_cast<size_t>(priority)].queue.size();
}

size_t ThreadPools::Running(JobPriority priority) const {
  MutexLock l(&mu_);
  return pools_[static_cast<size_t>(priority)].running.size();
}

size_t ThreadPools::Pending(const void* tag) const {
  MutexLock l(&mu_);
  size_t n = 0;
  for (const Pool& pool : pools_) {
    n += static_cast<size_t>(std::count(pool.running.begin(), pool.running.end(), tag));
    for (const Job& job : pool.queue) n += job.tag == tag;
  }
  return n;
}

ForkCalls ThreadPools::StartOver() {
  ForkCalls calls;
  calls.in_child = [](void* pools) { static_cast<ThreadPools*>(pools)->StartOverInChild(); };
  return calls;
}

void ThreadPools::StartOverInChild() {
  std::array<int, kNumJobPriorities> limits;
  for (size_t i = 0; i < limits.size(); ++i) limits[i] = pools_[i].limit;
  RenewInherited(this);
  for (size_t i = 0; i < limits.size(); ++i) pools_[i].limit = limits[i];
}

ThreadPools* DefaultThreadPools() {
  static auto* pools = [] {
    auto* const made = new ThreadPools;
    new AtForks(made, ThreadPools::StartOver());
    return made;
  }();
  return pools;
}

}  // namespace compassdb
