// SPDX-License-Identifier: Apache-2.0
// Counting on the read path: tickers of the database, counters of the thread.
#pragma once

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "util/perf_timer.h"

namespace compassdb {

inline void Tick(rocksdb::Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}

// The thread's counters, or null where SetPerfLevel switched them off.
inline rocksdb::PerfContext* PerfCounters() {
  return rocksdb::GetPerfLevel() >= rocksdb::kEnableCount ? rocksdb::get_perf_context() : nullptr;
}

// A read of a file for data blocks.
inline void CountBlockRead(uint64_t bytes) {
  rocksdb::PerfContext* const perf = PerfCounters();
  if (perf == nullptr) return;
  ++perf->block_read_count;
  perf->block_read_byte += bytes;
}

}  // namespace compassdb
