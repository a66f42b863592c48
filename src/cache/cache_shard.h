// SPDX-License-Identifier: Apache-2.0
// A shard of the block cache: a hash table of reference-counted entries and
// four queues that say which entry goes next.
//
// Policy, in the manner of S3-FIFO: queues are first-in-first-out, a hit only
// raises the entry's counter (0..3) and moves nothing. New entries start in
// *probation*, which is kept near a tenth of the capacity: an entry that
// reaches its end without a hit leaves, one with a hit moves to *protected*.
// There, each hit buys another round. So a scan, whose blocks are used once,
// flows through probation and never displaces what is hot. Keys that left
// lately are remembered by a 32-bit tag (the ghost table): when they come back
// they start in protected.
//
// Priorities: HIGH entries start in *high* while it is within
// high_pri_pool_ratio of the capacity; its overflow joins protected. With
// low_pri_pool_ratio > 0, probation is bounded by that ratio, and its overflow
// and BOTTOM entries go to *bottom*, which is emptied before anything else.
//
// Thread safety: all methods may be called by any thread. Values are deleted
// with no lock held.
// Invariants:
//  - An entry in the table holds one reference for the table; each handle
//    holds one. Who drops the last reference deletes.
//  - Only someone with a reference, or with mu_ for an entry in the table, may
//    add one. So an entry of one reference, seen under mu_, belongs to the
//    table alone and can be evicted.
//  - usage_ counts every entry that is in the table or has a handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rocksdb/cache.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

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

// One allocation holds the entry and, behind it, its key.
struct CacheEntry {
  CacheEntry* next_in_bucket = nullptr;
  CacheEntry* newer = nullptr;  // neighbours in the queue
  CacheEntry* older = nullptr;
  void* value = nullptr;
  rocksdb::Cache::DeleterFn deleter = nullptr;
  const rocksdb::Cache::CacheItemHelper* helper = nullptr;  // for the secondary cache
  uint64_t hash = 0;
  size_t charge = 0;        // as the caller said
  size_t total_charge = 0;  // with overhead, where that is charged
  std::atomic<uint32_t> refs{1};
  uint32_t key_length = 0;
  std::atomic<uint8_t> hits{0};
  std::atomic<bool> in_table{false};
  uint8_t queue = 0;

  Slice key() const { return Slice(reinterpret_cast<const char*>(this + 1), key_length); }
  static CacheEntry* New(const Slice& key, uint64_t hash);
  void Delete(bool with_value);
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

  // Takes the entry over, whatever the outcome. On an error the value is the
  // caller's again; with no handle asked for there is no error: what does not
  // fit is deleted.
  Status Insert(CacheEntry* entry, Priority priority, CacheEntry** handle);
  CacheEntry* Lookup(const Slice& key, uint64_t hash);
  static void Ref(CacheEntry* entry) { entry->refs.fetch_add(1, std::memory_order_relaxed); }
  // True if the entry is gone.
  bool Release(CacheEntry* entry, bool erase_if_last_ref);
  void Erase(const Slice& key, uint64_t hash);
  void EraseUnreferenced();
  void SetCapacity(size_t capacity);
  void SetStrictCapacityLimit(bool strict);
  void DisownData();

  size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  size_t PinnedUsage() const;
  size_t Occupancy() const;
  size_t TableSize() const;
  using EntryCallback =
      std::function<void(const Slice& key, void* value, size_t charge, DeleterFn deleter)>;
  // Entries of the buckets [*position, ...), about `entries` of them; moves
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
  CacheEntry** FindSlot(const Slice& key, uint64_t hash) REQUIRES(mu_);
  void Grow() REQUIRES(mu_);
  void PushNewest(CacheEntry* entry, QueueId queue) REQUIRES(mu_);
  void Unlink(CacheEntry* entry) REQUIRES(mu_);
  // Out of table and queue, without dropping the table's reference.
  void TakeOut(CacheEntry* entry, CacheEntry** slot) REQUIRES(mu_);
  // TakeOut, and to `victims` if nobody else holds it.
  void Remove(CacheEntry* entry, CacheEntry** slot, Victims* victims) REQUIRES(mu_);
  QueueId QueueFor(const CacheEntry& entry, Priority priority) REQUIRES(mu_);
  // Moves the oldest entries on while `from` takes more than its share.
  void Spill(QueueId from, QueueId to, double ratio) REQUIRES(mu_);
  void SpillPools() REQUIRES(mu_);
  // Makes room for `bytes`; may fall short where entries are pinned.
  void MakeRoom(size_t bytes, Victims* victims) REQUIRES(mu_);
  bool EvictFrom(QueueId queue, size_t* budget, Victims* victims) REQUIRES(mu_);
  bool Place(CacheEntry* entry, Priority priority, bool with_handle, Victims* evicted,
             Victims* replaced) REQUIRES(mu_);
  void Uncount(const CacheEntry* entry);  // it has no reference left
  // Both without mu_. Demote offers values to the secondary cache first.
  void Delete(const Victims& victims);
  void Demote(const Victims& victims);

  size_t BucketOf(uint64_t hash) const REQUIRES(mu_) { return hash >> bucket_shift_; }
  uint32_t* GhostSlot(uint64_t hash) REQUIRES(mu_) { return &ghost_[BucketOf(hash)]; }
  // Of bits that neither the bucket nor the shard comes from.
  static uint32_t GhostTag(uint64_t hash) { return static_cast<uint32_t>(hash >> 8) | 1; }

  const double high_ratio_;
  const double low_ratio_;
  const bool adaptive_;
  const std::shared_ptr<rocksdb::SecondaryCache> secondary_;

  mutable Mutex mu_;
  std::atomic<size_t> capacity_;
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> detached_usage_{0};  // of entries that only handles hold
  bool strict_ GUARDED_BY(mu_);
  bool disowned_ GUARDED_BY(mu_) = false;
  std::vector<CacheEntry*> buckets_ GUARDED_BY(mu_);  // 2^(64 - bucket_shift_)
  uint32_t bucket_shift_ GUARDED_BY(mu_) = 60;
  std::vector<uint32_t> ghost_ GUARDED_BY(mu_);       // the same size; 0: nothing
  size_t entries_ GUARDED_BY(mu_) = 0;
  Queue queues_[kQueues] GUARDED_BY(mu_);
};

}  // namespace compassdb
