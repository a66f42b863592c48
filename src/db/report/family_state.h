// SPDX-License-Identifier: Apache-2.0
// The state of one column family at one moment, for properties and reports.
//
// Thread safety: none. The constructor takes the database mutex, shortly.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/report/report_sources.h"
#include "rocksdb/table_properties.h"

namespace compassdb {

struct FamilyState {
  FamilyState(const ReportSources& of, ColumnFamily* family_of);

  LevelStats Sum() const;  // over all levels
  // The sums over the pieces of a level; `wanted` below 0: of all levels.
  rocksdb::TableProperties TableTotals(int wanted) const;

  const ReportSources& sources;
  ColumnFamily* const family;
  std::shared_ptr<const StoreView> view;
  std::vector<LevelStats> levels;
  std::vector<std::shared_ptr<MemTable>> memtables;  // the active one first
  bool flush_pending = false, compaction_pending = false;
  uint64_t pending_bytes = 0;
  uint64_t value_bound = 0;
  uint64_t rehashing = 0;
  int flushes_running = 0, compactions_running = 0;
  StallState stall = StallState::kNormal;
  uint64_t delayed_rate = 0;
  uint64_t oldest_log = 0;
};

}  // namespace compassdb
