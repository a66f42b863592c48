// SPDX-License-Identifier: Apache-2.0
// Counts a thread's system calls on files in its IOStatsContext.
//
// Thread safety: belongs to one thread.
#pragma once

#include <cstdint>

#include "env/clock.h"
#include "rocksdb/iostats_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {

inline void CountIo(uint64_t rocksdb::IOStatsContext::* counter, uint64_t bytes) {
  rocksdb::IOStatsContext* const stats = rocksdb::get_iostats_context();
  if (!stats->disable_iostats) stats->*counter += bytes;
}

// Times a call, and its CPU time where `cpu` is given, as far as the perf level asks for them.
class IoSpan {
 public:
  using Counter = uint64_t rocksdb::IOStatsContext::*;
  explicit IoSpan(Counter nanos, Counter cpu = nullptr) {
    const rocksdb::PerfLevel level = rocksdb::GetPerfLevel();
    if (level < rocksdb::kEnableTimeExceptForMutex) [[likely]] return;
    nanos_ = nanos;
    start_ = SystemClock()->NowNanos();
    if (cpu == nullptr || level < rocksdb::kEnableTimeAndCPUTimeExceptForMutex) return;
    cpu_ = cpu;
    cpu_start_ = ThreadCpuNanos();
  }
  ~IoSpan() {
    if (nanos_ == nullptr) [[likely]] return;
    rocksdb::IOStatsContext* const stats = rocksdb::get_iostats_context();
    stats->*nanos_ += SystemClock()->NowNanos() - start_;
    if (cpu_ != nullptr) stats->*cpu_ += ThreadCpuNanos() - cpu_start_;
  }
  IoSpan(const IoSpan&) = delete;
  IoSpan& operator=(const IoSpan&) = delete;

 private:
  Counter nanos_ = nullptr;
  Counter cpu_ = nullptr;
  uint64_t start_ = 0;
  uint64_t cpu_start_ = 0;
};

}  // namespace compassdb
