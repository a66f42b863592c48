// SPDX-License-Identifier: Apache-2.0
// The rate limiter that applications create by NewGenericRateLimiter().
//
// A token bucket that is refilled every period and never holds more than one
// period's worth. Requests wait in one queue per priority. A refill serves the
// queues from the highest priority down; once in `fairness` refills, at random,
// the lower queues are served first, so that none starves. A request larger than a
// burst takes its tokens over several refills.
//
// *Thread safety*: every function may be called by any thread.
// *Invariants*: a request that waits is in exactly one queue; it leaves when
// all of its tokens are granted. The destructor does not wait: a limiter outlives
// its requests, because every user has a reference.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>

#include "rocksdb/rate_limiter.h"
#include "util/process.h"

namespace compassdb {

class GenericRateLimiter : public rocksdb::RateLimiter {
 public:
  GenericRateLimiter(int64_t bytes_per_second, int64_t refill_period_us, int32_t fairness,
                     Mode mode, bool auto_tuned);

  void SetBytesPerSecond(int64_t bytes_per_second) override;
  using RateLimiter::Request;
  void Request(int64_t bytes, rocksdb::Env::IOPriority priority,
               rocksdb::Statistics* stats) override;
  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(rocksdb::Env::IOPriority priority) const override;
  int64_t GetTotalRequests(rocksdb::Env::IOPriority priority) const override;
  rocksdb::Status GetTotalPendingRequests(int64_t* pending,
                                          rocksdb::Env::IOPriority priority) const override;
  int64_t GetBytesPerSecond() const override;

 private:
  using SteadyClock = std::chrono::steady_clock;
  struct Waiter {
    int64_t missing;
    bool granted = false;
    std::condition_variable wake;
  };
  static constexpr int kPriorities = rocksdb::Env::IO_TOTAL;

  int64_t TokensPerPeriod() const;
  void Refill(SteadyClock::time_point now);
  void Tune();
  bool AnyWaiting() const;
  int64_t Sum(const int64_t (&values)[kPriorities], rocksdb::Env::IOPriority priority) const;

  const int64_t period_us_;
  const int32_t fairness_;
  const bool auto_tuned_;
  const int64_t max_bytes_per_second_;

  mutable std::mutex mu_;  // guards all below
  int64_t bytes_per_second_;
  int64_t available_ = 0;
  SteadyClock::time_point next_refill_;
  bool refiller_waits_ = false;  // one waiter sleeps until next_refill_ and serves all
  std::deque<Waiter*> queues_[kPriorities];
  int64_t total_bytes_[kPriorities] = {};
  int64_t total_requests_[kPriorities] = {};
  std::minstd_rand random_{301};
  void ForgetWaiters();  // in a child of fork(): they do not exist there
  // The periods since the last tuning, and those in which a request waited.
  int periods_ = 0;
  int drained_ = 0;
  const AtForks forks_{this, {.in_child = [](void* limiter) {
                                static_cast<GenericRateLimiter*>(limiter)->ForgetWaiters();
                              }}};
};

}  // namespace compassdb
