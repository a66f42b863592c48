// SPDX-License-Identifier: Apache-2.0
// Counting into a Statistics object that may be absent.
#pragma once

#include <cstdint>

#include "env/clock.h"
#include "rocksdb/statistics.h"
#include "store/store.h"

namespace compassdb {

inline void Tick(rocksdb::Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}
inline void Record(rocksdb::Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->recordInHistogram(histogram, value);
}

// The records that a merge left out, by the reason.
inline void CountMerged(rocksdb::Statistics* statistics, const JobReport& report) {
  const CompactionIteratorStats& merged = report.merged;
  // As RocksDB has it, a range tombstone is a newer entry.
  Tick(statistics, rocksdb::COMPACTION_KEY_DROP_NEWER_ENTRY,
       merged.dropped_hidden + merged.dropped_range_deleted);
  Tick(statistics, rocksdb::COMPACTION_KEY_DROP_OBSOLETE,
       merged.dropped_tombstones + report.range_tombstones_dropped);
  Tick(statistics, rocksdb::COMPACTION_KEY_DROP_RANGE_DEL, merged.dropped_range_deleted);
  Tick(statistics, rocksdb::COMPACTION_KEY_DROP_USER, merged.dropped_by_filter);
  Tick(statistics, rocksdb::COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE, merged.dropped_early);
  Tick(statistics, rocksdb::COMPACTION_RANGE_DEL_DROP_OBSOLETE, report.range_tombstones_dropped);
  Tick(statistics, rocksdb::FILTER_OPERATION_TOTAL_TIME, merged.filter_nanos);
  if (report.cpu_micros != 0) Record(statistics, rocksdb::COMPACTION_CPU_TIME, report.cpu_micros);
}

// Times a scope, in microseconds, if the statistics want timers.
class StopWatch {
 public:
  StopWatch(Clock* clock, rocksdb::Statistics* statistics, uint32_t histogram)
      : clock_(clock), statistics_(Wanted(statistics) ? statistics : nullptr),
        histogram_(histogram), start_(statistics_ != nullptr ? clock->NowNanos() : 0) {}
  ~StopWatch() {
    if (statistics_ != nullptr) {
      statistics_->reportTimeToHistogram(histogram_, (clock_->NowNanos() - start_) / 1000);
    }
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  static bool Wanted(rocksdb::Statistics* statistics) {
    return statistics != nullptr &&
           statistics->get_stats_level() > rocksdb::StatsLevel::kExceptTimers;
  }
  Clock* const clock_;
  rocksdb::Statistics* const statistics_;
  const uint32_t histogram_;
  const uint64_t start_;
};

}  // namespace compassdb
