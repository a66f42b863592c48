// SPDX-License-Identifier: Apache-2.0
// The data of DB::GetStatsHistory: by how much each ticker grew, period by period, in memory.
//
// Thread safety: all methods.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/stats_history.h"
#include "util/mutex.h"

namespace compassdb {

class StatsHistory {
 public:
  using Values = std::map<std::string, uint64_t>;

  // The tickers at a time in seconds. The first call keeps no period: the next one is compared with
  // it. Above `max_bytes` the oldest periods are deleted; 0 keeps none.
  void Add(uint64_t seconds, Values tickers, size_t max_bytes) EXCLUDES(mu_);
  // Deletes periods above a lower limit.
  void Limit(size_t max_bytes) EXCLUDES(mu_);
  // The first period that ends at `begin` or later and before `end`.
  bool Find(uint64_t begin, uint64_t end, uint64_t* seconds, Values* growth) const EXCLUDES(mu_);

 private:
  void Trim(size_t max_bytes) REQUIRES(mu_);

  mutable Mutex mu_;  // a leaf lock
  bool has_last_ GUARDED_BY(mu_) = false;
  Values last_ GUARDED_BY(mu_);
  std::map<uint64_t, Values> periods_ GUARDED_BY(mu_);  // by the second of their end
  size_t bytes_ GUARDED_BY(mu_) = 0;
};

// `history` must outlive it. Periods that are deleted since are skipped.
std::unique_ptr<rocksdb::StatsHistoryIterator> NewStatsHistoryIterator(const StatsHistory* history,
                                                                       uint64_t begin, uint64_t end);

}  // namespace compassdb
