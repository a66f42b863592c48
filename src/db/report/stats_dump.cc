// SPDX-License-Identifier: Apache-2.0
#include "db/report/stats_dump.h"

#include <utility>

#include "db/report/info_log.h"
#include "db/report/stats_report.h"
#include "services/periodic_tasks.h"

namespace compassdb {

void StatsDump::RemoveTasks() {
  PeriodicTasks::Shared()->Remove(std::exchange(dump_task_, 0));
  PeriodicTasks::Shared()->Remove(std::exchange(history_task_, 0));
}

void StatsDump::Schedule() {
  unsigned dump_period, history_period;
  {
    MutexLock lock(&sources_.mu);
    dump_period = sources_.config.options.stats_dump_period_sec;
    history_period = sources_.config.options.stats_persist_period_sec;
  }
  history_.Limit(HistoryBytes());
  MutexLock lock(&mu_);
  RemoveTasks();
  if (stopped_) return;
  PeriodicTasks* const tasks = PeriodicTasks::Shared();
  if (dump_period > 0 && sources_.config.info_log != nullptr) {
    dump_task_ = tasks->Add(std::chrono::seconds(dump_period), [this] { Dump(); });
  }
  if (history_period > 0 && sources_.config.options.statistics != nullptr) {
    Record();
    history_task_ = tasks->Add(std::chrono::seconds(history_period), [this] { Record(); });
  }
}

void StatsDump::Stop() {
  MutexLock lock(&mu_);
  stopped_ = true;
  RemoveTasks();
}

void StatsDump::Dump() {
  rocksdb::Logger* const log = sources_.config.info_log.get();
  LogInfo(log, "------- DUMPING STATS -------");
  bool first = true;
  for (const auto& family : sources_.families.All()) {
    if (std::exchange(first, false)) LogInfo(log, DBStats(sources_));
    LogInfo(log, CFStats(FamilyState(sources_, family.get())));
  }
  const auto& statistics = sources_.config.options.statistics;
  if (statistics != nullptr) LogInfo(log, "STATISTICS:\n" + statistics->ToString());
}

void StatsDump::Record() {
  StatsHistory::Values tickers;
  if (!sources_.config.options.statistics->getTickerMap(&tickers)) return;
  history_.Add(sources_.config.clock->NowMicros() / 1000000, std::move(tickers), HistoryBytes());
}

size_t StatsDump::HistoryBytes() const {
  MutexLock lock(&sources_.mu);
  return sources_.config.options.stats_history_buffer_size;
}

}  // namespace compassdb
