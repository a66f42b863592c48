// SPDX-License-Identifier: Apache-2.0
// Caches, their memory, rate limiters and paths.
#include <memory>
#include <utility>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using compassdb::OrNull;

extern "C" {

rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr) {
  std::shared_ptr<rocksdb::MemoryAllocator> allocator;
  if (!compassdb::Succeeds(errptr, [&] {
        rocksdb::JemallocAllocatorOptions options;
        return rocksdb::NewJemallocNodumpAllocator(options, &allocator);
      })) {
    return nullptr;
  }
  return compassdb::Create<rocksdb_memory_allocator_t>(std::move(allocator));
}

void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* allocator) { delete allocator; }

void rocksdb_lru_cache_options_set_memory_allocator(rocksdb_lru_cache_options_t* opt,
                                                    rocksdb_memory_allocator_t* allocator) {
  opt->rep.memory_allocator = allocator->rep;
}

rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) {
  return OrNull([&] { return new rocksdb_cache_t{rocksdb::NewLRUCache(capacity)}; });
}

rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity) {
  return OrNull([&] { return new rocksdb_cache_t{rocksdb::NewLRUCache(capacity, -1, true)}; });
}

rocksdb_cache_t* rocksdb_cache_create_lru_opts(rocksdb_lru_cache_options_t* opt) {
  return OrNull([&] { return new rocksdb_cache_t{rocksdb::NewLRUCache(opt->rep)}; });
}

void rocksdb_cache_destroy(rocksdb_cache_t* cache) { delete cache; }

void rocksdb_cache_disown_data(rocksdb_cache_t* cache) { cache->rep->DisownData(); }

void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) {
  MustSucceed([&] { cache->rep->SetCapacity(capacity); });
}

size_t rocksdb_cache_get_capacity(rocksdb_cache_t* cache) { return cache->rep->GetCapacity(); }

size_t rocksdb_cache_get_usage(rocksdb_cache_t* cache) { return cache->rep->GetUsage(); }

size_t rocksdb_cache_get_pinned_usage(rocksdb_cache_t* cache) { return cache->rep->GetPinnedUsage(); }

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                                  int32_t fairness) {
  return OrNull([&] {
    std::shared_ptr<rocksdb::RateLimiter> limiter(
        rocksdb::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness));
    return new rocksdb_ratelimiter_t{std::move(limiter)};
  });
}

void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) { delete limiter; }

rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size) {
  return OrNull([&] { return new rocksdb_dbpath_t{rocksdb::DbPath(path, target_size)}; });
}

void rocksdb_dbpath_destroy(rocksdb_dbpath_t* dbpath) { delete dbpath; }

}  // extern "C"
