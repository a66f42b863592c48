// SPDX-License-Identifier: Apache-2.0
//
// Caches of blocks and of separated values.
//
// Thread safety: every function of Cache may be called concurrently.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Cache;
struct ConfigOptions;
class SecondaryCache;

// Whether locks spin before they sleep by default; decided when the library is built.
extern const bool kDefaultToAdaptiveMutex;

// Whether the memory of the cache's own bookkeeping counts against its capacity.
enum CacheMetadataChargePolicy {
  kDontChargeCacheMetadata,
  kFullChargeCacheMetadata
};

// The policy unless another is given.
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy =
    kFullChargeCacheMetadata;

struct ShardedCacheOptions {
  // Bytes.
  size_t capacity = 0;
  // The cache is cut into 2^n shards by the hash of the key, each with a lock of its own. -1:
  // chosen by capacity.
  int num_shard_bits = -1;
  // When everything is in use: true fails the insertion, false lets the cache grow.
  bool strict_capacity_limit = false;
  // Where memory for blocks comes from. Null: operator new.
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  ShardedCacheOptions() {}
  ShardedCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy =
          kDefaultCacheMetadataChargePolicy)
      : capacity(_capacity),
        num_shard_bits(_num_shard_bits),
        strict_capacity_limit(_strict_capacity_limit),
        memory_allocator(std::move(_memory_allocator)),
        metadata_charge_policy(_metadata_charge_policy) {}
};

// For a cache that drops what was used longest ago.
struct LRUCacheOptions : public ShardedCacheOptions {
  // Shares of the capacity kept for entries of high, and of low, priority, which are thus safe from
  // scans. The rest is for the lowest. Their sum must not exceed 1.
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
  bool use_adaptive_mutex = kDefaultToAdaptiveMutex;
  // Receives what this cache drops. Null: none.
  std::shared_ptr<SecondaryCache> secondary_cache;
  LRUCacheOptions() {}
  LRUCacheOptions(size_t _capacity, int _num_shard_bits,
                  bool _strict_capacity_limit, double _high_pri_pool_ratio,
                  std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
                  bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
                  CacheMetadataChargePolicy _metadata_charge_policy =
                      kDefaultCacheMetadataChargePolicy,
                  double _low_pri_pool_ratio = 0.0)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator),
                            _metadata_charge_policy),
        high_pri_pool_ratio(_high_pri_pool_ratio),
        low_pri_pool_ratio(_low_pri_pool_ratio),
        use_adaptive_mutex(_use_adaptive_mutex) {}
};

// Null if the options make no sense (more than 20 shard bits, ratios outside [0, 1]).
extern std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1,
    bool strict_capacity_limit = false, double high_pri_pool_ratio = 0.5,
    std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy =
        kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0);

extern std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);

// For a second tier that holds blocks compressed in memory.
struct CompressedSecondaryCacheOptions : LRUCacheOptions {
  CompressionType compression_type = CompressionType::kLZ4Compression;
  // 1 or 2; 2 stores the uncompressed size in front of the block.
  uint32_t compress_format_version = 2;
  // Store a block in pieces that fit the allocator's size classes.
  bool enable_custom_split_merge = false;
  CompressedSecondaryCacheOptions() {}
  CompressedSecondaryCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      double _high_pri_pool_ratio, double _low_pri_pool_ratio = 0.0,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
      CacheMetadataChargePolicy _metadata_charge_policy =
          kDefaultCacheMetadataChargePolicy,
      CompressionType _compression_type = CompressionType::kLZ4Compression,
      uint32_t _compress_format_version = 2,
      bool _enable_custom_split_merge = false)
      : LRUCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                        _high_pri_pool_ratio, std::move(_memory_allocator),
                        _use_adaptive_mutex, _metadata_charge_policy,
                        _low_pri_pool_ratio),
        compression_type(_compression_type),
        compress_format_version(_compress_format_version),
        enable_custom_split_merge(_enable_custom_split_merge) {}
};

// Null if the options make no sense.
extern std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    size_t capacity, int num_shard_bits = -1,
    bool strict_capacity_limit = false, double high_pri_pool_ratio = 0.5,
    double low_pri_pool_ratio = 0.0,
    std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy =
        kDefaultCacheMetadataChargePolicy,
    CompressionType compression_type = CompressionType::kLZ4Compression,
    uint32_t compress_format_version = 2,
    bool enable_custom_split_merge = false);

extern std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    const CompressedSecondaryCacheOptions& opts);

