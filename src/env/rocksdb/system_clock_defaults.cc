// SPDX-License-Identifier: Apache-2.0
// What rocksdb/system_clock.h declares and does not define.
#include "api/registered.h"
#include "env/rocksdb/env_as_clock.h"

namespace rocksdb {

const std::shared_ptr<SystemClock>& SystemClock::Default() {
  return Env::Default()->GetSystemClock();
}

Status SystemClock::CreateFromString(const ConfigOptions& config, const std::string& value,
                                     std::shared_ptr<SystemClock>* result) {
  Status s;
  if (compassdb::NewRegistered<SystemClock>(config, value, result, &s)) return s;
  if (value.empty() || value == "nullptr") {
    result->reset();
    return Status::OK();
  }
  if (value == kDefaultName() || value == "PosixClock") {
    *result = Default();
    return Status::OK();
  }
  return compassdb::UnknownObject(config, "SystemClock", value);
}

SystemClockWrapper::SystemClockWrapper(const std::shared_ptr<SystemClock>& t) : target_(t) {}

Status SystemClockWrapper::PrepareOptions(const ConfigOptions& options) {
  if (target_ == nullptr) target_ = SystemClock::Default();
  return SystemClock::PrepareOptions(options);
}
std::string SystemClockWrapper::SerializeOptions(const ConfigOptions& config_options,
                                                 const std::string& header) const {
  return SystemClock::SerializeOptions(config_options, header);
}

}  // namespace rocksdb
