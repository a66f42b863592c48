// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/error_handler.h"

namespace compassdb {

using Reason = rocksdb::BackgroundErrorReason;

Status::Severity ErrorHandler::SeverityOf(const Status& error, Reason reason) {
  if (error.ok()) return Status::kNoError;
  if (error.severity() >= Status::kFatalError) return error.severity();
  if (error.IsCorruption()) return Status::kUnrecoverableError;
  if (reason == Reason::kMemTable) return Status::kFatalError;
  // A compaction without disk space or memory does not affect writers: level 0 stalls them
  // soon enough if nothing is freed.
  if (reason == Reason::kCompaction && (error.IsNoSpace() || error.IsMemoryLimit())) return Status::kSoftError;
  return Status::kHardError;
}

Status ErrorHandler::Set(const Status& error, Reason reason) {
  const Status::Severity severity = SeverityOf(error, reason);
  MutexLock lock(&mu_);
  count_.fetch_add(1, std::memory_order_relaxed);
  if (error_.ok() || severity > error_.severity()) error_ = Status(error, severity);
  compactions_stopped_.store(true, std::memory_order_release);
  if (severity >= Status::kHardError) {
    background_stopped_.store(true, std::memory_order_release);
    writes_refused_.store(true, std::memory_order_release);
  }
  return error_;
}

void ErrorHandler::ClearSoft() {
  MutexLock lock(&mu_);
  if (error_.severity() > Status::kSoftError) return;
  error_ = Status::OK();
  compactions_stopped_.store(false, std::memory_order_release);
}

Status ErrorHandler::error() const {
  MutexLock lock(&mu_);
  return error_;
}

bool ErrorHandler::Clear() {
  MutexLock lock(&mu_);
  if (error_.severity() >= Status::kFatalError) return false;
  error_ = Status::OK();
  writes_refused_.store(false, std::memory_order_release);
  background_stopped_.store(false, std::memory_order_release);
  compactions_stopped_.store(false, std::memory_order_release);
  wal_failed_.store(false, std::memory_order_release);
  return true;
}

}  // namespace compassdb
