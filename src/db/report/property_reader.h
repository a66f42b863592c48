// SPDX-License-Identifier: Apache-2.0
// Reads what properties tell of one column family, at one moment.
//
// Thread safety: one thread. Takes the database mutex shortly in Collect.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/db_impl.h"
#include "rocksdb/table_properties.h"

namespace compassdb {

class PropertyReader {
 public:
  PropertyReader(DBImpl* db, ColumnFamily* family) : db_(db), family_(family) {}

  // False if there is no such property, or it is not a number / a text.
  bool Int(const std::string& name, uint64_t* value);
  bool Text(const std::string& name, std::string* value);
  bool Map(const std::string& name, std::map<std::string, std::string>* value);
  static bool IsInt(const std::string& name);

  // Text reports (stats_report.cc).
  std::string CompassStats();
  std::string CompassStatsJson();
  std::string CFStats();
  std::string DBStats();
  std::string LevelStatsText();
  std::string Tables();
  void CFStatsMap(std::map<std::string, std::string>* value);
  void DBStatsMap(std::map<std::string, std::string>* value);

 private:
  friend struct IntProperties;
  struct Amplification {
    double write = 0, space = 0;
  };
  void Collect();  // once; fills what follows
  LevelStats Sum();  // over all levels
  rocksdb::TableProperties TableTotals(int wanted);
  // `name` is the prefix and a level of the family.
  bool IsLevelOf(const std::string& name, const std::string& prefix, size_t* level) const;
  Amplification Amplify();

  DBImpl* const db_;
  ColumnFamily* const family_;
  bool collected_ = false;
  std::shared_ptr<const StoreView> view_;
  std::vector<LevelStats> levels_;
  std::vector<std::shared_ptr<MemTable>> memtables_;  // the active one first
  size_t immutables_ = 0;
  bool flush_pending_ = false, compaction_pending_ = false;
  uint64_t pending_bytes_ = 0;
  uint64_t value_bound_ = 0;
  uint64_t rehashing_ = 0;
  int flushes_running_ = 0, compactions_running_ = 0;
  StallState stall_ = StallState::kNormal;
  uint64_t delayed_rate_ = 0;
  uint64_t oldest_log_ = 0;
};

}  // namespace compassdb
