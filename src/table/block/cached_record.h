// SPDX-License-Identifier: Apache-2.0
// A record that the block cache keeps alone, because no other record of its block is read: the newest
// one of its key in its piece. It is found by piece and hash, and the whole key is compared. Pieces
// never change, and their file ids are never used again, so a record is never stale.
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
  // The key in the cache: the begin of its piece, and the first hash of its key.
  struct Key {
    uint64_t file_id;
    uint64_t offset;
    uint64_t h1;
    uint64_t Hash() const;
  };

  // Adds a copy to the cache, if there is memory and space.
  static void Keep(ShardedCache* cache, const BlockAllocator& allocator, const Key& key,
                   const Slice& user_key, const Block::Record& record);
  // Null: it is not in the cache. Under the caller's EpochGuard.
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
