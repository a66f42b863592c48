// SPDX-License-Identifier: Apache-2.0
// Reads and writes of data blocks, through the block cache.
//
//   stored block := payload compression_type:u8 checksum:u32le
//
// The checksum covers payload and type; its context is (file id, offset in the
// file), so that a block from another place or file does not verify.
#pragma once

#include <cstdint>
#include <string>

#include "cache/block_memory.h"
#include "cache/cache_entry.h"
#include "env/file_system.h"
#include "rocksdb/cache.h"
#include "rocksdb/cleanable.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/status.h"
#include "table/block/block.h"
#include "table/file/compaction_file.h"
#include "table/read_options.h"
#include "util/hash.h"

namespace compassdb {

class ShardedCache;

inline constexpr size_t kBlockTrailerBytes = 5;

// Turns a payload into a stored block, in place. Its checksum is zero until its place is known
// (FillInChecksum in table/file/extent_writer.h). Compression that saves less than an eighth is dropped. Returns the
// type that was used.
rocksdb::CompressionType PackBlock(rocksdb::CompressionType type, int level, std::string* payload);

// The place of a block, and its bounds.
struct BlockPlace {
  const CompactionFile* file = nullptr;
  uint64_t offset = 0;  // in the file
  uint64_t length = 0;  // trailer included
  uint64_t max_payload = 0;
};

// A block in memory: one allocation has this and, after it, the payload. The
// block cache's entry is in front, so that a hit touches one place.
class LoadedBlock {
 public:
  const Block& block() const { return block_; }
  CacheEntry* entry() { return &cached_.entry; }
  // Whose entry this is.
  static LoadedBlock* Of(CacheEntry* entry) { return reinterpret_cast<LoadedBlock*>(entry); }
  size_t charge() const { return allocated_; }
  Slice payload() const {
    const char* const begin = reinterpret_cast<const char*>(this + 1);
    return Slice(begin, static_cast<size_t>(block_.limit() - begin));
  }
  void Free();
  // Memory for a stored block that will be read (Allocate); Accept makes it a block.
  char* stored() { return data(); }

  // Reads, verifies and parses.
  static Status Read(const BlockPlace& place, bool verify_checksum,
                     const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                     LoadedBlock** out);
  // The same in two steps: null if there is no memory; then the result of the
  // read into stored(). Takes ownership of `loaded`.
  static LoadedBlock* AllocateFor(const BlockPlace& place, const BlockAllocator& allocator) {
    return Allocate(allocator, place.length);
  }
  static Status Accept(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                       const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                       LoadedBlock* loaded, LoadedBlock** out);
  // The same from bytes that are in memory already (place.length of them).
  static Status Decode(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                       const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                       LoadedBlock** out);
  // Whether the bytes read are the block's, and how they are compressed.
  static Status Check(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                      rocksdb::CompressionType* type);

  // A block whose payload a secondary cache kept. Null if it does not parse.
  static LoadedBlock* FromPayload(const Slice& payload, const BlockAllocator& allocator);

 private:
  static LoadedBlock* Allocate(const BlockAllocator& allocator, size_t bytes);
  static Status Decompress(const BlockPlace& place, const Slice& payload,
                           rocksdb::CompressionType type, const BlockAllocator& allocator,
                           rocksdb::Statistics* statistics, LoadedBlock** out);
  Status Parse(const BlockPlace& place, size_t payload_size);
  char* data() { return reinterpret_cast<char*>(this + 1); }

  // Unused while the block is in no cache, or in a cache of the application's.
  struct EmbeddedEntry {
    CacheEntry entry;
    char key[16];  // file id and offset
  };
  static_assert(sizeof(EmbeddedEntry) == sizeof(CacheEntry) + 16);
  // In cells, cache lines of the processor are laid out as here.
  EmbeddedEntry cached_;
  BlockAllocator allocator_;
  size_t allocated_ = 0;
  Block block_;
};
static_assert(sizeof(LoadedBlock) == 192);

// What the finder of a block reads next: its counter, its view, and where its records are.
inline void PrefetchEntryLines(const CacheEntry* entry) {
  for (size_t line = 1; line <= 4; ++line) {
    __builtin_prefetch(reinterpret_cast<const char*>(entry) + 64 * line);
  }
}

// A block held in memory: by a reference to its cache entry, or owned. Move-only.
class BlockRef {
 public:
  BlockRef() = default;
  BlockRef(BlockRef&& other) noexcept { *this = std::move(other); }
  BlockRef& operator=(BlockRef&& other) noexcept;
  ~BlockRef() { Reset(); }
  void Reset();
  explicit operator bool() const { return loaded_ != nullptr; }
  const Block& block() const { return loaded_->block(); }
  // Moves the reference: the block exists until `pin` is cleaned up.
  void MoveInto(rocksdb::Cleanable* pin);

