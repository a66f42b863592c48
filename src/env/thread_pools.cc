// SPDX-License-Identifier: Apache-2.0
#include "env/thread_pools.h"

#include <algorithm>
#include <iterator>

#include "api/thread_tracking.h"
#include "util/no_memory.h"
#include "util/start_thread.h"

namespace compassdb {
namespace {

// Of threads, in the order of JobPriority.
constexpr const char* kNames[kNumJobPriorities] = {"bot", "low", "high", "user", "long", "free"};

// Starved pools, the most urgent first. A flush waits for jobs that free space; nothing waits for a rehash.
constexpr JobPriority kUrgency[] = {JobPriority::kHigh, JobPriority::kSpace,  JobPriority::kUser,
                                    JobPriority::kLow,  JobPriority::kBottom, JobPriority::kLong};

}  // namespace

ThreadPools::ThreadPools() : changed_(&mu_) {
  MutexLock l(&mu_);
  for (Pool& pool : pools_) pool.wake = std::make_unique<CondVar>(&mu_);
  pools_[static_cast<size_t>(JobPriority::kBottom)].limit = 0;
  pools_[static_cast<size_t>(JobPriority::kSpace)].limit = 2;  // a collection, and jobs that free disk space
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
      if (IsStarved(*pool)) {  // wakes an idle thread of another pool
        for (Pool& other : pools_) other.wake->Signal();
      }
      return;
    }
  }
  if (unscheduled) unscheduled();
}

void ThreadPools::StartThreads(Pool* pool) {
  while (!closing_ && pool->alive < pool->limit &&
         static_cast<size_t>(pool->idle) < pool->queue.size() && StartOne(pool)) {
  }
  UpdateStarved();
}

bool ThreadPools::StartOne(Pool* pool) {
  std::list<std::thread> one;
  const char* const name = kNames[pool - pools_.data()];
  const bool started = UnlessOutOfMemory(false, [&] {
    one.emplace_back();
    return StartThread(&one.front(), NumberedName(name, static_cast<size_t>(pool->alive)),
                       [this, pool] { Work(pool); });
  });
  if (!started) return false;
  threads_.splice(threads_.end(), one);
  ++pool->alive;
  ++pool->idle;  // until it has taken a job
  return true;
}

void ThreadPools::UpdateStarved() {
  starved_.store(std::any_of(pools_.begin(), pools_.end(), IsStarved), std::memory_order_relaxed);
}

void ThreadPools::Feed() {
  for (Pool& pool : pools_) {
    if (IsStarved(pool)) StartThreads(&pool);
  }
}

ThreadPools::Pool* ThreadPools::NextFor(Pool* pool) {
  if (Starved()) Feed();
  Pool* const flushes = &pools_[static_cast<size_t>(JobPriority::kHigh)];
  if (IsStarved(*flushes)) return flushes;
  if (!pool->queue.empty()) return pool;
  if (!Starved()) return nullptr;
  for (const JobPriority priority : kUrgency) {
    Pool* const other = &pools_[static_cast<size_t>(priority)];
    if (IsStarved(*other)) return other;
  }
  return nullptr;
}

void ThreadPools::RunJob(Pool* pool, std::deque<Job>::iterator at) {
  Job job = std::move(*at);
  pool->queue.erase(at);
  UpdateStarved();
  const auto mine = pool->running.insert(pool->running.end(), job.tag);
  mu_.Unlock();
  job.run();
  // What the job holds is destroyed before its owner may see that it is idle.
  job = Job();
  mu_.Lock();
  pool->running.erase(mine);
  changed_.SignalAll();
}

bool ThreadPools::RunStarvedJob(const void* tag, bool any_tag) {
  if (closing_) return false;
  Feed();
  for (const JobPriority priority : kUrgency) {
    Pool* const pool = &pools_[static_cast<size_t>(priority)];
    if (!IsStarved(*pool)) continue;
    const auto job = std::find_if(pool->queue.begin(), pool->queue.end(),
                                  [&](const Job& queued) { return any_tag || queued.tag == tag; });
    if (job == pool->queue.end()) continue;
    RunJob(pool, job);
    return true;
  }
  return false;
}

bool ThreadPools::RunStarved(const void* tag) {
  MutexLock l(&mu_);
  return RunStarvedJob(tag, false);
}

rocksdb::ThreadStatus::ThreadType ThreadPools::TypeOf(const Pool* pool) const {
  MutexLock l(&mu_);
  switch (static_cast<JobPriority>(pool - pools_.data())) {
    case JobPriority::kBottom: return rocksdb::ThreadStatus::BOTTOM_PRIORITY;
    case JobPriority::kLow:
    case JobPriority::kLong:
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
    Pool* from = nullptr;
    while (!closing_ && pool->alive <= pool->limit && (from = NextFor(pool)) == nullptr) pool->wake->Wait();
    if (closing_ || pool->alive > pool->limit) break;
    --pool->idle;
    RunJob(from, from->queue.begin());
    ++pool->idle;
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
    UpdateStarved();
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
  while (!IsIdle(tag, any_tag)) {
    if (Starved() && RunStarvedJob(tag, any_tag)) continue;
    changed_.Wait();
  }
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
  if (!closing_ && pool->alive == 0 && pool->limit > 0) StartOne(pool);
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
