// SPDX-License-Identifier: Apache-2.0
// The info-log functions of rocksdb/env.h. Each exists for a plain and for a
// shared pointer; a null logger discards.
#include <cstdarg>
#include <string>

#include "rocksdb/env.h"

namespace rocksdb {

Logger::~Logger() = default;

Status Logger::Close() {
  if (closed_) return Status::OK();
  closed_ = true;
  return CloseImpl();
}

Status Logger::CloseImpl() { return Status::NotSupported("Logger::CloseImpl"); }

void Logger::Logv(const InfoLogLevel log_level, const char* format, va_list ap) {
  static constexpr const char* kNames[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
  if (log_level < GetInfoLogLevel()) return;
  if (log_level == InfoLogLevel::INFO_LEVEL) {
    Logv(format, ap);
  } else if (log_level == InfoLogLevel::HEADER_LEVEL) {
    LogHeader(format, ap);
  } else if (log_level < InfoLogLevel::HEADER_LEVEL) {
    const std::string with_level = std::string("[") + kNames[log_level] + "] " + format;
    Logv(with_level.c_str(), ap);
  }
}

namespace {

void VLog(InfoLogLevel level, Logger* logger, const char* format, va_list ap) {
  if (logger == nullptr || logger->GetInfoLogLevel() > level) return;
  logger->Logv(level, format, ap);
}

void VHeader(Logger* logger, const char* format, va_list ap) {
  if (logger != nullptr) logger->LogHeader(format, ap);
}

}  // namespace

void LogFlush(Logger* info_log) {
  if (info_log != nullptr) info_log->Flush();
}
void LogFlush(const std::shared_ptr<Logger>& info_log) { LogFlush(info_log.get()); }

#define COMPASSDB_LOG_BODY(call) \
  va_list ap;                    \
  va_start(ap, format);          \
  call;                          \
  va_end(ap)

void Log(const InfoLogLevel log_level, Logger* info_log, const char* format, ...) {
  COMPASSDB_LOG_BODY(VLog(log_level, info_log, format, ap));
}
void Log(const InfoLogLevel log_level, const std::shared_ptr<Logger>& info_log,
         const char* format, ...) {
  COMPASSDB_LOG_BODY(VLog(log_level, info_log.get(), format, ap));
}
void Header(Logger* info_log, const char* format, ...) {
  COMPASSDB_LOG_BODY(VHeader(info_log, format, ap));
}
void Header(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  COMPASSDB_LOG_BODY(VHeader(info_log.get(), format, ap));
}

#define COMPASSDB_LOG_FUNCTION(name, level)                                        \
  void name(Logger* info_log, const char* format, ...) {                           \
    COMPASSDB_LOG_BODY(VLog(level, info_log, format, ap));                         \
  }                                                                                \
  void name(const std::shared_ptr<Logger>& info_log, const char* format, ...) {    \
    COMPASSDB_LOG_BODY(VLog(level, info_log.get(), format, ap));                   \
  }

COMPASSDB_LOG_FUNCTION(Log, InfoLogLevel::INFO_LEVEL)
COMPASSDB_LOG_FUNCTION(Debug, InfoLogLevel::DEBUG_LEVEL)
COMPASSDB_LOG_FUNCTION(Info, InfoLogLevel::INFO_LEVEL)
COMPASSDB_LOG_FUNCTION(Warn, InfoLogLevel::WARN_LEVEL)
COMPASSDB_LOG_FUNCTION(Error, InfoLogLevel::ERROR_LEVEL)
COMPASSDB_LOG_FUNCTION(Fatal, InfoLogLevel::FATAL_LEVEL)

#undef COMPASSDB_LOG_FUNCTION
#undef COMPASSDB_LOG_BODY

}  // namespace rocksdb
