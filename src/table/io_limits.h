// SPDX-License-Identifier: Apache-2.0
// ReadOptions::deadline and io_timeout, at the reads of files that they bound. A
// read that the kernel has begun is not cut short: one that took too long gives
// TimedOut when it ends.
#pragma once

#include "env/clock.h"
#include "rocksdb/status.h"

namespace compassdb {

struct IoLimits {
  Clock* clock = nullptr;   // null: no limits
  uint64_t deadline = 0;    // microseconds of the clock; 0: none
  uint64_t io_timeout = 0;  // microseconds for each read; 0: none
};

class IoTimer {
 public:
  explicit IoTimer(const IoLimits& limits) : limits_(limits) {}
  // Before the read.
  rocksdb::Status Begin() {
    if (limits_.clock == nullptr) return rocksdb::Status::OK();
    begin_ = limits_.clock->NowMicros();
    if (limits_.deadline == 0 || begin_ < limits_.deadline) return rocksdb::Status::OK();
    return rocksdb::Status::TimedOut("ReadOptions::deadline has passed");
  }
  // After it.
  rocksdb::Status End() const {
    if (limits_.clock == nullptr || limits_.io_timeout == 0 ||
        limits_.clock->NowMicros() - begin_ <= limits_.io_timeout) {
      return rocksdb::Status::OK();
    }
    return rocksdb::Status::TimedOut("a read took longer than ReadOptions::io_timeout");
  }

 private:
  const IoLimits& limits_;
  uint64_t begin_ = 0;
};

}  // namespace compassdb
