// SPDX-License-Identifier: Apache-2.0
#include "util/helper_threads.h"

#include <new>
#include <utility>

#include "util/start_thread.h"

namespace compassdb {

HelperThreads::HelperThreads(size_t wanted, std::function<void(size_t)> work) : work_(std::move(work)) {
  try {
    threads_.reserve(wanted);
  } catch (const std::bad_alloc&) {
    return;  // the caller does it alone
  }
  for (size_t i = 0; i < wanted; ++i) {
    std::thread thread;
    if (!StartThread(&thread, NumberedName("part", i), [this, i] { work_(i); })) return;  // the existing threads do the work
    threads_.push_back(std::move(thread));
  }
}

void HelperThreads::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace compassdb
