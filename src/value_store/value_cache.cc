// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_cache.h"

#include <cstdlib>
#include <cstring>
#include <random>

#include "cache/cache_key.h"
#include "table/read_stats.h"

namespace compassdb {

namespace {

struct CachedValue {
  size_t size;
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  char* data() { return reinterpret_cast<char*>(this + 1); }
};

void ReleaseHandle(void* cache, void* handle) {
  static_cast<rocksdb::Cache*>(cache)->Release(static_cast<rocksdb::Cache::Handle*>(handle));
}

}  // namespace

uint64_t NewValueCacheSpace() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

bool FindCachedValue(const ValueContext& context, uint64_t number, rocksdb::PinnableSlice* value) {
  rocksdb::Statistics* const statistics = context.tables->options.statistics;
  rocksdb::Cache* const cache = context.cache.get();
  rocksdb::Cache::Handle* const handle = cache->Lookup(CacheKey({context.cache_space, number}).slice());
  if (handle == nullptr) {
    Tick(statistics, rocksdb::BLOB_DB_CACHE_MISS);
    return false;
  }
  const auto* const cached = static_cast<const CachedValue*>(cache->Value(handle));
  Tick(statistics, rocksdb::BLOB_DB_CACHE_HIT);
  Tick(statistics, rocksdb::BLOB_DB_CACHE_BYTES_READ, cached->size);
  if (rocksdb::PerfContext* perf = PerfCounters()) ++perf->blob_cache_hit_count;
  value->PinSlice(Slice(cached->data(), cached->size), &ReleaseHandle, cache, handle);
  return true;
}

void KeepValue(const ValueContext& context, uint64_t number, const Slice& value) {
  rocksdb::Statistics* const statistics = context.tables->options.statistics;
  const size_t bytes = sizeof(CachedValue) + value.size();
  auto* const cached = static_cast<CachedValue*>(malloc(bytes));
  if (cached == nullptr) return;
  cached->size = value.size();
  memcpy(cached->data(), value.data(), value.size());
  Status s = context.cache->Insert(CacheKey({context.cache_space, number}).slice(), cached, bytes,
                                   [](const Slice&, void* entry) { free(entry); });
  if (s.ok()) {
    Tick(statistics, rocksdb::BLOB_DB_CACHE_ADD);
    Tick(statistics, rocksdb::BLOB_DB_CACHE_BYTES_WRITE, value.size());
  } else {
    Tick(statistics, rocksdb::BLOB_DB_CACHE_ADD_FAILURES);  // the cache has freed it
  }
}

}  // namespace compassdb
