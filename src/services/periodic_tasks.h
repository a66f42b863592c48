// SPDX-License-Identifier: Apache-2.0
// Functions that are called periodically, by one thread for all databases of the process. The
// thread exists as long as there are tasks.
//
// Thread safety: all methods. Lock order: a task runs without the mutex of this class.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "util/mutex.h"

namespace compassdb {

class PeriodicTasks {
 public:
  static PeriodicTasks* Shared();

  PeriodicTasks() = default;
  ~PeriodicTasks() = default;  // all tasks have been removed
  PeriodicTasks(const PeriodicTasks&) = delete;
  PeriodicTasks& operator=(const PeriodicTasks&) = delete;

  // Calls `task` each time `period` (more than nothing) has passed since its last call ended, from now
  // on. Returns its id, which is never 0.
  uint64_t Add(std::chrono::microseconds period, std::function<void()> task) EXCLUDES(mu_);
  // Tries again if the system had no thread for Add. Costs nothing otherwise.
  void StartIfMissing() EXCLUDES(mu_);
  // Returns once the task does not run and never will. Not from within a task. 0 is no task.
  void Remove(uint64_t id) EXCLUDES(mu_);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Task {
    std::chrono::microseconds period;
    std::function<void()> run;
    Time due;
  };
  void Loop(uint64_t epoch) EXCLUDES(mu_);
  void Start() REQUIRES(mu_);

  Mutex mu_;
  CondVar changed_{&mu_};
  std::map<uint64_t, Task> tasks_ GUARDED_BY(mu_);
  uint64_t last_id_ GUARDED_BY(mu_) = 0;
  uint64_t running_ GUARDED_BY(mu_) = 0;  // the task that runs; 0: none
  std::thread thread_ GUARDED_BY(mu_);  // while there are tasks
  std::atomic<bool> missing_{false};    // there are tasks and the system had no thread
  uint64_t epoch_ GUARDED_BY(mu_) = 0;  // which thread continues
};

}  // namespace compassdb
