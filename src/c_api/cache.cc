// SPDX-License-Identifier: Apache-2.0
// Caches, their memory, rate limiters and paths.
#include <memory>
#include <utility>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using rocksdb::RateLimiter;

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

rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity, size_t estimated_entry_charge) {
  return OrNull([&] {
    return new rocksdb_cache_t{
        rocksdb::HyperClockCacheOptions(capacity, estimated_entry_charge).MakeSharedCache()};
  });
}

rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(const rocksdb_hyper_clock_cache_options_t* opts) {
  return OrNull([&] { return new rocksdb_cache_t{opts->rep.MakeSharedCache()}; });
}

rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(size_t capacity,
                                                                              size_t estimated_entry_charge) {
  return OrNull([&] {
    return new rocksdb_hyper_clock_cache_options_t{
        rocksdb::HyperClockCacheOptions(capacity, estimated_entry_charge)};
  });
}

void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t* opts) { delete opts; }

void rocksdb_hyper_clock_cache_options_set_capacity(rocksdb_hyper_clock_cache_options_t* opts, size_t capacity) {
  opts->rep.capacity = capacity;
}

void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(rocksdb_hyper_clock_cache_options_t* opts,
                                                                  size_t estimated_entry_charge) {
  opts->rep.estimated_entry_charge = estimated_entry_charge;
}

void rocksdb_hyper_clock_cache_options_set_num_shard_bits(rocksdb_hyper_clock_cache_options_t* opts,
                                                          int num_shard_bits) {
  opts->rep.num_shard_bits = num_shard_bits;
}

void rocksdb_hyper_clock_cache_options_set_memory_allocator(rocksdb_hyper_clock_cache_options_t* opts,
                                                            rocksdb_memory_allocator_t* memory_allocator) {
  opts->rep.memory_allocator = memory_allocator->rep;
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
  return rocksdb_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness,
                                              static_cast<int>(RateLimiter::Mode::kWritesOnly), false);
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                             int64_t refill_period_us, int32_t fairness) {
  return rocksdb_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness,
                                              static_cast<int>(RateLimiter::Mode::kWritesOnly), true);
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                                            int32_t fairness, int mode, bool auto_tuned) {
  return OrNull([&] {
    std::shared_ptr<RateLimiter> limiter(rocksdb::NewGenericRateLimiter(
        rate_bytes_per_sec, refill_period_us, fairness, static_cast<RateLimiter::Mode>(mode), auto_tuned));
    return new rocksdb_ratelimiter_t{std::move(limiter)};
  });
}

void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) { delete limiter; }

rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size) {
  return OrNull([&] { return new rocksdb_dbpath_t{rocksdb::DbPath(path, target_size)}; });
}

void rocksdb_dbpath_destroy(rocksdb_dbpath_t* dbpath) { delete dbpath; }

}  // extern "C"