// For a cache without locks, which drops by a clock algorithm.
struct HyperClockCacheOptions : public ShardedCacheOptions {
  // Average bytes per entry, from which the size of the table follows. Best near
  // BlockBasedTableOptions::block_size, and rather too small than too large.
  size_t estimated_entry_charge;
  HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge,
      int _num_shard_bits = -1, bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy =
          kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator),
                            _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  // Makes the cache.
  std::shared_ptr<Cache> MakeSharedCache() const;
};

// Kept for old callers: an LRU cache.
extern std::shared_ptr<Cache> NewClockCache(
    size_t capacity, int num_shard_bits = -1,
    bool strict_capacity_limit = false,
    CacheMetadataChargePolicy metadata_charge_policy =
        kDefaultCacheMetadataChargePolicy);

// Maps keys to objects, each with a charge in bytes. An object lives until it is both out of the
// table and released by all owners of a handle to it.
class Cache {
 public:
  // How hard the cache tries to keep an entry.
  enum class Priority { HIGH, LOW, BOTTOM };

  // How a second tier copies an object out: its size in bytes, then any range of its bytes.
  using SizeCallback = size_t (*)(void* obj);
  using SaveToCallback = Status (*)(void* from_obj, size_t from_offset,
                                    size_t length, void* out);

  // Frees an object. Called once, from any thread, without locks held.
  using DeleterFn = void (*)(const Slice& key, void* value);

  // What a second tier needs to know of a kind of object. One static instance per kind.
  struct CacheItemHelper {
    SizeCallback size_cb;
    SaveToCallback saveto_cb;
    DeleterFn del_cb;

    CacheItemHelper() : CacheItemHelper(nullptr, nullptr, nullptr) {}
    CacheItemHelper(SizeCallback _size_cb, SaveToCallback _saveto_cb, DeleterFn _del_cb)
        : size_cb(_size_cb), saveto_cb(_saveto_cb), del_cb(_del_cb) {}
  };

  // Makes an object from the bytes of a second tier, and returns its charge.
  using CreateCallback = std::function<Status(const void* buf, size_t size,
                                              void** out_obj, size_t* charge)>;

