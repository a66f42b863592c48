// SPDX-License-Identifier: Apache-2.0
// A record that the block cache keeps by itself, because of its block no other is wanted: the newest
// one of its key in its piece. Found by piece and hash, told from others by the whole key. Pieces
// never change, and their file ids are never used again, so that what is found is never stale.
//
// Thread safety: immutable once in the cache; valid while the finder's EpochGuard lasts.
#pragma once

#include <cstdint>

#include "cache/block_memory.h"
#include "cache/cache_entry.h"
#include "format/internal_key.h"
#include "format/key_hash.h"
#include "table/block/block.h"

namespace compassdb {

class ShardedCache;

class CachedRecord {
 public:
  // Under what a record is found: where its piece begins, and the first hash of its key.
  struct Key {
    uint64_t file_id;
    uint64_t offset;
    uint64_t h1;
    uint64_t Hash() const;
  };

  // Puts a copy into the cache; without memory, or without room, nothing happens.
  static void Keep(ShardedCache* cache, const BlockAllocator& allocator, const Key& key,
                   const Slice& user_key, const Block::Record& record);
  // Null: it is not there. Under the caller's EpochGuard.
  static const CachedRecord* Find(const ShardedCache* cache, const Key& key, const Slice& user_key);

  SequenceNumber sequence() const { return sequence_; }
  ValueType type() const { return type_; }
  Slice user_key() const { return Slice(bytes(), key_length_); }
  Slice value() const { return Slice(bytes() + key_length_, value_length_); }
  size_t charge() const { return embedded_.entry.charge; }

 private:
  static void Delete(const Slice& key, void* record);
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }

  struct EmbeddedEntry {
    CacheEntry entry;
    char key[sizeof(Key)];
  };
  static_assert(sizeof(EmbeddedEntry) == sizeof(CacheEntry) + sizeof(Key));
  EmbeddedEntry embedded_;
  SequenceNumber sequence_ = 0;
  uint32_t key_length_ = 0;
  uint32_t value_length_ = 0;
  ValueType type_ = kTypeDeletion;
  BlockAllocator allocator_;
};

}  // namespace compassdb