 private:
  friend class BlockLoader;
  LoadedBlock* loaded_ = nullptr;
  rocksdb::Cache* cache_ = nullptr;  // null: owned
  rocksdb::Cache::Handle* handle_ = nullptr;
};

// Blocks that are in memory for the reads of a batch. One thread at a time.
class ReadyBlocks {
 public:
  // False if the block is not here. Otherwise *status is that of its read, and *ref the block if it is OK.
  virtual bool Get(uint64_t file_id, uint64_t offset, BlockRef* ref, Status* status) = 0;

 protected:
  ~ReadyBlocks() = default;
};

// Cache first, then the file. Thread safe.
class BlockLoader {
 public:
  BlockLoader() = default;
  explicit BlockLoader(const TableReaderOptions& options);

  // True if the block was in the cache.
  bool FromCache(uint64_t file_id, uint64_t offset, BlockRef* ref) const;
  // Whether FromCache would find it at once. Counts nothing; false for a cache of the
  // application's.
  bool Contains(uint64_t file_id, uint64_t offset) const;
  // Before a FromCache of this block: first PrefetchSlot, and at least a cache miss later
  // PrefetchBlock.
  void PrefetchSlot(uint64_t file_id, uint64_t offset) const;
  void PrefetchBlock(uint64_t file_id, uint64_t offset) const;
  // A cached block without lock or reference, valid while the caller's EpochGuard
  // lasts. Null: call FromCache.
  LoadedBlock* Peek(uint64_t file_id, uint64_t offset) const;
  // As Peek, by a hint of BlockHints.
  LoadedBlock* PeekAt(CacheEntry* hint) const {
    PrefetchEntryLines(hint);
    hint->CountHit();
    LoadedBlock* const loaded = LoadedBlock::Of(hint);
    CountHit(loaded->charge());
    return loaded;
  }
  // Null if the cache is the application's.
  ShardedCache* own_cache() const { return own_; }
  // Makes a reference of a block from Peek, under the same guard. False: it is being evicted.
  bool Pin(LoadedBlock* peeked, BlockRef* ref) const;
  // Reads the block; with `fill_cache` adds it to the cache.
  Status FromFile(const BlockPlace& place, const BlockReadOptions& read, BlockRef* ref) const;
  // Takes a block out of `stored`, bytes that were read already.
  Status FromBytes(const BlockPlace& place, const Slice& stored, const BlockReadOptions& read,
                   BlockRef* ref) const;
  // FromFile in two steps, for reads in batches: room for the block, null if there
  // is no memory; then the finished read into its stored(). Accept owns `loaded`.
  LoadedBlock* Allocate(const BlockPlace& place) const {
    return LoadedBlock::AllocateFor(place, allocator());
  }
  Status Accept(const BlockPlace& place, const ReadRequest& request, const BlockReadOptions& read,
                LoadedBlock* loaded, BlockRef* ref) const;
  // Another reference to the block: to the same cache entry, or a copy. Empty if
  // there is no memory.
  BlockRef Share(const BlockRef& ref) const;
  void Erase(uint64_t file_id, uint64_t offset) const;
  // Puts a copy of a block into the cache (PointBlock); it is no error if it does not fit.
  void Keep(const BlockPlace& place, const Slice& payload) const;
  // Whether a block that Peek does not find can only be in the file.
  bool PeekIsComplete() const { return cache_ == nullptr || (own_ != nullptr && !own_has_secondary_); }
  bool has_cache() const { return cache_ != nullptr; }
  void CountHit(size_t charge) const;
  void CountMiss() const;
  const BlockAllocator& allocator() const { return allocator_; }
  rocksdb::Statistics* statistics() const { return statistics_; }

 private:
  void CountAdded(size_t charge) const;
  void Adopt(LoadedBlock* loaded, const BlockPlace& place, bool fill_cache, BlockRef* ref) const;

  rocksdb::Cache* cache_ = nullptr;
  ShardedCache* own_ = nullptr;  // cache_, unless it is the application's
  bool own_has_secondary_ = false;
  BlockAllocator allocator_;
  rocksdb::Statistics* statistics_ = nullptr;
  rocksdb::Cache::CreateCallback create_;  // makes blocks of what a secondary cache returns
};

Status BlockCorruption(const BlockPlace& place, const std::string& what);

}  // namespace compassdb
