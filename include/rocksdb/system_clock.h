// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>
#include <memory>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
#ifdef _WIN32
#undef GetCurrentTime
#endif

namespace ROCKSDB_NAMESPACE {

struct ConfigOptions;

// Time, which tests may replace. Every function may be called concurrently.
class SystemClock : public Customizable {
 public:
  ~SystemClock() override {}
  static const char* Type() { return "SystemClock"; }

  // Makes a built-in or registered clock by name.
  static Status CreateFromString(const ConfigOptions& options,
                                 const std::string& value,
                                 std::shared_ptr<SystemClock>* result);
  virtual const char* Name() const override = 0;
  static const char* kDefaultName() { return "DefaultClock"; }

  // The clock of the system.
  static const std::shared_ptr<SystemClock>& Default();

  // Monotonic or not, only differences mean something.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }

  // CPU time of the calling thread; 0 if not known.
  virtual uint64_t CPUMicros() { return 0; }
  virtual uint64_t CPUNanos() { return CPUMicros() * 1000; }
  virtual void SleepForMicroseconds(int micros) = 0;

  // Seconds since 1970.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;

  // A readable form of seconds since 1970.
  virtual std::string TimeToString(uint64_t time) = 0;
};

// Passes everything on to another clock. Override what is to differ.
class SystemClockWrapper : public SystemClock {
 public:
  explicit SystemClockWrapper(const std::shared_ptr<SystemClock>& t);
  uint64_t NowMicros() override { return target_->NowMicros(); }
  uint64_t NowNanos() override { return target_->NowNanos(); }
  uint64_t CPUMicros() override { return target_->CPUMicros(); }
  uint64_t CPUNanos() override { return target_->CPUNanos(); }
  virtual void SleepForMicroseconds(int micros) override {
    return target_->SleepForMicroseconds(micros);
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    return target_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override {
    return target_->TimeToString(time);
  }
  Status PrepareOptions(const ConfigOptions& options) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& header) const override;
  const Customizable* Inner() const override { return target_.get(); }

 protected:
  std::shared_ptr<SystemClock> target_;
};

}  // namespace ROCKSDB_NAMESPACE
