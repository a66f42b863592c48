// SPDX-License-Identifier: Apache-2.0
#include "table/directory/index_cache.h"

#include <atomic>
#include <random>

#include "cache/cache_key.h"
#include "table/read_stats.h"

namespace compassdb {

namespace {

// Cache keys of data blocks begin with the random ids of files. This is another random id.
uint64_t KeySpace() {
  static const uint64_t space = [] {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32) | device();
  }();
  return space;
}

constexpr uint32_t kPageBits = 24;

CacheKey<2> KeyInCache(const IndexCache::Key& key) { return CacheKey({KeySpace(), key.id << kPageBits | key.page}); }

}  // namespace

rocksdb::Status IndexNotInMemory() {
  return rocksdb::Status::Incomplete("index is not in memory, and no file may be read");
}

IndexCache::Key IndexCache::NewKey(Kind kind) {
  static std::atomic<uint64_t> next{1};
  return {next.fetch_add(1, std::memory_order_relaxed), 0, kind};
}

IndexCache::Pin IndexCache::Lookup(const Key& key) const {
  if (cache_ == nullptr) return Pin();
  const bool filter = key.kind == Kind::kFilter;
  rocksdb::Cache::Handle* const handle = cache_->Lookup(KeyInCache(key).slice(), statistics_);
  if (handle == nullptr) {
    Tick(statistics_, rocksdb::BLOCK_CACHE_MISS);
    Tick(statistics_, filter ? rocksdb::BLOCK_CACHE_FILTER_MISS : rocksdb::BLOCK_CACHE_INDEX_MISS);
    return Pin();
  }
  Tick(statistics_, rocksdb::BLOCK_CACHE_HIT);
  Tick(statistics_, filter ? rocksdb::BLOCK_CACHE_FILTER_HIT : rocksdb::BLOCK_CACHE_INDEX_HIT);
  if (rocksdb::PerfContext* perf = PerfCounters()) {
    ++perf->block_cache_hit_count;
    ++(filter ? perf->block_cache_filter_hit_count : perf->block_cache_index_hit_count);
  }
  return Pin(cache_.get(), handle);
}

IndexCache::Pin IndexCache::Insert(const Key& key, void* value, rocksdb::Cache::DeleterFn deleter,
                                   size_t charge) const {
  if (cache_ == nullptr) return Pin();
  rocksdb::Cache::Handle* handle = nullptr;
  const rocksdb::Status s =
      cache_->Insert(KeyInCache(key).slice(), value, charge, deleter, &handle, priority_);
  if (!s.ok()) {
    Tick(statistics_, rocksdb::BLOCK_CACHE_ADD_FAILURES);
    return Pin();
  }
  const bool filter = key.kind == Kind::kFilter;
  Tick(statistics_, rocksdb::BLOCK_CACHE_ADD);
  Tick(statistics_, filter ? rocksdb::BLOCK_CACHE_FILTER_ADD : rocksdb::BLOCK_CACHE_INDEX_ADD);
  Tick(statistics_, filter ? rocksdb::BLOCK_CACHE_FILTER_BYTES_INSERT
                           : rocksdb::BLOCK_CACHE_INDEX_BYTES_INSERT,
       charge);
  Tick(statistics_, rocksdb::BLOCK_CACHE_BYTES_WRITE, charge);
  return Pin(cache_.get(), handle);
}

void IndexCache::CountRead(const Key& key) const {
  rocksdb::PerfContext* const perf = PerfCounters();
  if (perf == nullptr) return;
  ++perf->block_read_count;
  ++(key.kind == Kind::kFilter ? perf->filter_block_read_count : perf->index_block_read_count);
}

void IndexCache::Erase(const Key& key) const {
  if (cache_ != nullptr) cache_->Erase(KeyInCache(key).slice());
}

}  // namespace compassdb
