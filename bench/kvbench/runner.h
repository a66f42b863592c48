// SPDX-License-Identifier: Apache-2.0
// Runs one workload: starts the clients, shows progress, keeps the memory
// split, waits until the engine has no pending work, and takes all measurements.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client.h"
#include "device_counters.h"
#include "engine.h"
#include "flags.h"
#include "key_set.h"

namespace kvbench {

struct WorkloadResult {
  uint64_t operations = 0;
  double seconds = 0;             // clients and the background work they caused
  double foreground_seconds = 0;  // clients alone
  ClientResult clients;           // of all threads together
  DeviceCounters before, after;
  uint64_t peak_rss_bytes = 0;
  uint64_t db_bytes = 0;
  uint64_t file_bytes = 0;  // holes included
  uint64_t peak_db_bytes = 0;  // seen ten times a second while the workload wrote
  uint64_t live_keys = 0;
  uint64_t live_bytes = 0;
  int64_t index_memory_bytes = -1;
  double open_seconds = 0;  // of the database, before this process's first workload
  TableBytes tables_before, tables_after;
  std::vector<uint64_t> done_by_second;  // operations of all clients, in each second of their run
  std::vector<std::pair<std::string, int64_t>> properties;  // -1: the engine has none of that name
};

rocksdb::Status RunWorkload(const Flags& flags, const WorkloadSpec& spec, Engine* engine,
                            KeySet* keys, WorkloadResult* result);

}  // namespace kvbench
