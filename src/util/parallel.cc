// SPDX-License-Identifier: Apache-2.0
#include "util/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "util/mutex.h"

namespace compassdb {

Status RunInParallel(const std::vector<std::function<Status()>>& tasks, int threads,
                     const std::function<void()>& start) {
  std::atomic<size_t> next{0};
  Mutex mu;
  Status first;
  const auto work = [&] {
    if (start) start();
    for (size_t i = next++; i < tasks.size(); i = next++) {
      Status s = tasks[i]();
      if (s.ok()) continue;
      next = tasks.size();
      MutexLock lock(&mu);
      if (first.ok()) first = s;
    }
  };
  std::vector<std::thread> running;
  const size_t wanted = std::min(tasks.size(), static_cast<size_t>(std::max(1, threads)));
  try {
    while (running.size() < wanted) running.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those there are do it.
  }
  if (running.empty()) work();
  for (std::thread& thread : running) thread.join();
  return first;
}

}  // namespace compassdb
