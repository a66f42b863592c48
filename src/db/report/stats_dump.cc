// SPDX-License-Identifier: Apache-2.0
#include "db/report/stats_dump.h"

#include <utility>

#include "db/report/property_reader.h"
#include "services/periodic_tasks.h"

namespace compassdb {

void StatsDump::RemoveTasks() {
  PeriodicTasks::Shared()->Remove(std::exchange(dump_task_, 0));
  PeriodicTasks::Shared()->Remove(std::exchange(history_task_, 0));
}

void StatsDump::Schedule() {
  const rocksdb::DBOptions options = db_->GetDBOptions();
  history_.Limit(options.stats_history_buffer_size);
  MutexLock lock(&mu_);
  RemoveTasks();
  if (stopped_) return;
  PeriodicTasks* const tasks = PeriodicTasks::Shared();
  if (options.stats_dump_period_sec > 0 && db_->config_.info_log != nullptr) {
    dump_task_ = tasks->Add(std::chrono::seconds(options.stats_dump_period_sec), [this] { Dump(); });
  }
  if (options.stats_persist_period_sec > 0 && options.statistics != nullptr) {
    Record();
    history_task_ = tasks->Add(std::chrono::seconds(options.stats_persist_period_sec), [this] { Record(); });
  }
}

void StatsDump::Stop() {
  MutexLock lock(&mu_);
  stopped_ = true;
  RemoveTasks();
}

void StatsDump::Dump() {
  rocksdb::Logger* const log = db_->config_.info_log.get();
  LogInfo(log, "------- DUMPING STATS -------");
  bool first = true;
  for (const auto& family : db_->families_.All()) {
    PropertyReader reader(db_, family.get());
    if (std::exchange(first, false)) LogInfo(log, reader.DBStats());
    LogInfo(log, reader.CFStats());
  }
  const auto& statistics = db_->config_.options.statistics;
  if (statistics != nullptr) LogInfo(log, "STATISTICS:\n" + statistics->ToString());
}

void StatsDump::Record() {
  StatsHistory::Values tickers;
  if (!db_->config_.options.statistics->getTickerMap(&tickers)) return;
  history_.Add(db_->config_.clock->NowMicros() / 1000000, std::move(tickers),
               db_->GetDBOptions().stats_history_buffer_size);
}

Status DBImpl::GetStatsHistory(uint64_t begin, uint64_t end,
                               std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) {
  if (iterator == nullptr) return Status::InvalidArgument("stats_iterator not preallocated.");
  *iterator = NewStatsHistoryIterator(stats_dump_.history(), begin, end);
  return Status::OK();
}

}  // namespace compassdb
