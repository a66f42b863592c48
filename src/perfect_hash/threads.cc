// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace compassdb::perfect_hash {

ParallelFor RunOnThreads(unsigned threads) {
  return [threads](size_t tasks, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr failure;  // the first one's, thrown to the caller when all threads have ended
    const auto work = [&] {
      try {
        for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) task(i);
      } catch (...) {
        next = tasks;
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    };
    const size_t wanted = std::min<size_t>(threads, tasks);
    std::vector<std::thread> others;
    others.reserve(wanted);
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (const std::exception&) {
      // The system has no more threads or memory: the existing threads do the work.
    }
    work();
    for (std::thread& thread : others) thread.join();
    if (failure != nullptr) std::rethrow_exception(failure);
  };
}

}  // namespace compassdb::perfect_hash
