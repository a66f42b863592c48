// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_cache.h"

#include <string>

#include "cache/cache_key.h"
#include "table/read_stats.h"

namespace compassdb {

PageCache::PageCache(std::shared_ptr<rocksdb::Cache> cache, rocksdb::Statistics* statistics)
    : cache_(std::move(cache)), statistics_(statistics), space_(cache_ == nullptr ? 0 : cache_->NewId()) {}

void PageCache::Hold::Release() {
  if (handle_ != nullptr) cache_->Release(handle_);
  handle_ = nullptr;
}

Slice PageCache::Hold::records() const {
  return *static_cast<const std::string*>(cache_->Value(handle_));
}

void PageCache::Find(uint64_t file_number, uint64_t page, Hold* hold) const {
  if (cache_ == nullptr) return;
  hold->Release();
  hold->cache_ = cache_.get();
  hold->handle_ = cache_->Lookup(CacheKey({space_, file_number, page}).slice());
  if (!hold->found()) {
    Tick(statistics_, rocksdb::BLOCK_CACHE_MISS);
    Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_MISS);
    return;
  }
  if (rocksdb::PerfContext* perf = PerfCounters()) ++perf->block_cache_hit_count;
  if (statistics_ == nullptr) return;
  Tick(statistics_, rocksdb::BLOCK_CACHE_HIT);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_HIT);
  Tick(statistics_, rocksdb::BLOCK_CACHE_BYTES_READ, cache_->GetCharge(hold->handle_));
}

void PageCache::Insert(uint64_t file_number, uint64_t page, uint64_t number, const Slice& records) {
  if (cache_ == nullptr) return;
  auto* const kept = new std::string(records.data(), records.size());
  const size_t charge = kept->capacity() + sizeof(*kept);
  Stripe& stripe = StripeOf(page);
  MutexLock lock(&stripe.mu);
  if (stripe.number.load(std::memory_order_relaxed) != number) {
    delete kept;
    return;
  }
  // A full cache returns an error, and has freed the entry.
  const rocksdb::Status s =
      cache_->Insert(CacheKey({space_, file_number, page}).slice(), kept, charge,
                     [](const Slice&, void* value) { delete static_cast<std::string*>(value); });
  if (!s.ok()) {
    Tick(statistics_, rocksdb::BLOCK_CACHE_ADD_FAILURES);
    return;
  }
  if (statistics_ == nullptr) return;
  Tick(statistics_, rocksdb::BLOCK_CACHE_ADD);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_ADD);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_BYTES_INSERT, charge);
  Tick(statistics_, rocksdb::BLOCK_CACHE_BYTES_WRITE, charge);
}

void PageCache::Erase(uint64_t file_number, uint64_t page) {
  if (cache_ == nullptr) return;
  Stripe& stripe = StripeOf(page);
  MutexLock lock(&stripe.mu);
  stripe.number.fetch_add(1, std::memory_order_release);
  cache_->Erase(CacheKey({space_, file_number, page}).slice());
}

}  // namespace compassdb
