// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace compassdb::perfect_hash {

ParallelFor RunOnThreads(unsigned threads) {
  return [threads](size_t tasks, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) task(i);
    };
    const size_t wanted = std::min<size_t>(threads, tasks);
    std::vector<std::thread> others;
    others.reserve(wanted);
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (const std::system_error&) {
    }
    work();
    for (std::thread& thread : others) thread.join();
  };
}

}  // namespace compassdb::perfect_hash
