// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class DBImpl;

// Statistics over time: see DB::GetStatsHistory(). One thread at a time.
class StatsHistoryIterator {
 public:
  StatsHistoryIterator() {}
  virtual ~StatsHistoryIterator() {}
  virtual bool Valid() const = 0;

  // REQUIRES: Valid().
  virtual void Next() = 0;

  // Seconds since 1970.
  virtual uint64_t GetStatsTime() const = 0;

  // The version of the stored form.
  virtual int GetFormatVersion() const { return -1; }

  // What each ticker grew by since the time before.
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
  virtual Status status() const = 0;
};

}  // namespace ROCKSDB_NAMESPACE
