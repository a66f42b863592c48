// SPDX-License-Identifier: Apache-2.0
// How much memory databases and caches hold.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;

// What they name must outlive it.
struct rocksdb_memory_consumers_t {
  std::vector<rocksdb_t*> databases;
  std::vector<rocksdb_cache_t*> caches;
};
struct rocksdb_memory_usage_t {
  uint64_t memtables = 0;
  uint64_t unflushed = 0;
  uint64_t readers = 0;
  uint64_t caches = 0;
};

namespace {

void Add(rocksdb::DB* db, const std::string& property, uint64_t* sum) {
  uint64_t bytes = 0;
  if (db->GetAggregatedIntProperty(property, &bytes)) *sum += bytes;
}

}  // namespace

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
    for (const rocksdb_t* db : consumers->databases) {
      Add(db->rep, rocksdb::DB::Properties::kSizeAllMemTables, &usage->memtables);
      Add(db->rep, rocksdb::DB::Properties::kCurSizeAllMemTables, &usage->unflushed);
      Add(db->rep, rocksdb::DB::Properties::kEstimateTableReadersMem, &usage->readers);
    }
    std::set<const rocksdb::Cache*> caches;  // each once
    for (const rocksdb_cache_t* cache : consumers->caches) caches.insert(cache->rep.get());
    for (const rocksdb::Cache* cache : caches) usage->caches += cache->GetUsage();
    result = usage.release();
    return rocksdb::Status::OK();
  });
  return result;
}

void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) { delete usage; }

uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->memtables;
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->unflushed;
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->readers;
}

uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* memory_usage) {
  return memory_usage->caches;
}

}  // extern "C"
