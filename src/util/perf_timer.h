// SPDX-License-Identifier: Apache-2.0
// Adds the time from its making to its end to a counter of the thread's PerfContext, where the
// perf level asks for times.
//
// Thread safety: belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {

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
