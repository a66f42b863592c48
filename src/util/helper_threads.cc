// SPDX-License-Identifier: Apache-2.0
#include "util/helper_threads.h"

#include <exception>
#include <utility>

namespace compassdb {

HelperThreads::HelperThreads(size_t wanted, std::function<void(size_t)> work) : work_(std::move(work)) {
  try {
    threads_.reserve(wanted);
    for (size_t i = 0; i < wanted; ++i) {
      threads_.emplace_back([this, i] { work_(i); });
    }
  } catch (const std::exception&) {
    // Those there are do it.
  }
}

void HelperThreads::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace compassdb
