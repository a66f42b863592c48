// SPDX-License-Identifier: Apache-2.0
// Pages of one store in the block cache, without their zeros.
//
// Pages change in place, so an entry must be removed when its page is written, and a reader must not add what
// it read before. Each page belongs to one of a few stripes with a number: a reader takes the number before it
// reads the page, and inserts under the stripe's lock if the number is still the same; a writer raises the
// number and erases the entry under that lock, after the write.
//
// Thread safety: all methods. Lock order: a stripe's mutex, then the cache's.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::Slice;

class PageCache {
 public:
  // `cache` may be null: nothing is kept. Hits, misses and additions count in `statistics` (may be null, else
  // outlives this) as those of data blocks.
  explicit PageCache(std::shared_ptr<rocksdb::Cache> cache, rocksdb::Statistics* statistics = nullptr);

  // The page's records, held until the destructor; `found`: whether they are in the cache.
  class Hold {
   public:
    Hold() = default;
    ~Hold() { Release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    bool found() const { return handle_ != nullptr; }
    Slice records() const;
    void Release();

   private:
    friend class PageCache;
    rocksdb::Cache* cache_ = nullptr;
    rocksdb::Cache::Handle* handle_ = nullptr;
  };
  void Find(uint64_t file_number, uint64_t page, Hold* hold) const;
  uint64_t Number(uint64_t page) const { return StripeOf(page).number.load(std::memory_order_acquire); }
  // A page whose Number had this value before it was read.
  void Insert(uint64_t file_number, uint64_t page, uint64_t number, const Slice& records);
  // The page was written.
  void Erase(uint64_t file_number, uint64_t page);
  bool enabled() const { return cache_ != nullptr; }

 private:
  struct alignas(64) Stripe {
    Mutex mu;
    std::atomic<uint64_t> number{0};
  };
  Stripe& StripeOf(uint64_t page) const { return stripes_[page % kStripes]; }

  static constexpr size_t kStripes = 256;
  const std::shared_ptr<rocksdb::Cache> cache_;
  rocksdb::Statistics* const statistics_;
  const uint64_t space_;
  mutable std::array<Stripe, kStripes> stripes_;
};

}  // namespace compassdb
