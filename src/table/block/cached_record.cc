// SPDX-License-Identifier: Apache-2.0
#include "table/block/cached_record.h"

#include <cstring>
#include <new>

#include "cache/sharded_cache.h"

namespace compassdb {

uint64_t CachedRecord::Key::Hash() const { return ShardedCache::HashOfWords(file_id, offset, h1); }

void CachedRecord::Delete(const Slice& /*key*/, void* record) {
  auto* const r = static_cast<CachedRecord*>(record);
  const BlockAllocator allocator = r->allocator_;
  r->~CachedRecord();
  allocator.Free(r);
}

void CachedRecord::Keep(ShardedCache* cache, const BlockAllocator& allocator, const Key& key,
                        const Slice& user_key, const Block::Record& record) {
  size_t usable = 0;
  BlockAllocator from;
  void* const memory = allocator.Allocate(
      sizeof(CachedRecord) + user_key.size() + record.value.size(), &usable, &from);
  if (memory == nullptr) return;
  auto* const kept = new (memory) CachedRecord;
  kept->allocator_ = from;
  kept->sequence_ = record.sequence;
  kept->type_ = record.type;
  kept->key_length_ = static_cast<uint32_t>(user_key.size());
  kept->value_length_ = static_cast<uint32_t>(record.value.size());
  char* const to = reinterpret_cast<char*>(kept + 1);
  memcpy(to, user_key.data(), user_key.size());
  memcpy(to + user_key.size(), record.value.data(), record.value.size());
  // It was read before, or it would not be kept: that counts as a hit.
  kept->embedded_.entry.CountHit();
  static const rocksdb::Cache::CacheItemHelper helper(nullptr, nullptr, &Delete);
  char bytes[sizeof(Key)];
  memcpy(bytes, &key, sizeof(key));
  // Without a handle nothing fails: a record that does not fit is deleted.
  cache
      ->InsertEmbedded(&kept->embedded_.entry, Slice(bytes, sizeof(bytes)), kept, &helper, usable,
                       nullptr, rocksdb::Cache::Priority::LOW)
      .PermitUncheckedError();
}

const CachedRecord* CachedRecord::Find(const ShardedCache* cache, const Key& key,
                                       const Slice& user_key) {
  char bytes[sizeof(Key)];
  memcpy(bytes, &key, sizeof(key));
  const uint64_t hash = key.Hash();
  cache->PrefetchRecordMiss(hash);
  CacheEntry* const entry = cache->Peek(Slice(bytes, sizeof(bytes)), hash);
  if (entry == nullptr) return nullptr;
  const auto* const record = static_cast<const CachedRecord*>(entry->value);
  return record->user_key() == user_key ? record : nullptr;
}

}  // namespace compassdb
