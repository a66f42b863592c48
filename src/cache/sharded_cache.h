// SPDX-License-Identifier: Apache-2.0
// The block cache: rocksdb::Cache over shards (cache_shard.h has the policy).
//
// Thread safety: as rocksdb::Cache, all methods may be called concurrently.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "cache/block_memory.h"
#include "cache/cache_shard.h"
#include "cache/miss_history.h"
#include "util/process.h"

namespace compassdb {

// Null if the options are invalid, as RocksDB's factories.
std::shared_ptr<rocksdb::Cache> NewShardedCache(const CacheOptions& options);

class ShardedCache final : public rocksdb::Cache {
 public:
  explicit ShardedCache(const CacheOptions& options, int shard_bits);
  ~ShardedCache() override;

  const char* Name() const override { return options_.name.c_str(); }
  Status Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter, Handle** handle,
                Priority priority) override;
  Status Insert(const Slice& key, void* value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority) override;
  Handle* Lookup(const Slice& key, rocksdb::Statistics* stats) override;
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, const CreateCallback& create,
                 Priority priority, bool wait, rocksdb::Statistics* stats) override;
  bool Ref(Handle* handle) override;
  bool Release(Handle* handle, bool erase_if_last_ref) override;
  bool Release(Handle* handle, bool useful, bool erase_if_last_ref) override;
  void* Value(Handle* handle) override;
  void Erase(const Slice& key) override;
  uint64_t NewId() override { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  void SetCapacity(size_t capacity) override;
  void SetStrictCapacityLimit(bool strict) override;
  bool HasStrictCapacityLimit() const override { return strict_.load(std::memory_order_relaxed); }
  size_t GetCapacity() const override { return capacity_.load(std::memory_order_relaxed); }
  size_t GetUsage() const override;
  size_t GetUsage(Handle* handle) const override;
  size_t GetOccupancyCount() const override;
  size_t GetTableAddressCount() const override;
  size_t GetPinnedUsage() const override;
  size_t GetCharge(Handle* handle) const override;
  DeleterFn GetDeleter(Handle* handle) const override;
  void DisownData() override;
  void ApplyToAllEntries(const std::function<void(const Slice& key, void* value, size_t charge,
                                                  DeleterFn deleter)>& callback,
                         const ApplyToAllEntriesOptions& options) override;
  void EraseUnRefEntries() override;
  std::string GetPrintableOptions() const override;

  size_t num_shards() const { return size_t{1} << shard_bits_; }
  // Uses cells if the cache is much larger than a region of them.
  BlockMemory* block_memory() { return &block_memory_; }

  // Keys of two or three words are hashed without looking at bytes.
  static uint64_t HashOfWords(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15u) *
                                      (b ^ 0xD6E8FEB86659FD93u);
    const uint64_t mixed = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return (mixed ^ mixed >> 32) * 0xFF51AFD7ED558CCDu;
  }
  static uint64_t HashOfWords(uint64_t a, uint64_t b, uint64_t c) {
    return HashOfWords(HashOfWords(a, b), c);
  }
  // As Insert, with an embedded entry (cache_entry.h) inside `value`, followed by its key.
  Status InsertEmbedded(CacheEntry* entry, const Slice& key, void* value,
                        const CacheItemHelper* helper, size_t charge, Handle** handle,
                        Priority priority);
  // A hit without a reference, under an EpochGuard: the value is valid while that
  // lasts. Null if the key's entry is not embedded, or not found at once: then
  // Lookup decides.
  CacheEntry* Peek(const Slice& key, uint64_t hash) const {
    CacheEntry* const entry = Find(key, hash);
    if (entry == nullptr || !entry->embedded) return nullptr;
    entry->CountHit();
    return entry;
  }
  // The same without counting a hit, and of any kind of entry.
  CacheEntry* Find(const Slice& key, uint64_t hash) const {
    return ShardOf(hash).table().Find(key, hash);
  }
  // Makes a handle of a value from Peek, under the same guard; null if it is being deleted.
  static Handle* Pin(CacheEntry* entry) {
    return entry->TryRef() ? reinterpret_cast<Handle*>(entry) : nullptr;
  }
  // Sets *hint, which is null, to `entry` (embedded, found by Peek under the caller's guard) for as
  // long as the entry is in the table. It may do nothing: an entry has one hint, and it does not wait
  // for a lock.
  void SetHint(CacheEntry* entry, std::atomic<CacheEntry*>* hint) {
    ShardOf(entry->hash).SetHint(entry, hint);
  }
  // *hint is then null, unless it is set again, and the cache does not know it.
  void DropHint(std::atomic<CacheEntry*>* hint) {
    const EpochGuard guard;
    CacheEntry* const entry = hint->load(std::memory_order_seq_cst);
    if (entry != nullptr) ShardOf(entry->hash).DropHint(entry, hint);
  }
  // What to keep of a block that a point read had to fetch for one record. While there is space, the
  // block. Once the cache is full: the record if it was fetched recently, or else the block if another
  // of its records was.
  enum class Keep : uint8_t { kNothing, kRecord, kBlock };
  Keep NoteMiss(uint64_t block_hash, size_t block_charge, uint64_t record_hash);
  // A NoteMiss of these may follow.
  void PrefetchBlockMiss(uint64_t block_hash) const { misses_.PrefetchBlock(block_hash); }
  void PrefetchRecordMiss(uint64_t record_hash) const { misses_.PrefetchRecord(record_hash); }
  // Whether there may be records.
  bool keeps_records() const { return keeps_records_.load(std::memory_order_relaxed); }
  bool has_secondary() const { return options_.secondary_cache != nullptr; }
  // Under an EpochGuard.
  void Prefetch(uint64_t hash) const { ShardOf(hash).table().Prefetch(hash); }
  void PrefetchEntry(uint64_t hash) const { ShardOf(hash).table().PrefetchEntry(hash); }

 private:
  // The shard needs more memory than the entry itself: two slots of its table
  // and their share of ghost tags, and the overhead of malloc.
  static constexpr size_t kTableOverhead = 2 * (16 + 1);
  static constexpr size_t kOverheadPerEntry = sizeof(CacheEntry) + kTableOverhead + 16;

  Status DoInsert(const Slice& key, void* value, const CacheItemHelper* helper, DeleterFn deleter,
                  size_t charge, Handle** handle, Priority priority);
  Status InsertEntry(CacheEntry* entry, void* value, const CacheItemHelper* helper,
                     DeleterFn deleter, size_t charge, size_t overhead, Handle** handle,
                     Priority priority);
  uint64_t HashOf(const Slice& key) const;
  CacheShard& ShardOf(uint64_t hash) const {
    return shards_[hash & (num_shards() - 1)].shard;
  }
  size_t CapacityPerShard(size_t capacity) const;

  // Shards do not share cache lines.
  struct alignas(128) AlignedShard {
    explicit AlignedShard(const CacheOptions& options) : shard(options) {}
    CacheShard shard;
  };

  static constexpr size_t kLeastForCells = 64 << 20;

  // A child of fork() may use it for databases of its own: entries, references and queues are whole.
  ForkCalls Forks();

  const CacheOptions options_;
  const int shard_bits_;
  BlockMemory block_memory_;
  MissHistory misses_;
  std::atomic<bool> keeps_records_{false};
  AlignedShard* shards_;
  std::atomic<size_t> capacity_;
  std::atomic<bool> strict_;
  std::atomic<uint64_t> next_id_{1};
  const AtForks forks_{this, Forks()};
};

}  // namespace compassdb
