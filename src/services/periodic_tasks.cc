// SPDX-License-Identifier: Apache-2.0
#include "services/periodic_tasks.h"

#include <algorithm>
#include <utility>

#include "util/process.h"
#include "util/start_thread.h"

namespace compassdb {

// Never destroyed: a program may end with a database open.
PeriodicTasks* PeriodicTasks::Shared() {
  static auto* const shared = RenewedInChildren(new PeriodicTasks());
  return shared;
}

uint64_t PeriodicTasks::Add(std::chrono::microseconds period, std::function<void()> task) {
  MutexLock lock(&mu_);
  const uint64_t id = ++last_id_;
  tasks_[id] = {period, std::move(task), std::chrono::steady_clock::now() + period};
  changed_.SignalAll();
  Start();
  return id;
}

void PeriodicTasks::Start() {
  if (thread_.joinable() || tasks_.empty()) return;
  missing_ = !StartThread(&thread_, "timer", [this, epoch = epoch_] { Loop(epoch); });
}

void PeriodicTasks::StartIfMissing() {
  if (!missing_.load(std::memory_order_relaxed)) return;
  MutexLock lock(&mu_);
  Start();
}

void PeriodicTasks::Remove(uint64_t id) {
  std::thread ended;
  {
    MutexLock lock(&mu_);
    tasks_.erase(id);
    while (id != 0 && running_ == id) changed_.Wait();
    if (tasks_.empty() && running_ == 0) {
      ++epoch_;
      ended = std::move(thread_);
      changed_.SignalAll();
    }
  }
  if (ended.joinable()) ended.join();
}

void PeriodicTasks::Loop(uint64_t epoch) {
  mu_.Lock();
  while (epoch == epoch_) {
    if (tasks_.empty()) {
      changed_.Wait();
      continue;
    }
    const auto next = std::min_element(tasks_.begin(), tasks_.end(), [](const auto& a, const auto& b) {
      return a.second.due < b.second.due;
    });
    const Time now = std::chrono::steady_clock::now();
    if (next->second.due > now) {
      changed_.WaitFor(std::chrono::duration_cast<std::chrono::microseconds>(next->second.due - now) +
                       std::chrono::microseconds(1));
      continue;
    }
    const uint64_t id = running_ = next->first;
    const std::function<void()> run = next->second.run;
    mu_.Unlock();
    run();
    mu_.Lock();
    running_ = 0;
    const auto done = tasks_.find(id);
    if (done != tasks_.end()) {
      done->second.due = std::chrono::steady_clock::now() + done->second.period;
    }
    changed_.SignalAll();
  }
  mu_.Unlock();
}

}  // namespace compassdb
