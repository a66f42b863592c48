// SPDX-License-Identifier: Apache-2.0
// Limits the bytes per second that background work writes.
//
// A token bucket that holds at most one refill period's worth. Requests of high
// priority (flushes) are served before those of low priority (compactions).
//
// Thread safety: every function may be called by any thread.
#pragma once

#include <cstdint>
#include <deque>

#include "env/clock.h"
#include "util/mutex.h"

namespace compassdb {

enum class IoPriority { kLow = 0, kHigh = 1 };

class IoRateLimiter {
 public:
  virtual ~IoRateLimiter() = default;
  // Blocks until `bytes` may be written. Any size; large ones wait longer.
  virtual void Request(uint64_t bytes, IoPriority priority) = 0;
};

class TokenBucketRateLimiter : public IoRateLimiter {
 public:
  TokenBucketRateLimiter(uint64_t bytes_per_second, Clock* clock,
                         uint64_t refill_period_micros = 100 * 1000);
  void Request(uint64_t bytes, IoPriority priority) override;
  void SetBytesPerSecond(uint64_t bytes_per_second);
  uint64_t bytes_per_second() const;
  uint64_t TotalBytes(IoPriority priority) const;

 private:
  void Refill() REQUIRES(mu_);

  Clock* const clock_;
  const uint64_t period_nanos_;
  mutable Mutex mu_;
  uint64_t rate_ GUARDED_BY(mu_);
  double tokens_ GUARDED_BY(mu_) = 0;
  uint64_t last_nanos_ GUARDED_BY(mu_);
  uint64_t waiting_high_ GUARDED_BY(mu_) = 0;
  uint64_t total_[2] GUARDED_BY(mu_) = {0, 0};
};

}  // namespace compassdb
