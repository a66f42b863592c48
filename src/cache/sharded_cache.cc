// SPDX-License-Identifier: Apache-2.0
#include "cache/sharded_cache.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "rocksdb/secondary_cache.h"
#include "util/c_locale.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kMinShardBytes = 512 << 10;
constexpr int kMaxDefaultShardBits = 6;
constexpr int kMaxShardBits = 19;

int DefaultShardBits(size_t capacity) {
  int bits = 0;
  while (bits < kMaxDefaultShardBits && (capacity >> (bits + 1)) >= kMinShardBytes) ++bits;
  return bits;
}

bool IsRatio(double r) { return r >= 0 && r <= 1; }

CacheEntry* Entry(rocksdb::Cache::Handle* handle) { return reinterpret_cast<CacheEntry*>(handle); }
rocksdb::Cache::Handle* AsHandle(CacheEntry* entry) {
  return reinterpret_cast<rocksdb::Cache::Handle*>(entry);
}

}  // namespace

std::shared_ptr<rocksdb::Cache> NewShardedCache(const CacheOptions& options) {
  if (options.num_shard_bits > kMaxShardBits || !IsRatio(options.high_pri_pool_ratio) ||
      !IsRatio(options.low_pri_pool_ratio) ||
      options.high_pri_pool_ratio + options.low_pri_pool_ratio > 1) {
    return nullptr;
  }
  const int bits =
      options.num_shard_bits < 0 ? DefaultShardBits(options.capacity) : options.num_shard_bits;
  return std::make_shared<ShardedCache>(options, bits);
}

ShardedCache::ShardedCache(const CacheOptions& options, int shard_bits)
    : rocksdb::Cache(options.memory_allocator),
      options_(options),
      shard_bits_(shard_bits),
      capacity_(0),
      strict_(options.strict_capacity_limit) {
  shards_ = static_cast<AlignedShard*>(
      operator new(sizeof(AlignedShard) * num_shards(), std::align_val_t(alignof(AlignedShard))));
  for (size_t i = 0; i < num_shards(); ++i) new (&shards_[i]) AlignedShard(options);
  SetCapacity(options.capacity);
}

ShardedCache::~ShardedCache() {
  for (size_t i = 0; i < num_shards(); ++i) shards_[i].~AlignedShard();
  operator delete(shards_, std::align_val_t(alignof(AlignedShard)));
}

ForkCalls ShardedCache::Forks() {
  // The order in which the locks nest.
  ForkCalls calls;
  calls.before = [](void* object) {
    auto* const cache = static_cast<ShardedCache*>(object);
    for (size_t i = 0; i < cache->num_shards(); ++i) cache->shards_[i].shard.LockForFork();
    cache->block_memory_.LockForFork();
  };
  calls.in_parent = [](void* object) {
    auto* const cache = static_cast<ShardedCache*>(object);
    cache->block_memory_.UnlockAfterFork();
    for (size_t i = 0; i < cache->num_shards(); ++i) cache->shards_[i].shard.UnlockAfterFork();
  };
  calls.in_child = [](void* object) {
    auto* const cache = static_cast<ShardedCache*>(object);
    cache->block_memory_.RenewLock();
    for (size_t i = 0; i < cache->num_shards(); ++i) cache->shards_[i].shard.RenewLock();
  };
  return calls;
}

uint64_t ShardedCache::HashOf(const Slice& key) const {
  const auto word = [&key](size_t i) { return DecodeFixed64(key.data() + 8 * i); };
  if (key.size() == 16) return HashOfWords(word(0), word(1));
  if (key.size() == 24) return HashOfWords(word(0), word(1), word(2));
  return Hash64(key, 0x436163686553);
}

size_t ShardedCache::CapacityPerShard(size_t capacity) const {
  return capacity / num_shards() + (capacity % num_shards() != 0);
}

Status ShardedCache::DoInsert(const Slice& key, void* value, const CacheItemHelper* helper,
                              DeleterFn deleter, size_t charge, Handle** handle,
                              Priority priority) {
  const uint64_t hash = HashOf(key);
  CacheEntry* entry = CacheEntry::New(key, hash);
  if (entry == nullptr) {
    if (handle == nullptr) {
      if (deleter != nullptr) deleter(key, value);
    } else {
      *handle = nullptr;
    }
    return Status::MemoryLimit("no memory for an entry of the block cache");
  }
  return InsertEntry(entry, value, helper, deleter, charge, kOverheadPerEntry + key.size(), handle,
                     priority);
}

