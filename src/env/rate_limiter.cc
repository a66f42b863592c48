// SPDX-License-Identifier: Apache-2.0
#include "env/rate_limiter.h"

#include <algorithm>

namespace compassdb {

TokenBucketRateLimiter::TokenBucketRateLimiter(uint64_t bytes_per_second, Clock* clock,
                                               uint64_t refill_period_micros)
    : clock_(clock),
      period_nanos_(std::max<uint64_t>(refill_period_micros, 1) * 1000),
      rate_(std::max<uint64_t>(bytes_per_second, 1)),
      last_nanos_(clock->NowNanos()) {
  tokens_ = static_cast<double>(rate_) * static_cast<double>(period_nanos_) * 1e-9;
}

void TokenBucketRateLimiter::Refill() {
  const uint64_t now = clock_->NowNanos();
  const double most = static_cast<double>(rate_) * static_cast<double>(period_nanos_) * 1e-9;
  const double earned = static_cast<double>(rate_) * static_cast<double>(now - last_nanos_) * 1e-9;
  tokens_ = std::min(most, tokens_ + earned);
  last_nanos_ = now;
}

// A request is let through as soon as the bucket is above zero and may draw it
// below: large requests need no splitting and pay by what comes after them.
void TokenBucketRateLimiter::Request(uint64_t bytes, IoPriority priority) {
  bool waiting = false;
  while (true) {
    uint64_t wait_micros;
    {
      MutexLock l(&mu_);
      Refill();
      const bool my_turn = priority == IoPriority::kHigh || waiting_high_ == 0;
      if (tokens_ > 0 && my_turn) {
        tokens_ -= static_cast<double>(bytes);
        total_[static_cast<int>(priority)] += bytes;
        if (waiting) --waiting_high_;
        return;
      }
      if (priority == IoPriority::kHigh && !waiting) {
        waiting = true;
        ++waiting_high_;
      }
      const double debt = std::max(0.0, -tokens_);
      wait_micros = static_cast<uint64_t>(debt * 1e6 / static_cast<double>(rate_)) + 100;
    }
    clock_->SleepMicros(std::min<uint64_t>(wait_micros, 100 * 1000));
  }
}

void TokenBucketRateLimiter::SetBytesPerSecond(uint64_t bytes_per_second) {
  MutexLock l(&mu_);
  Refill();
  rate_ = std::max<uint64_t>(bytes_per_second, 1);
}

uint64_t TokenBucketRateLimiter::bytes_per_second() const {
  MutexLock l(&mu_);
  return rate_;
}

uint64_t TokenBucketRateLimiter::TotalBytes(IoPriority priority) const {
  MutexLock l(&mu_);
  return total_[static_cast<int>(priority)];
}

}  // namespace compassdb
