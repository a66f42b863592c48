// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace compassdb {

// Threads that help the one that makes them, as many as are wanted. Where the system refuses more
// or has no memory for one, there are fewer, perhaps none.
class HelperThreads {
 public:
  // Each calls `work`, with its number from 0 on, while this object is being made already.
  HelperThreads(size_t wanted, std::function<void(size_t)> work);
  ~HelperThreads() { Join(); }
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  size_t count() const { return threads_.size(); }
  // Until all have returned.
  void Join();

 private:
  const std::function<void(size_t)> work_;
  std::vector<std::thread> threads_;
};

}  // namespace compassdb