  Cache(std::shared_ptr<MemoryAllocator> allocator = nullptr)
      : memory_allocator_(std::move(allocator)) {}
  // Frees every object. REQUIRES: no handle is held.
  virtual ~Cache() {}

  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // From a capacity ("64M"), or from options such as "capacity=1M; num_shard_bits=4".
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& value,
                                 std::shared_ptr<Cache>* result);

  // Opaque: an entry that is held.
  struct Handle {};

  // The kind of cache.
  virtual const char* Name() const = 0;

  // Stores an object under the key, in the place of an older one. With `handle` the entry is also
  // held for the caller. Fails with MemoryLimit if the cache is full and strict: the object then
  // still belongs to the caller if `handle` was given, and is freed otherwise.
  virtual Status Insert(const Slice& key, void* value, size_t charge,
                        DeleterFn deleter, Handle** handle = nullptr,
                        Priority priority = Priority::LOW) = 0;

  // Holds the entry of the key, or returns null. `stats` receives hit and miss of a second tier.
  virtual Handle* Lookup(const Slice& key, Statistics* stats = nullptr) = 0;

  // One more hold on an entry that is held already.
  virtual bool Ref(Handle* handle) = 0;

  // Lets go. True if the object was freed by that.
  virtual bool Release(Handle* handle, bool erase_if_last_ref = false) = 0;

  // The object of an entry that is held.
  virtual void* Value(Handle* handle) = 0;

  // Removes the key from the table; the object is deleted with its last reference.
  virtual void Erase(const Slice& key) = 0;

  // A number that no other caller gets: a prefix for keys of several users of one cache.
  virtual uint64_t NewId() = 0;

  // Bytes. Drops entries if it shrinks.
  virtual void SetCapacity(size_t capacity) = 0;

  // See ShardedCacheOptions::strict_capacity_limit.
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  virtual bool HasStrictCapacityLimit() const = 0;
  virtual size_t GetCapacity() const = 0;

  // Bytes in the table, held entries included.
  virtual size_t GetUsage() const = 0;

  // Number of entries; SIZE_MAX if not known.
  virtual size_t GetOccupancyCount() const { return SIZE_MAX; }

  // Number of slots of the hash table; 0 if not known.
  virtual size_t GetTableAddressCount() const { return 0; }

  // Bytes of one entry, bookkeeping included.
  virtual size_t GetUsage(Handle* handle) const = 0;

  // Bytes of the entries that are held.
  virtual size_t GetPinnedUsage() const = 0;

  // What the entry was inserted with.
  virtual size_t GetCharge(Handle* handle) const = 0;

  // What the entry was inserted with.
  virtual DeleterFn GetDeleter(Handle* handle) const = 0;

  // Before the process ends: do not free the objects.
  virtual void DisownData() {}

  struct ApplyToAllEntriesOptions {
    // How many entries are visited, on average, before the lock is released for a moment.
    size_t average_entries_per_lock = 256;
  };

  // Calls back for every entry, under a lock: the callback must not call the cache. Entries that
  // are added or removed during the call may be missed.
  virtual void ApplyToAllEntries(
      const std::function<void(const Slice& key, void* value, size_t charge,
                               DeleterFn deleter)>& callback,
      const ApplyToAllEntriesOptions& opts) = 0;

  // The same in its older form.
  virtual void ApplyToAllCacheEntries(void (*callback)(void* value, size_t charge),
                                      bool /*thread_safe*/) {
    auto visit = [callback](const Slice& /*key*/, void* value, size_t charge, DeleterFn) {
      callback(value, charge);
    };
    ApplyToAllEntries(visit, ApplyToAllEntriesOptions());
  }

  // Drops everything that is not held.
  virtual void EraseUnRefEntries() = 0;

  // For people, several lines.
  virtual std::string GetPrintableOptions() const { return ""; }

  // Null if the cache has none.
  MemoryAllocator* memory_allocator() const { return memory_allocator_.get(); }

  // From here on for caches with a second tier; by default there is none.

  // Insert() with the helper of the object's kind.
  virtual Status Insert(const Slice& key, void* value, const CacheItemHelper* helper,
                        size_t charge, Handle** handle = nullptr,
                        Priority priority = Priority::LOW) {
    if (helper == nullptr) return Status::InvalidArgument("cache: no item helper given");
    return Insert(key, value, charge, helper->del_cb, handle, priority);
  }

  // Asks the second tier too. Without wait the entry may not be ready: see the functions below.
  virtual Handle* Lookup(const Slice& key, const CacheItemHelper* /*helper_cb*/,
                         const CreateCallback& /*create_cb*/,
                         Priority /*priority*/, bool /*wait*/,
                         Statistics* stats = nullptr) {
    return Lookup(key, stats);
  }

  // useful: whether the entry was of use, which a second tier may learn from.
  virtual bool Release(Handle* handle, bool /*useful*/,
                       bool erase_if_last_ref) {
    return Release(handle, erase_if_last_ref);
  }

  // Whether the object of a handle is ready, and how to wait for it.
  virtual bool IsReady(Handle* /*handle*/) { return true; }
  virtual void Wait(Handle* /*handle*/) {}
  virtual void WaitAll(std::vector<Handle*>& /*handles*/) {}

 private:
  std::shared_ptr<MemoryAllocator> memory_allocator_;
};

// What an entry of the block cache is, for statistics and for charging.
enum class CacheEntryRole {
  kDataBlock,
  kFilterBlock,
  kFilterMetaBlock,
  kDeprecatedFilterBlock,
  kIndexBlock,
  kOtherBlock,
  // From here on: memory outside the cache that is charged to it.
  kWriteBuffer,
  kCompressionDictionaryBuildingBuffer,
  kFilterConstruction,
  kBlockBasedTableReader,
  kFileMetadata,
  kBlobValue,
  kBlobCache,
  // All else. Keep last.
  kMisc,
};

// How many there are.
constexpr uint32_t kNumCacheEntryRoles =
    static_cast<uint32_t>(CacheEntryRole::kMisc) + 1;

// "DataBlock" and so on.
const std::string& GetCacheEntryRoleName(CacheEntryRole);

// Keys of the map that DB::GetMapProperty("rocksdb.block-cache-entry-stats") fills.
struct BlockCacheEntryStatsMapKeys {
  static const std::string& CacheId();
  static const std::string& CacheCapacityBytes();
  static const std::string& LastCollectionDurationSeconds();
  static const std::string& LastCollectionAgeSeconds();
  static std::string EntryCount(CacheEntryRole);
  static std::string UsedBytes(CacheEntryRole);
  static std::string UsedPercent(CacheEntryRole);
};

}  // namespace ROCKSDB_NAMESPACE
