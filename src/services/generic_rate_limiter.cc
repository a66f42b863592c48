// SPDX-License-Identifier: Apache-2.0
#include "services/generic_rate_limiter.h"

#include <algorithm>

namespace compassdb {

namespace {

// Auto-tuning looks at this many periods at a time, and moves the rate by a twentieth, between a
// twentieth of the configured rate and all of it.
constexpr int kTunePeriods = 100;
constexpr int64_t kTuneSteps = 20;

int64_t SaturatingScale(int64_t bytes_per_second, int64_t period_us) {
  const double seconds = static_cast<double>(period_us) / 1e6;
  const double tokens = static_cast<double>(bytes_per_second) * seconds;
  if (tokens >= 9e18) return INT64_MAX / 2;
  return std::max<int64_t>(1, static_cast<int64_t>(tokens));
}

}  // namespace

GenericRateLimiter::GenericRateLimiter(int64_t bytes_per_second, int64_t refill_period_us,
                                       int32_t fairness, Mode mode, bool auto_tuned)
    : RateLimiter(mode),
      period_us_(std::max<int64_t>(refill_period_us, 1)),
      fairness_(std::clamp(fairness, 1, 100)),
      auto_tuned_(auto_tuned),
      max_bytes_per_second_(std::max<int64_t>(bytes_per_second, 1)),
      bytes_per_second_(auto_tuned ? std::max<int64_t>(max_bytes_per_second_ / 2, 1)
                                   : max_bytes_per_second_),
      next_refill_(SteadyClock::now()) {}

void GenericRateLimiter::ForgetWaiters() {
  RenewInherited(&mu_);
  for (auto& queue : queues_) RenewInherited(&queue);
  refiller_waits_ = false;
}

void GenericRateLimiter::SetBytesPerSecond(int64_t bytes_per_second) {
  std::lock_guard<std::mutex> lock(mu_);
  bytes_per_second_ = std::max<int64_t>(bytes_per_second, 1);
}

int64_t GenericRateLimiter::TokensPerPeriod() const {
  return SaturatingScale(bytes_per_second_, period_us_);
}

int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  std::lock_guard<std::mutex> lock(mu_);
  return TokensPerPeriod();
}

int64_t GenericRateLimiter::GetBytesPerSecond() const {
  std::lock_guard<std::mutex> lock(mu_);
  return bytes_per_second_;
}

void GenericRateLimiter::Request(int64_t bytes, rocksdb::Env::IOPriority priority,
                                 rocksdb::Statistics*) {
  if (bytes <= 0) return;
  const int p = std::clamp<int>(priority, 0, kPriorities - 1);
  std::unique_lock<std::mutex> lock(mu_);
  total_requests_[p]++;
  total_bytes_[p] += bytes;
  const auto now = SteadyClock::now();
  if (now >= next_refill_) Refill(now);
  if (!AnyWaiting() && available_ >= bytes) {
    available_ -= bytes;
    return;
  }
  Waiter self;
  self.missing = bytes;
  if (!AnyWaiting()) {  // take the available bytes
    self.missing -= available_;
    available_ = 0;
  }
  queues_[p].push_back(&self);
  while (!self.granted) {
    if (refiller_waits_) {
      self.wake.wait(lock);
      continue;
    }
    refiller_waits_ = true;
    self.wake.wait_until(lock, next_refill_);
    refiller_waits_ = false;
    const auto time = SteadyClock::now();
    if (time >= next_refill_) Refill(time);
  }
  // Another request must wait for the next refill now.
  if (!refiller_waits_) {
    for (auto& queue : queues_) {
      if (queue.empty()) continue;
      queue.front()->wake.notify_one();
      break;
    }
  }
}

void GenericRateLimiter::Refill(SteadyClock::time_point now) {
  next_refill_ = now + std::chrono::microseconds(period_us_);
  periods_++;
  if (AnyWaiting()) drained_++;
  if (auto_tuned_ && periods_ >= kTunePeriods) Tune();
  available_ = TokensPerPeriod();
  // Highest first; once in `fairness_` refills the lowest first.
  const bool reverse = fairness_ > 1 && random_() % static_cast<uint32_t>(fairness_) == 0;
  for (int i = 0; i < kPriorities; ++i) {
    auto& queue = queues_[reverse ? i : kPriorities - 1 - i];
    while (!queue.empty()) {
      Waiter* first = queue.front();
      const int64_t granted = std::min(first->missing, available_);
      first->missing -= granted;
      available_ -= granted;
      if (first->missing > 0) return;
      queue.pop_front();
      first->granted = true;
      first->wake.notify_one();
    }
  }
}

void GenericRateLimiter::Tune() {
  const int64_t percent = int64_t{100} * drained_ / periods_;
  periods_ = 0;
  drained_ = 0;
  const int64_t step = std::max<int64_t>(bytes_per_second_ / kTuneSteps, 1);
  const int64_t lowest = std::max<int64_t>(max_bytes_per_second_ / kTuneSteps, 1);
  if (percent < 50) {
    bytes_per_second_ = std::max(lowest, bytes_per_second_ - step);
  } else if (percent > 90) {
    bytes_per_second_ = std::min(max_bytes_per_second_, bytes_per_second_ + step);
  }
}

bool GenericRateLimiter::AnyWaiting() const {
  return std::any_of(std::begin(queues_), std::end(queues_),
                     [](const auto& queue) { return !queue.empty(); });
}

int64_t GenericRateLimiter::Sum(const int64_t (&values)[kPriorities],
                                rocksdb::Env::IOPriority priority) const {
  if (priority < kPriorities) return values[priority];
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return sum;
}

int64_t GenericRateLimiter::GetTotalBytesThrough(rocksdb::Env::IOPriority priority) const {
  std::lock_guard<std::mutex> lock(mu_);
  return Sum(total_bytes_, priority);
}

int64_t GenericRateLimiter::GetTotalRequests(rocksdb::Env::IOPriority priority) const {
  std::lock_guard<std::mutex> lock(mu_);
  return Sum(total_requests_, priority);
}

rocksdb::Status GenericRateLimiter::GetTotalPendingRequests(
    int64_t* pending, rocksdb::Env::IOPriority priority) const {
  std::lock_guard<std::mutex> lock(mu_);
  int64_t counts[kPriorities];
  for (int i = 0; i < kPriorities; ++i) counts[i] = static_cast<int64_t>(queues_[i].size());
  *pending = Sum(counts, priority);
  return rocksdb::Status::OK();
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

size_t RateLimiter::RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                                 Statistics* stats, OpType op_type) {
  if (io_priority >= Env::IO_TOTAL || !IsRateLimited(op_type)) return bytes;
  bytes = std::min(bytes, static_cast<size_t>(std::max<int64_t>(GetSingleBurstBytes(), 1)));
  if (alignment > 0) bytes = std::max(alignment, bytes - bytes % alignment);
  Request(static_cast<int64_t>(bytes), io_priority, stats, op_type);
  return bytes;
}

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                   int32_t fairness, RateLimiter::Mode mode, bool auto_tuned) {
  return new compassdb::GenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness, mode,
                                           auto_tuned);
}

}  // namespace ROCKSDB_NAMESPACE
