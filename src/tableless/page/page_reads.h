// SPDX-License-Identifier: Apache-2.0
// Reads of pages, journals and the overflow store, in Statistics and in the thread's PerfContext, under the names
// that data blocks have (table/read_stats.h).
#pragma once

#include "table/read_stats.h"
#include "table/stat_timer.h"

namespace compassdb {

// Times one read of a file, or several concurrent ones. One thread.
class PageReadTimer {
 public:
  explicit PageReadTimer(rocksdb::Statistics* statistics)
      : micros_(statistics, rocksdb::SST_READ_MICROS), perf_(&rocksdb::PerfContext::block_read_time) {}

 private:
  const StatTimer micros_;
  PerfTimer perf_;
};

// This many pages or records were read, each with a checksum to be verified.
inline void CountPagesRead(rocksdb::Statistics* statistics, uint64_t pages, uint64_t bytes) {
  if (pages == 0) return;
  Tick(statistics, rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT, pages);
  rocksdb::PerfContext* const perf = PerfCounters();
  if (perf == nullptr) return;
  perf->block_read_count += pages;
  perf->block_read_byte += bytes;
}

}  // namespace compassdb
