// SPDX-License-Identifier: Apache-2.0
// The factories of rocksdb/cache.h. They all make the same kind of cache, and
// apply the options that have a meaning for it.
#include "cache/sharded_cache.h"

namespace ROCKSDB_NAMESPACE {

const bool kDefaultToAdaptiveMutex = false;

namespace {

compassdb::CacheOptions Common(const ShardedCacheOptions& o) {
  compassdb::CacheOptions options;
  options.capacity = o.capacity;
  options.num_shard_bits = o.num_shard_bits;
  options.strict_capacity_limit = o.strict_capacity_limit;
  options.memory_allocator = o.memory_allocator;
  options.metadata_charge_policy = o.metadata_charge_policy;
  return options;
}

}  // namespace

std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& o) {
  compassdb::CacheOptions options = Common(o);
  options.high_pri_pool_ratio = o.high_pri_pool_ratio;
  options.low_pri_pool_ratio = o.low_pri_pool_ratio;
  options.adaptive_mutex = o.use_adaptive_mutex;
  options.secondary_cache = o.secondary_cache;
  return compassdb::NewShardedCache(options);
}

std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits, bool strict_capacity_limit,
                                   double high_pri_pool_ratio,
                                   std::shared_ptr<MemoryAllocator> memory_allocator,
                                   bool use_adaptive_mutex,
                                   CacheMetadataChargePolicy metadata_charge_policy,
                                   double low_pri_pool_ratio) {
  return NewLRUCache(LRUCacheOptions(capacity, num_shard_bits, strict_capacity_limit,
                                     high_pri_pool_ratio, std::move(memory_allocator),
                                     use_adaptive_mutex, metadata_charge_policy,
                                     low_pri_pool_ratio));
}

// Its table grows with its contents, so estimated_entry_charge has nothing to size.
std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const {
  compassdb::CacheOptions options = Common(*this);
  options.name = "HyperClockCache";
  return compassdb::NewShardedCache(options);
}

std::shared_ptr<Cache> NewClockCache(size_t capacity, int num_shard_bits,
                                     bool strict_capacity_limit,
                                     CacheMetadataChargePolicy metadata_charge_policy) {
  return NewLRUCache(capacity, num_shard_bits, strict_capacity_limit,
                     /*high_pri_pool_ratio=*/0.5, nullptr, kDefaultToAdaptiveMutex,
                     metadata_charge_policy);
}

}  // namespace ROCKSDB_NAMESPACE
