// SPDX-License-Identifier: Apache-2.0
#include "util/start_thread.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace compassdb {
namespace {

std::atomic<int64_t> threads_left{-1};
std::atomic<bool> scarce{false};

bool MayStart() {
  int64_t left = threads_left.load(std::memory_order_relaxed);
  while (left > 0 && !threads_left.compare_exchange_weak(left, left - 1)) {
  }
  return left != 0;
}

}  // namespace

bool StartThread(std::thread* thread, const std::string& name, std::function<void()> body) noexcept {
  bool started = MayStart();
  try {
    if (started) {
      *thread = std::thread([name, body = std::move(body)] {
        pthread_setname_np(pthread_self(), ("compassdb:" + name).c_str());
        body();
      });
    }
  } catch (const std::exception&) {
    started = false;
  }
  if (scarce.load(std::memory_order_relaxed) == started) scarce.store(!started, std::memory_order_relaxed);
  return started;
}

std::string NumberedName(const std::string& name, size_t number) {
  const std::string digits = std::to_string(number);
  return name.substr(0, 5 - std::min<size_t>(5, digits.size())) + digits;
}

bool ThreadsAreScarce() { return scarce.load(std::memory_order_relaxed); }

void LimitThreadsForTest(int64_t more) { threads_left = more; }

}  // namespace compassdb
