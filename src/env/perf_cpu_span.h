// SPDX-License-Identifier: Apache-2.0
// As PerfSpan, of the CPU time that the calling thread takes.
//
// Thread safety: belongs to one thread.
#pragma once

#include <cstdint>

#include "env/clock.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {

class PerfCpuSpan {
 public:
  PerfCpuSpan(rocksdb::PerfLevel level, uint64_t rocksdb::PerfContext::* counter)
      : counter_(level >= rocksdb::kEnableTimeAndCPUTimeExceptForMutex ? counter : nullptr) {
    if (counter_ != nullptr) [[unlikely]] start_ = ThreadCpuNanos();
  }
  ~PerfCpuSpan() {
    if (counter_ == nullptr) [[likely]] return;
    rocksdb::get_perf_context()->*counter_ += ThreadCpuNanos() - start_;
  }
  PerfCpuSpan(const PerfCpuSpan&) = delete;
  PerfCpuSpan& operator=(const PerfCpuSpan&) = delete;

 private:
  uint64_t rocksdb::PerfContext::* const counter_;
  uint64_t start_ = 0;
};

}  // namespace compassdb
