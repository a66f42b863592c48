// SPDX-License-Identifier: Apache-2.0
// A rocksdb::SystemClock that asks an Env: what Env::GetSystemClock() gives, and with
// Env::Default() SystemClock::Default().
//
// Thread safety: that of the Env.
#pragma once

#include "rocksdb/env.h"
#include "rocksdb/system_clock.h"

namespace compassdb {

class EnvAsClock final : public rocksdb::SystemClock {
 public:
  // `env` outlives this.
  explicit EnvAsClock(rocksdb::Env* env) : env_(env) {}

  const char* Name() const override {
    return env_ == rocksdb::Env::Default() ? kDefaultName() : "LegacySystemClock";
  }
  uint64_t NowMicros() override { return env_->NowMicros(); }
  uint64_t NowNanos() override { return env_->NowNanos(); }
  uint64_t CPUMicros() override { return CPUNanos() / 1000; }
  uint64_t CPUNanos() override { return env_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { env_->SleepForMicroseconds(micros); }
  rocksdb::Status GetCurrentTime(int64_t* unix_time) override {
    return env_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override { return env_->TimeToString(time); }

 private:
  rocksdb::Env* const env_;
};

}  // namespace compassdb
