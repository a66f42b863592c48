// SPDX-License-Identifier: Apache-2.0
// A mutex of four bytes, for many objects whose lock is seldom wanted.
#pragma once

#include <atomic>
#include <cstdint>

#include "util/thread_annotations.h"

namespace compassdb {

class CAPABILITY("mutex") SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;
  void Lock() ACQUIRE() {
    uint32_t free = kFree;
    if (state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return;
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree) {
      state_.wait(kWanted, std::memory_order_relaxed);
    }
  }
  void Unlock() RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) state_.notify_one();
  }

 private:
  enum : uint32_t { kFree, kHeld, kWanted };  // kWanted: held, and a thread may be waiting
  std::atomic<uint32_t> state_{kFree};
};

class SCOPED_CAPABILITY SmallMutexLock {
 public:
  explicit SmallMutexLock(SmallMutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~SmallMutexLock() RELEASE() { mu_->Unlock(); }
  SmallMutexLock(const SmallMutexLock&) = delete;
  SmallMutexLock& operator=(const SmallMutexLock&) = delete;

 private:
  SmallMutex* const mu_;
};

}  // namespace compassdb
