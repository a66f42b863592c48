// SPDX-License-Identifier: Apache-2.0
//
// What the calling thread's file operations cost. Times are taken from
// PerfLevel::kEnableTimeExceptForMutex on, CPU times from the level after it.
//
// Thread safety: get_iostats_context() gives each thread an object of its own.

#pragma once

#include <stdint.h>
#include <string>

#include "rocksdb/perf_level.h"

namespace ROCKSDB_NAMESPACE {

// Reads by the temperature of the file, in bytes and in calls.
struct FileIOByTemperature {
  uint64_t hot_file_bytes_read = 0;
  uint64_t warm_file_bytes_read = 0;
  uint64_t cold_file_bytes_read = 0;
  uint64_t hot_file_read_count = 0;
  uint64_t warm_file_read_count = 0;
  uint64_t cold_file_read_count = 0;

  void Reset() { *this = FileIOByTemperature(); }
};

// Names that end in _nanos are times in nanoseconds.
struct IOStatsContext {
  // Sets everything to 0.
  void Reset();

  // "name = value, ...", on request without those that are 0.
  std::string ToString(bool exclude_zero_counters = false) const;

  // Env::Priority of the thread's pool; its number of priorities for threads of the application.
  uint64_t thread_pool_id = 4;  // Env::Priority::TOTAL
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  // Opening, allocating, writing and reading files.
  uint64_t open_nanos = 0;
  uint64_t allocate_nanos = 0;
  uint64_t write_nanos = 0;
  uint64_t read_nanos = 0;

  // Making data durable.
  uint64_t range_sync_nanos = 0;
  uint64_t fsync_nanos = 0;

  // Getting ready to write, and writing the information log.
  uint64_t prepare_write_nanos = 0;
  uint64_t logger_nanos = 0;

  // CPU time of writing and reading.
  uint64_t cpu_write_nanos = 0;
  uint64_t cpu_read_nanos = 0;

  // Reads by temperature.
  FileIOByTemperature file_io_stats_by_temperature;

  // Stops counting bytes.
  bool disable_iostats = false;
};

// Never null. Belongs to the calling thread.
IOStatsContext* get_iostats_context();

}  // namespace ROCKSDB_NAMESPACE
