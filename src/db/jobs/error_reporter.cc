// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/error_reporter.h"

#include "db/report/info_log.h"
#include "db/report/statistics_util.h"

namespace compassdb {

void ErrorReporter::SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) {
  Status set(error, ErrorHandler::SeverityOf(error, reason));
  listeners_.BackgroundError(reason, &set);
  if (set.ok()) {
    // A listener cleared it. The error of a log remains, because the log takes no more writes.
    if (!logs_.failed()) return;
    set = Status(error, ErrorHandler::SeverityOf(error, reason));
  }
  errors_.Set(set, reason).PermitUncheckedError();
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  Tick(statistics, rocksdb::ERROR_HANDLER_BG_ERROR_COUNT);
  if (error.IsIOError()) Tick(statistics, rocksdb::ERROR_HANDLER_BG_IO_ERROR_COUNT);
  LogError(config_.info_log.get(), "background error: " + error.ToString());
  {
    MutexLock lock(mu_);
    changed_->SignalAll();
  }
  auto_resume_.Begin(set, reason);
}

}  // namespace compassdb
