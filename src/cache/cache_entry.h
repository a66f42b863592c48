// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "rocksdb/cache.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

// The cache's data about a value, followed by its key.
//
// There are two kinds. The cache owns the memory of a *plain* entry, and its
// value is deleted with the last reference. An *embedded* entry is inside its
// value. The deleter frees both, and only when no EpochGuard that could have
// found the entry exists. So an embedded entry can be read without a
// reference.
//
// There may be a pointer to an embedded entry in the table, a *hint*
// (ShardedCache::SetHint). It is set to null when the entry leaves the table. So, like the table's
// slot, it leads no EpochGuard that begins later to the entry.
//
// Thread safety: `hits` and `refs` by all that may read the entry, the rest is
// set before insertion or guarded by the shard's lock.
struct CacheEntry {
  CacheEntry* newer = nullptr;  // neighbours in the queue
  CacheEntry* older = nullptr;
  rocksdb::Cache::DeleterFn deleter = nullptr;
  const rocksdb::Cache::CacheItemHelper* helper = nullptr;  // for the secondary cache
  size_t charge = 0;        // the caller's
  size_t total_charge = 0;  // with overhead, if that is charged
  std::atomic<CacheEntry*>* hint = nullptr;  // the pointer to this entry, if any
  // From here on, what a hit touches.
  void* value = nullptr;
  uint64_t hash = 0;
  std::atomic<uint32_t> refs{1};  // 0: being deleted, no more references
  uint32_t key_length = 0;
  std::atomic<uint8_t> hits{0};
  std::atomic<bool> in_table{false};
  uint8_t queue = 0;
  bool embedded = false;

  static constexpr uint8_t kMaxHits = 3;

  Slice key() const { return Slice(reinterpret_cast<const char*>(this + 1), key_length); }
  // Counters that are full are not written.
  void CountHit() {
    const uint8_t n = hits.load(std::memory_order_relaxed);
    if (n < kMaxHits) hits.store(n + 1, std::memory_order_relaxed);
  }
  // A reference, unless the entry is being deleted.
  bool TryRef() {
    uint32_t n = refs.load(std::memory_order_relaxed);
    while (n != 0) {
      if (refs.compare_exchange_weak(n, n + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // Takes the only reference. False if there are others.
  bool Claim() {
    uint32_t alone = 1;
    return refs.compare_exchange_strong(alone, 0, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
  }

  static CacheEntry* New(const Slice& key, uint64_t hash);
  // For an entry that was never in a table.
  void Discard(bool with_value);
  // For one that was: the part that happens at once, and the part that waits for readers (Free, of
  // this many bytes).
  void DeletePlainValue();
  static void Free(void* entry);
  size_t DeferredBytes() const { return embedded ? charge : sizeof(*this) + key_length; }
};

}  // namespace compassdb
