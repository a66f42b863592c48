// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/memory_util.h"

namespace ROCKSDB_NAMESPACE {

Status MemoryUtil::GetApproximateMemoryUsageByType(
    const std::vector<DB*>& dbs, const std::unordered_set<const Cache*> cache_set,
    std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type) {
  usage_by_type->clear();
  const std::pair<UsageType, const std::string*> properties[] = {
      {kMemTableTotal, &DB::Properties::kSizeAllMemTables},
      {kMemTableUnFlushed, &DB::Properties::kCurSizeAllMemTables},
      {kTableReadersTotal, &DB::Properties::kEstimateTableReadersMem}};
  for (const auto& [type, property] : properties) {
    for (DB* db : dbs) {
      uint64_t bytes = 0;
      if (db != nullptr && db->GetAggregatedIntProperty(*property, &bytes)) {
        (*usage_by_type)[type] += bytes;
      }
    }
  }
  for (const Cache* cache : cache_set) {
    if (cache != nullptr) (*usage_by_type)[kCacheTotal] += cache->GetUsage();
  }
  return Status::OK();
}

}  // namespace ROCKSDB_NAMESPACE
