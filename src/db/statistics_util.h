// SPDX-License-Identifier: Apache-2.0
// Counting into a Statistics object that may be absent.
#pragma once

#include <cstdint>

#include "env/clock.h"
#include "rocksdb/statistics.h"

namespace compassdb {

inline void Tick(rocksdb::Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}
inline void Record(rocksdb::Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->recordInHistogram(histogram, value);
}

// Times a scope, in microseconds, if the statistics want timers.
class StopWatch {
 public:
  StopWatch(Clock* clock, rocksdb::Statistics* statistics, uint32_t histogram)
      : clock_(clock), statistics_(Wanted(statistics) ? statistics : nullptr),
        histogram_(histogram), start_(statistics_ != nullptr ? clock->NowNanos() : 0) {}
  ~StopWatch() {
    if (statistics_ != nullptr) {
      statistics_->reportTimeToHistogram(histogram_, (clock_->NowNanos() - start_) / 1000);
    }
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  static bool Wanted(rocksdb::Statistics* statistics) {
    return statistics != nullptr &&
           statistics->get_stats_level() > rocksdb::StatsLevel::kExceptTimers;
  }
  Clock* const clock_;
  rocksdb::Statistics* const statistics_;
  const uint32_t histogram_;
  const uint64_t start_;
};

}  // namespace compassdb
