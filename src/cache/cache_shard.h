// SPDX-License-Identifier: Apache-2.0
// A shard of the block cache: a hash table of reference-counted entries and
// four queues that decide which entry is evicted next.
//
// Policy, in the manner of S3-FIFO: queues are first-in-first-out, a hit only
// raises the entry's counter (0..3) and moves nothing. New entries start in
// *probation*, which is kept near a fiftieth of the capacity: an entry that
// reaches its end without a hit is evicted, one with a hit moves to *protected*.
// There each hit gives another round. So a scan, whose blocks are used once,
// passes through probation and never evicts hot entries. Recently evicted keys,
// about half as many as there are entries, are remembered by a 32-bit tag (the
// ghost table): if they return, they start in protected. Both are small, because
// an entry that returns later is not hot: in a small cache a larger share would
// only admit entries that are evicted again.
//
// Priorities: HIGH entries start in *high* while it is within
// high_pri_pool_ratio of the capacity; its overflow joins protected. With
// low_pri_pool_ratio > 0, probation is bounded by that ratio, and its overflow
// and BOTTOM entries move to *bottom*, which is evicted first.
//
// Thread safety: all methods may be called by any thread. Values are deleted
// with no lock held. A hit takes no lock: entries are found under an
// EpochGuard (Peek, Lookup), and removed entries are freed when no guard that
// could have found them exists.
// Invariants:
//  - An entry in the table holds one reference for the table; each handle
//    holds one. The last reference deletes.
//  - References are added only to entries that have one. Eviction claims an
//    entry whose only reference is the table's by taking that to 0.
//  - usage_ counts every entry that is in the table or has a handle. It does not
//    count embedded entries that wait for readers: at most kMaxDeferred and
//    kMaxDeferredBytes of them, once those readers have finished.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cache/cache_entry.h"
#include "cache/cache_table.h"
#include "rocksdb/cache.h"
#include "util/epoch.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

struct CacheOptions {
  std::string name = "LRUCache";  // what Cache::Name() says
  size_t capacity = 0;
  int num_shard_bits = -1;
  bool strict_capacity_limit = false;
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0;
  bool adaptive_mutex = false;
  std::shared_ptr<rocksdb::MemoryAllocator> memory_allocator;
  rocksdb::CacheMetadataChargePolicy metadata_charge_policy =
      rocksdb::kDefaultCacheMetadataChargePolicy;
  std::shared_ptr<rocksdb::SecondaryCache> secondary_cache;
};

class CacheShard {
 public:
  using Handle = rocksdb::Cache::Handle;
  using Priority = rocksdb::Cache::Priority;
  using DeleterFn = rocksdb::Cache::DeleterFn;

  explicit CacheShard(const CacheOptions& options);
  ~CacheShard();
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;

