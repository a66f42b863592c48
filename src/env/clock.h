// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// The engine's time; tests inject their own. Thread safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t NowMicros() = 0;   // wall clock, since 1970
  virtual uint64_t NowNanos() = 0;    // monotonic
  virtual void SleepMicros(uint64_t micros) = 0;
};

Clock* SystemClock();

// CPU time of the calling thread.
uint64_t ThreadCpuNanos();

}  // namespace compassdb
