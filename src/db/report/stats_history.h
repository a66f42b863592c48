// SPDX-License-Identifier: Apache-2.0
// What DB::GetStatsHistory tells: by how much each ticker grew, period by period, in memory.
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

  // The tickers at a time in seconds. The first call keeps nothing: it is what the next one is compared
  // with. Of more than `max_bytes` the oldest periods go; 0 keeps none.
  void Add(uint64_t seconds, Values tickers, size_t max_bytes) EXCLUDES(mu_);
  // Forgets what is over a limit that has come down.
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

// `history` must outlive it. Periods that are forgotten meanwhile are passed over.
std::unique_ptr<rocksdb::StatsHistoryIterator> NewStatsHistoryIterator(const StatsHistory* history,
                                                                       uint64_t begin, uint64_t end);

}  // namespace compassdb