  void LockForFork() NO_THREAD_SAFETY_ANALYSIS { mu_.Lock(); }
  void UnlockAfterFork() NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }
  void RenewLock() NO_THREAD_SAFETY_ANALYSIS { RenewInherited(&mu_); }

  // Takes ownership of the entry in any case. On an error the value is the
  // caller's again. Without a handle there is no error: an entry that does not
  // fit is deleted.
  Status Insert(CacheEntry* entry, Priority priority, CacheEntry** handle);
  CacheEntry* Lookup(const Slice& key, uint64_t hash);
  // Under an EpochGuard: an entry that is valid while that lasts, or null if there
  // is none, or if it is being moved.
  const CacheTable& table() const { return table_; }
  static void Ref(CacheEntry* entry) { entry->refs.fetch_add(1, std::memory_order_relaxed); }
  // True if the entry was removed.
  bool Release(CacheEntry* entry, bool erase_if_last_ref);
  void Erase(const Slice& key, uint64_t hash);
  void EraseUnreferenced();
  // See ShardedCache.
  void SetHint(CacheEntry* entry, std::atomic<CacheEntry*>* hint);
  void DropHint(CacheEntry* entry, std::atomic<CacheEntry*>* hint);
  void SetCapacity(size_t capacity);
  void SetStrictCapacityLimit(bool strict);
  void DisownData();

  bool HasRoom(size_t bytes) const {
    return usage() + bytes <= capacity_.load(std::memory_order_relaxed);
  }
  size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  size_t PinnedUsage() const;
  size_t Occupancy() const;
  size_t TableSize() const;
  using EntryCallback =
      std::function<void(const Slice& key, void* value, size_t charge, DeleterFn deleter)>;
  // Entries with hashes from *position on, about `entries` of them; moves
  // *position on, to SIZE_MAX at the end.
  void ApplyToSome(const EntryCallback& callback, size_t entries, size_t* position) const;

 private:
  enum QueueId : uint8_t { kBottom, kProbation, kProtected, kHigh, kQueues };
  struct Queue {
    CacheEntry* newest = nullptr;
    CacheEntry* oldest = nullptr;
    size_t usage = 0;
    size_t count = 0;
  };
  using Victims = std::vector<CacheEntry*>;

  class Locker;
  void PushNewest(CacheEntry* entry, QueueId queue) REQUIRES(mu_);
  void Unlink(CacheEntry* entry) REQUIRES(mu_);
  // Out of table and queue, without dropping the table's reference.
  void TakeOut(CacheEntry* entry) REQUIRES(mu_);
  // TakeOut; true if there is no other reference: the caller then deletes it.
  bool Remove(CacheEntry* entry) REQUIRES(mu_);
  // The same, to `victims`, only if there is no other reference.
  bool RemoveUnreferenced(CacheEntry* entry, Victims* victims) REQUIRES(mu_);
  QueueId QueueFor(const CacheEntry& entry, Priority priority) REQUIRES(mu_);
  // Moves the oldest entries on while `from` takes more than its share.
  void Spill(QueueId from, QueueId to, double ratio) REQUIRES(mu_);
  void SpillPools() REQUIRES(mu_);
  // Frees space for `bytes`; perhaps less if entries are pinned.
  void MakeRoom(size_t bytes, Victims* victims) REQUIRES(mu_);
  bool EvictFrom(QueueId queue, size_t* budget, Victims* victims) REQUIRES(mu_);
  bool Place(CacheEntry* entry, Priority priority, bool with_handle, Victims* evicted,
             CacheEntry** replaced) REQUIRES(mu_);
  void Uncount(const CacheEntry* entry);  // it has no reference left
  // Both without mu_. Demote offers values to the secondary cache first.
  void Delete(std::span<CacheEntry* const> victims);
  void Demote(const Victims& victims);

  uint32_t* GhostSlot(uint64_t hash) REQUIRES(mu_) {
    return &ghost_[table_.HomeOf(hash) / kSlotsPerGhost];
  }
  void GrowTable() REQUIRES(mu_);
  // From bits that neither the home nor the shard uses.
  static uint32_t GhostTag(uint64_t hash) { return static_cast<uint32_t>(hash >> 8) | 1; }

  static constexpr size_t kSlotsPerGhost = 4;  // of the table
  static constexpr size_t kMaxDeferred = 8;
  static constexpr size_t kMaxDeferredBytes = 64 << 10;

  CacheTable table_;  // changed under mu_ only
  // Not in the cache line that every hit reads.
  alignas(64) mutable Mutex mu_;
  const double high_ratio_;
  const double low_ratio_;
  const bool adaptive_;
  const std::shared_ptr<rocksdb::SecondaryCache> secondary_;

  std::atomic<size_t> capacity_;
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> detached_usage_{0};  // of entries that only handles hold
  bool strict_ GUARDED_BY(mu_);
  bool disowned_ GUARDED_BY(mu_) = false;
  std::vector<uint32_t> ghost_ GUARDED_BY(mu_);  // 0: nothing
  Queue queues_[kQueues] GUARDED_BY(mu_);
  RetireList deferred_ GUARDED_BY(mu_);
  CacheEntry* unlisted_ GUARDED_BY(mu_) = nullptr;  // to be deferred, too, linked by `older`
};

}  // namespace compassdb
