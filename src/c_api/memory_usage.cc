// SPDX-License-Identifier: Apache-2.0
// How much memory databases and caches hold.
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/utilities/memory_util.h"

using compassdb::MustSucceed;
using rocksdb::MemoryUtil;

// What they name must outlive it.
struct rocksdb_memory_consumers_t {
  std::vector<rocksdb_t*> databases;
  std::vector<rocksdb_cache_t*> caches;
};
struct rocksdb_memory_usage_t {
  std::map<MemoryUtil::UsageType, uint64_t> by_type;
};

extern "C" {

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create(void) {
  return compassdb::Create<rocksdb_memory_consumers_t>();
}

void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db) {
  MustSucceed([&] { consumers->databases.push_back(db); });
}

void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers, rocksdb_cache_t* cache) {
  MustSucceed([&] { consumers->caches.push_back(cache); });
}

void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) { delete consumers; }

rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(rocksdb_memory_consumers_t* consumers,
                                                                char** errptr) {
  rocksdb_memory_usage_t* result = nullptr;
  compassdb::Succeeds(errptr, [&] {
    auto usage = std::make_unique<rocksdb_memory_usage_t>();
    std::vector<rocksdb::DB*> databases;
    for (const rocksdb_t* db : consumers->databases) databases.push_back(db->rep);
    std::unordered_set<const rocksdb::Cache*> caches;
    for (const rocksdb_cache_t* cache : consumers->caches) caches.insert(cache->rep.get());
    const rocksdb::Status s =
        MemoryUtil::GetApproximateMemoryUsageByType(databases, caches, &usage->by_type);
    if (s.ok()) result = usage.release();
    return s;
  });
  return result;
}

void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) { delete usage; }

uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->by_type[MemoryUtil::kMemTableTotal];
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->by_type[MemoryUtil::kMemTableUnFlushed];
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->by_type[MemoryUtil::kTableReadersTotal];
}

uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->by_type[MemoryUtil::kCacheTotal];
}

}  // extern "C"
