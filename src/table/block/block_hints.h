// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a piece lie in the block cache: an array of pointers by
// block number. A point read that finds its block here computes no place in the
// file, hashes nothing and does not search the cache's table.
//
// Eight bytes for every block of the piece: made only once most of them are seen
// to be in the cache.
//
// Thread safety: all methods; what Find returns is valid while the caller's
// EpochGuard lasts.
// Invariant: a pointer is that of an entry in the cache's table; the cache takes it out
// before it lets go of the entry (cache_entry.h).
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

  // Null: ask the cache. block < blocks.
  CacheEntry* Find(uint32_t block) const {
    return hints_[block].load(std::memory_order_seq_cst);
  }
  // `entry` is the block's, under the caller's EpochGuard. Does nothing if that would have to wait.
  void Set(uint32_t block, CacheEntry* entry);
  size_t MemoryBytes() const { return sizeof(*this) + blocks_ * sizeof(hints_[0]); }

 private:
  ShardedCache* const cache_;
  const uint32_t blocks_;
  const std::unique_ptr<std::atomic<CacheEntry*>[]> hints_;
};

}  // namespace compassdb
