// SPDX-License-Identifier: Apache-2.0
// The places of a piece's blocks in the block cache: an array of pointers by
// block number. A point read that finds its block here computes no offset,
// hashes nothing and does not search the cache's table.
//
// Eight bytes for every block of the piece: allocated only once most of them
// are in the cache.
//
// Thread safety: all methods; a result of Find is valid while the caller's
// EpochGuard lasts.
// Invariant: a pointer is that of an entry in the cache's table; the cache clears it
// before it releases the entry (cache_entry.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cache/cache_entry.h"

namespace compassdb {

class ShardedCache;

class BlockHints {
 public:
  // The cache must outlive this.
  BlockHints(ShardedCache* cache, uint32_t blocks);
  ~BlockHints();
  BlockHints(const BlockHints&) = delete;
  BlockHints& operator=(const BlockHints&) = delete;

  // Null: search the cache. block < blocks.
  CacheEntry* Find(uint32_t block) const {
    return hints_[block].load(std::memory_order_seq_cst);
  }
  // `entry` is the block's, under the caller's EpochGuard. Does nothing if it would have to wait.
  void Set(uint32_t block, CacheEntry* entry);
  size_t MemoryBytes() const { return sizeof(*this) + blocks_ * sizeof(hints_[0]); }

 private:
  ShardedCache* const cache_;
  const uint32_t blocks_;
  const std::unique_ptr<std::atomic<CacheEntry*>[]> hints_;
};

}  // namespace compassdb
