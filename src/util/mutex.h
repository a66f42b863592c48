// SPDX-License-Identifier: Apache-2.0
// std::mutex and std::condition_variable with thread-safety annotations. In Checked builds a mutex knows its owner.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "util/checked.h"
#include "util/thread_annotations.h"

namespace compassdb {

// The thread that holds a mutex. Empty without checks.
class MutexOwner {
 public:
#if defined(NDEBUG)
  void Set() {}
  void Clear() {}
  bool IsThisThread() const { return true; }
#else
  void Set() { thread_.store(&this_thread_, std::memory_order_relaxed); }
  void Clear() { thread_.store(nullptr, std::memory_order_relaxed); }
  bool IsThisThread() const { return thread_.load(std::memory_order_relaxed) == &this_thread_; }

 private:
  static inline thread_local char this_thread_ = 0;  // its address identifies the thread
  std::atomic<const char*> thread_{nullptr};
#endif
};

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Lock() ACQUIRE() {
    mu_.lock();
    owner_.Set();
  }
  void Unlock() RELEASE() {
    AssertHeld();
    owner_.Clear();
    mu_.unlock();
  }
  bool TryLock() TRY_ACQUIRE(true) {
    if (!mu_.try_lock()) return false;
    owner_.Set();
    return true;
  }
  void AssertHeld() const ASSERT_CAPABILITY(this) {
    COMPASSDB_INVARIANT(owner_.IsThisThread(), "the mutex is held by this thread");
  }

 private:
  friend class CondVar;
  std::mutex mu_;
  [[no_unique_address]] MutexOwner owner_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() RELEASE() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Bound to one mutex, which the caller holds around Wait.
class CondVar {
 public:
  explicit CondVar(Mutex* mu) : mu_(mu) {}
  void Wait() {
    std::unique_lock<std::mutex> lock = Leave();
    cv_.wait(lock);
    Return(&lock);
  }
  // True if notified (or woken spuriously) before the time-out.
  bool WaitFor(std::chrono::microseconds timeout) {
    std::unique_lock<std::mutex> lock = Leave();
    const bool ok = cv_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    Return(&lock);
    return ok;
  }
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  std::unique_lock<std::mutex> Leave() {
    COMPASSDB_INVARIANT(mu_->owner_.IsThisThread(), "who waits holds the mutex");
    mu_->owner_.Clear();
    return std::unique_lock<std::mutex>(mu_->mu_, std::adopt_lock);
  }
  void Return(std::unique_lock<std::mutex>* lock) {
    lock->release();
    mu_->owner_.Set();
  }

  Mutex* const mu_;
  std::condition_variable cv_;
};

}  // namespace compassdb
