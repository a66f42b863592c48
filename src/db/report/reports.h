// SPDX-License-Identifier: Apache-2.0
// The database's reports: properties, and statistics in periods.
//
// Thread safety: all methods, except AddWalDamage, which is for recovery.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "db/report/stats_dump.h"

namespace compassdb {

class Reports {
 public:
  explicit Reports(const ReportSources& sources)
      : sources_(sources), stats_dump_(sources_) {
    sources_.written.began_nanos = sources_.config.clock->NowNanos();
  }

  // Properties of a family, or of the whole database. False if there is no such property.
  bool GetProperty(ColumnFamily* family, const std::string& name, std::string* value) const;
  bool GetMapProperty(ColumnFamily* family, const std::string& name, std::map<std::string, std::string>* value) const;
  bool GetIntProperty(ColumnFamily* family, const std::string& name, uint64_t* value) const;
  bool GetAggregatedIntProperty(const std::string& name, uint64_t* value) const;
  void ResetStats();
  Status GetStatsHistory(uint64_t begin, uint64_t end, std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) const;

  // A line about records that recovery found and could not replay.
  void AddWalDamage(const std::string& line) { wal_damage_ += line + "\n"; }

  StatsDump* stats_dump() { return &stats_dump_; }

 private:
  const ReportSources sources_;
  std::string wal_damage_;
  StatsDump stats_dump_;
};

}  // namespace compassdb
