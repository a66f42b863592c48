// SPDX-License-Identifier: Apache-2.0
// Times a scope into a histogram, in microseconds, where the statistics want timers.
//
// Thread safety: belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "rocksdb/statistics.h"

namespace compassdb {

class StatTimer {
 public:
  StatTimer(rocksdb::Statistics* statistics, uint32_t histogram) : histogram_(histogram) {
    if (statistics == nullptr || statistics->get_stats_level() <= rocksdb::StatsLevel::kExceptTimers) return;
    statistics_ = statistics;
    start_ = Clock::now();
  }
  ~StatTimer() {
    if (statistics_ == nullptr) return;
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_);
    statistics_->recordInHistogram(histogram_, static_cast<uint64_t>(elapsed.count()));
  }
  StatTimer(const StatTimer&) = delete;
  StatTimer& operator=(const StatTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  rocksdb::Statistics* statistics_ = nullptr;
  const uint32_t histogram_;
  Clock::time_point start_;
};

// The same in nanoseconds, where they want detailed timers.
class StatNanos {
 public:
  StatNanos(rocksdb::Statistics* statistics, uint32_t histogram) : histogram_(histogram) {
    if (statistics == nullptr || statistics->get_stats_level() <= rocksdb::StatsLevel::kExceptDetailedTimers) return;
    statistics_ = statistics;
    start_ = Clock::now();
  }
  ~StatNanos() {
    if (statistics_ == nullptr) return;
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    statistics_->recordInHistogram(histogram_, static_cast<uint64_t>(elapsed.count()));
  }
  StatNanos(const StatNanos&) = delete;
  StatNanos& operator=(const StatNanos&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  rocksdb::Statistics* statistics_ = nullptr;
  const uint32_t histogram_;
  Clock::time_point start_;
};

}  // namespace compassdb