Status ShardedCache::InsertEmbedded(CacheEntry* entry, const Slice& key, void* value,
                                    const CacheItemHelper* helper, size_t charge, Handle** handle,
                                    Priority priority) {
  entry->embedded = true;
  entry->hash = HashOf(key);
  entry->key_length = static_cast<uint32_t>(key.size());
  memcpy(reinterpret_cast<char*>(entry + 1), key.data(), key.size());
  return InsertEntry(entry, value, helper, helper->del_cb, charge, kTableOverhead, handle, priority);
}

Status ShardedCache::InsertEntry(CacheEntry* entry, void* value, const CacheItemHelper* helper,
                                 DeleterFn deleter, size_t charge, size_t overhead,
                                 Handle** handle, Priority priority) {
  entry->value = value;
  entry->deleter = deleter;
  entry->helper = helper;
  entry->charge = charge;
  entry->total_charge = charge;
  if (options_.metadata_charge_policy == rocksdb::kFullChargeCacheMetadata) {
    entry->total_charge += overhead;
  }
  CacheEntry* inserted = nullptr;
  Status s = ShardOf(entry->hash).Insert(entry, priority, handle != nullptr ? &inserted : nullptr);
  if (handle != nullptr) *handle = AsHandle(inserted);
  return s;
}

Status ShardedCache::Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter,
                            Handle** handle, Priority priority) {
  return DoInsert(key, value, nullptr, deleter, charge, handle, priority);
}

Status ShardedCache::Insert(const Slice& key, void* value, const CacheItemHelper* helper,
                            size_t charge, Handle** handle, Priority priority) {
  if (helper == nullptr) return Status::InvalidArgument("block cache: insertion without helper");
  const bool demotable = helper->size_cb != nullptr && helper->saveto_cb != nullptr;
  return DoInsert(key, value, demotable ? helper : nullptr, helper->del_cb, charge, handle,
                  priority);
}

rocksdb::Cache::Handle* ShardedCache::Lookup(const Slice& key, rocksdb::Statistics* /*stats*/) {
  const uint64_t hash = HashOf(key);
  return AsHandle(ShardOf(hash).Lookup(key, hash));
}

// Waits for the secondary cache even without `wait`: the interface allows a
// handle that is ready at once.
rocksdb::Cache::Handle* ShardedCache::Lookup(const Slice& key, const CacheItemHelper* helper,
                                             const CreateCallback& create, Priority priority,
                                             bool /*wait*/, rocksdb::Statistics* stats) {
  Handle* handle = Lookup(key, stats);
  if (handle != nullptr || options_.secondary_cache == nullptr || helper == nullptr ||
      helper->saveto_cb == nullptr) {
    return handle;
  }
  bool stays = false;
  auto found = options_.secondary_cache->Lookup(key, create, /*wait=*/true, /*advise_erase=*/true,
                                                stays);
  if (found == nullptr) return nullptr;
  found->Wait();
  void* value = found->Value();
  if (value == nullptr) return nullptr;
  if (stats != nullptr) stats->recordTick(rocksdb::SECONDARY_CACHE_HITS, 1);
  if (!Insert(key, value, helper, found->Size(), &handle, priority).ok()) {
    helper->del_cb(key, value);
    return nullptr;
  }
  return handle;
}

bool ShardedCache::Ref(Handle* handle) {
  CacheShard::Ref(Entry(handle));
  return true;
}

bool ShardedCache::Release(Handle* handle, bool erase_if_last_ref) {
  return ShardOf(Entry(handle)->hash).Release(Entry(handle), erase_if_last_ref);
}

bool ShardedCache::Release(Handle* handle, bool useful, bool erase_if_last_ref) {
  CacheEntry* entry = Entry(handle);
  if (!useful) {
    // The lookup was not needed: undo the hit that it counted.
    const uint8_t hits = entry->hits.load(std::memory_order_relaxed);
    if (hits > 0) entry->hits.store(hits - 1, std::memory_order_relaxed);
  }
  return Release(handle, erase_if_last_ref);
}

