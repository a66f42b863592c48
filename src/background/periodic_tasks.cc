// SPDX-License-Identifier: Apache-2.0
#include "background/periodic_tasks.h"

#include <algorithm>
#include <utility>

namespace compassdb {

// Never destroyed: a program may end with a database open.
PeriodicTasks* PeriodicTasks::Shared() {
  static auto* const shared = new PeriodicTasks();
  return shared;
}

PeriodicTasks::~PeriodicTasks() {
  std::thread ended;
  {
    MutexLock lock(&mu_);
    ended = std::move(thread_);
  }
  if (ended.joinable()) ended.join();
}

uint64_t PeriodicTasks::Add(std::chrono::microseconds period, std::function<void()> task) {
  std::thread ended;  // the one that found nothing to do
  uint64_t id;
  {
    MutexLock lock(&mu_);
    id = ++last_id_;
    tasks_[id] = {period, std::move(task), std::chrono::steady_clock::now() + period};
    if (has_thread_) {
      changed_.SignalAll();
    } else {
      ended = std::exchange(thread_, std::thread([this] { Loop(); }));
      has_thread_ = true;
    }
  }
  if (ended.joinable()) ended.join();
  return id;
}

void PeriodicTasks::Remove(uint64_t id) {
  MutexLock lock(&mu_);
  tasks_.erase(id);
  changed_.SignalAll();
  while (id != 0 && running_ == id) changed_.Wait();
}

void PeriodicTasks::Loop() {
  mu_.Lock();
  while (!tasks_.empty()) {
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
  has_thread_ = false;
  mu_.Unlock();
}

}  // namespace compassdb
