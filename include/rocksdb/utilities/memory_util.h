// SPDX-License-Identifier: Apache-2.0
//
// How much memory several databases and caches take together.

#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"

namespace ROCKSDB_NAMESPACE {

class MemoryUtil {
 public:
  enum UsageType : int {
    kMemTableTotal = 0,      // memtables, those that readers hold included
    kMemTableUnFlushed = 1,  // memtables that are not flushed yet
    kTableReadersTotal = 2,  // indexes in memory, outside of the block cache
    kCacheTotal = 3,         // the given caches
    kNumUsageTypes = 4
  };

  // Sums over the databases and over `cache_set`; caches of the databases that are not in the set
  // do not count. Null databases and caches are skipped.
  static Status GetApproximateMemoryUsageByType(
      const std::vector<DB*>& dbs, const std::unordered_set<const Cache*> cache_set,
      std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type);
};

}  // namespace ROCKSDB_NAMESPACE
