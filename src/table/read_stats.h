// SPDX-License-Identifier: Apache-2.0
// Counting on the read path: tickers of the database, counters of the thread.
#pragma once

#include <chrono>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"

namespace compassdb {

inline void Tick(rocksdb::Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}

// The thread's counters, or null where SetPerfLevel switched them off.
inline rocksdb::PerfContext* PerfCounters() {
  return rocksdb::GetPerfLevel() >= rocksdb::kEnableCount ? rocksdb::get_perf_context() : nullptr;
}

// A read of a file for data blocks.
inline void CountBlockRead(uint64_t bytes) {
  rocksdb::PerfContext* const perf = PerfCounters();
  if (perf == nullptr) return;
  ++perf->block_read_count;
  perf->block_read_byte += bytes;
}

// Adds the nanoseconds of its life to a counter, at the perf levels that time.
class PerfTimer {
 public:
  explicit PerfTimer(uint64_t rocksdb::PerfContext::* counter)
      : counter_(rocksdb::GetPerfLevel() >= rocksdb::kEnableTimeExceptForMutex ? counter : nullptr) {
    if (counter_ != nullptr) start_ = Clock::now();
  }
  ~PerfTimer() {
    if (counter_ == nullptr) return;
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    rocksdb::get_perf_context()->*counter_ += static_cast<uint64_t>(elapsed.count());
  }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t rocksdb::PerfContext::* const counter_;
  Clock::time_point start_;
};

}  // namespace compassdb
