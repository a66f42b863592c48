// SPDX-License-Identifier: Apache-2.0
// Writes the statistics of a database into LOG, and keeps their history, in periods of the shared
// timer's (services/periodic_tasks.h).
//
// Thread safety: all methods. Lock order: mu_ > the database mutex.
#pragma once

#include "db/report/report_sources.h"
#include "db/report/stats_history.h"
#include "util/mutex.h"

namespace compassdb {

class StatsDump {
 public:
  explicit StatsDump(const ReportSources& sources) : sources_(sources) {}
  // Begins, or continues, with the periods of the database's current options.
  void Schedule() EXCLUDES(mu_);
  // Permanently; waits for a running write.
  void Stop() EXCLUDES(mu_);
  const StatsHistory* history() const { return &history_; }

 private:
  void RemoveTasks() REQUIRES(mu_);
  void Dump();
  void Record();
  size_t HistoryBytes() const;

  const ReportSources& sources_;
  StatsHistory history_;
  Mutex mu_;
  uint64_t dump_task_ GUARDED_BY(mu_) = 0;
  uint64_t history_task_ GUARDED_BY(mu_) = 0;
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
