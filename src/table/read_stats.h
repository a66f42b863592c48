// SPDX-License-Identifier: Apache-2.0
// Counting on the read path: tickers of the database, counters of the thread.
#pragma once

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "table/read_options.h"
#include "util/perf_span.h"
#include "util/perf_timer.h"

namespace compassdb {

inline void Tick(rocksdb::Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}

// The thread's counters, or null if SetPerfLevel switched them off.
inline rocksdb::PerfContext* PerfCounters() {
  return CurrentPerfLevel() >= rocksdb::kEnableCount ? CurrentPerfContext() : nullptr;
}

// The histogram for the time of reading a block from its file.
inline uint32_t BlockReadHistogram(const BlockReadOptions& read) {
  return read.whole_piece ? rocksdb::READ_BLOCK_COMPACTION_MICROS : rocksdb::READ_BLOCK_GET_MICROS;
}

// A point read found its key in a table of that level.
inline void CountLevelHit(rocksdb::Statistics* statistics, int level) {
  if (statistics == nullptr) return;
  Tick(statistics, level == 0   ? rocksdb::GET_HIT_L0
                   : level == 1 ? rocksdb::GET_HIT_L1
                                : rocksdb::GET_HIT_L2_AND_UP);
}

// A read of a file for data blocks.
inline void CountBlockRead(uint64_t bytes) {
  rocksdb::PerfContext* const perf = PerfCounters();
  if (perf == nullptr) return;
  ++perf->block_read_count;
  perf->block_read_byte += bytes;
}

}  // namespace compassdb
