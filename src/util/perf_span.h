// SPDX-License-Identifier: Apache-2.0
// Adds a part of an operation to a counter of the thread's PerfContext. The caller has asked for the
// level, once for all parts.
//
// Thread safety: belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {

// What GetPerfLevel() and get_perf_context() answer, without calls: every read asks, and every step of an
// iterator.
// (Not of the initial-exec model: a library that is loaded by dlopen may get no space for it.)
extern constinit thread_local rocksdb::PerfLevel perf_level_of_thread;
extern constinit thread_local rocksdb::PerfContext* perf_context_of_thread;
inline rocksdb::PerfLevel CurrentPerfLevel() { return perf_level_of_thread; }
inline rocksdb::PerfContext* CurrentPerfContext() {
  rocksdb::PerfContext* const known = perf_context_of_thread;
  return known != nullptr ? known : rocksdb::get_perf_context();
}

class PerfSpan {
 public:
  PerfSpan(rocksdb::PerfLevel level, uint64_t rocksdb::PerfContext::* counter)
      : counter_(level >= rocksdb::kEnableTimeExceptForMutex ? counter : nullptr) {
    if (counter_ != nullptr) [[unlikely]] start_ = Clock::now();
  }
  ~PerfSpan() { End(); }
  void End() {
    if (counter_ == nullptr) [[likely]] return;
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    rocksdb::get_perf_context()->*counter_ += static_cast<uint64_t>(elapsed.count());
    counter_ = nullptr;
  }
  PerfSpan(const PerfSpan&) = delete;
  PerfSpan& operator=(const PerfSpan&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t rocksdb::PerfContext::* counter_;
  Clock::time_point start_;
};

// The parts of an operation, one after the other: less code on the way of one that is not timed.
class PerfParts {
 public:
  using Counter = uint64_t rocksdb::PerfContext::*;
  explicit PerfParts(rocksdb::PerfLevel level) : timed_(level >= rocksdb::kEnableTimeExceptForMutex) {}
  ~PerfParts() { Begin(nullptr); }
  // Ends the part before it. Null: none follows.
  void Begin(Counter counter) {
    if (timed_) [[unlikely]] Switch(counter);
  }
  PerfParts(const PerfParts&) = delete;
  PerfParts& operator=(const PerfParts&) = delete;

 private:
  void Switch(Counter counter);

  const bool timed_;
  Counter counter_ = nullptr;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace compassdb
