// SPDX-License-Identifier: Apache-2.0
// Loggers of C programs.
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::OrNull;
using rocksdb::InfoLogLevel;

namespace {

// A message as text. What cannot be formatted is empty.
std::string FormatMessage(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  char small[512];
  const int size = std::vsnprintf(small, sizeof(small), format, arguments);
  std::string text;
  if (size > 0 && static_cast<size_t>(size) < sizeof(small)) {
    text.assign(small, static_cast<size_t>(size));
  } else if (size > 0) {
    text.resize(static_cast<size_t>(size));
    std::vsnprintf(text.data(), text.size() + 1, format, again);
  }
  va_end(again);
  return text;
}

class CallbackLogger final : public rocksdb::Logger {
 public:
  using Callback = void (*)(void*, unsigned, char*, size_t);

  CallbackLogger(InfoLogLevel level, Callback callback, void* priv)
      : Logger(level), callback_(callback), priv_(priv) {}

  void Logv(const char* format, va_list arguments) override { Send(InfoLogLevel::INFO_LEVEL, format, arguments); }
  void Logv(const InfoLogLevel level, const char* format, va_list arguments) override {
    if (level >= GetInfoLogLevel()) Send(level, format, arguments);
  }

 private:
  void Send(InfoLogLevel level, const char* format, va_list arguments) {
    if (callback_ == nullptr) return;
    std::string text = FormatMessage(format, arguments);
    if (!text.empty()) callback_(priv_, static_cast<unsigned>(level), text.data(), text.size());
  }

  const Callback callback_;
  void* const priv_;
};

class StderrLogger final : public rocksdb::Logger {
 public:
  StderrLogger(InfoLogLevel level, std::string prefix) : Logger(level), prefix_(std::move(prefix)) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    timespec now = {};
    std::timespec_get(&now, TIME_UTC);
    tm local = {};
    localtime_r(&now.tv_sec, &local);
    char time[64];
    const size_t size = std::strftime(time, sizeof(time), "%Y/%m/%d-%H:%M:%S", &local);
    std::snprintf(time + size, sizeof(time) - size, ".%06ld", now.tv_nsec / 1000);
    // One call, so that lines of several threads do not mix.
    const std::string line = std::string(time) + " " + prefix_ + FormatMessage(format, arguments) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  const std::string prefix_;
};

}  // namespace

extern "C" {

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level, const char* prefix) {
  return OrNull([&] {
    return new rocksdb_logger_t{std::make_shared<StderrLogger>(static_cast<InfoLogLevel>(log_level),
                                                               prefix == nullptr ? "" : prefix)};
  });
}

rocksdb_logger_t* rocksdb_logger_create_callback_logger(int log_level,
                                                        void (*callback)(void*, unsigned, char*, size_t),
                                                        void* priv) {
  return OrNull([&] {
    return new rocksdb_logger_t{
        std::make_shared<CallbackLogger>(static_cast<InfoLogLevel>(log_level), callback, priv)};
  });
}

void rocksdb_logger_destroy(rocksdb_logger_t* logger) {
  compassdb::MustSucceed([&] { delete logger; });
}

}  // extern "C"
