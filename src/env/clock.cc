// SPDX-License-Identifier: Apache-2.0
#include "env/clock.h"

#include <time.h>

#include <chrono>
#include <thread>

namespace compassdb {

namespace {

class SystemClockImpl : public Clock {
 public:
  uint64_t NowMicros() override { return Count<std::micro>(std::chrono::system_clock::now()); }
  uint64_t NowNanos() override { return Count<std::nano>(std::chrono::steady_clock::now()); }
  void SleepMicros(uint64_t micros) override {
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

 private:
  template <typename Unit, typename TimePoint>
  static uint64_t Count(TimePoint t) {
    using Duration = std::chrono::duration<int64_t, Unit>;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<Duration>(t.time_since_epoch()).count());
  }
};

}  // namespace

Clock* SystemClock() {
  static auto* clock = new SystemClockImpl;
  return clock;
}

uint64_t ThreadCpuNanos() {
  timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace compassdb