ShardedCache::Keep ShardedCache::NoteMiss(uint64_t block_hash, size_t block_charge,
                                          uint64_t record_hash) {
  // Even a full cache has room for the last evicted block.
  if (ShardOf(block_hash).HasRoom(2 * block_charge)) return Keep::kBlock;
  const bool block_again = misses_.NoteBlock(block_hash);
  if (!misses_.NoteRecord(record_hash)) return block_again ? Keep::kBlock : Keep::kNothing;
  if (!keeps_records()) keeps_records_.store(true, std::memory_order_relaxed);
  return Keep::kRecord;
}

void* ShardedCache::Value(Handle* handle) { return Entry(handle)->value; }
size_t ShardedCache::GetUsage(Handle* handle) const { return Entry(handle)->total_charge; }
size_t ShardedCache::GetCharge(Handle* handle) const { return Entry(handle)->charge; }
rocksdb::Cache::DeleterFn ShardedCache::GetDeleter(Handle* handle) const {
  return Entry(handle)->deleter;
}

void ShardedCache::Erase(const Slice& key) {
  const uint64_t hash = HashOf(key);
  ShardOf(hash).Erase(key, hash);
  if (options_.secondary_cache != nullptr) options_.secondary_cache->Erase(key);
}

void ShardedCache::SetCapacity(size_t capacity) {
  capacity_.store(capacity, std::memory_order_relaxed);
  block_memory_.SetEnabled(capacity >= kLeastForCells);
  misses_.Resize(capacity);
  const size_t per_shard = CapacityPerShard(capacity);
  for (size_t i = 0; i < num_shards(); ++i) shards_[i].shard.SetCapacity(per_shard);
}

void ShardedCache::SetStrictCapacityLimit(bool strict) {
  strict_.store(strict, std::memory_order_relaxed);
  for (size_t i = 0; i < num_shards(); ++i) shards_[i].shard.SetStrictCapacityLimit(strict);
}

size_t ShardedCache::GetUsage() const {
  size_t sum = 0;
  for (size_t i = 0; i < num_shards(); ++i) sum += shards_[i].shard.usage();
  return sum;
}

size_t ShardedCache::GetPinnedUsage() const {
  size_t sum = 0;
  for (size_t i = 0; i < num_shards(); ++i) sum += shards_[i].shard.PinnedUsage();
  return sum;
}

size_t ShardedCache::GetOccupancyCount() const {
  size_t sum = 0;
  for (size_t i = 0; i < num_shards(); ++i) sum += shards_[i].shard.Occupancy();
  return sum;
}

size_t ShardedCache::GetTableAddressCount() const {
  size_t sum = 0;
  for (size_t i = 0; i < num_shards(); ++i) sum += shards_[i].shard.TableSize();
  return sum;
}

void ShardedCache::DisownData() {
  for (size_t i = 0; i < num_shards(); ++i) shards_[i].shard.DisownData();
}

void ShardedCache::EraseUnRefEntries() {
  for (size_t i = 0; i < num_shards(); ++i) shards_[i].shard.EraseUnreferenced();
}

void ShardedCache::ApplyToAllEntries(
    const std::function<void(const Slice& key, void* value, size_t charge, DeleterFn deleter)>&
        callback,
    const ApplyToAllEntriesOptions& options) {
  const size_t batch = options.average_entries_per_lock == 0 ? 1 : options.average_entries_per_lock;
  for (size_t i = 0; i < num_shards(); ++i) {
    size_t position = 0;
    while (position != SIZE_MAX) shards_[i].shard.ApplyToSome(callback, batch, &position);
  }
}

std::string ShardedCache::GetPrintableOptions() const {
  char text[256];
  compassdb::CLocaleSnprintf(text, sizeof(text),
           "    capacity : %zu\n    num_shard_bits : %d\n    strict_capacity_limit : %d\n"
           "    high_pri_pool_ratio: %.3f\n    low_pri_pool_ratio: %.3f\n",
           GetCapacity(), shard_bits_, HasStrictCapacityLimit() ? 1 : 0,
           options_.high_pri_pool_ratio, options_.low_pri_pool_ratio);
  std::string out = text;
  if (memory_allocator() != nullptr) {
    out += "    memory_allocator : " + std::string(memory_allocator()->Name()) + "\n";
  }
  if (options_.secondary_cache != nullptr) {
    out += "  secondary_cache : " + std::string(options_.secondary_cache->Name()) + "\n";
  }
  return out;
}

}  // namespace compassdb
