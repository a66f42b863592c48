// SPDX-License-Identifier: Apache-2.0
#include "table/block/block_hints.h"

#include "cache/sharded_cache.h"

namespace compassdb {

BlockHints::BlockHints(ShardedCache* cache, uint32_t blocks)
    : cache_(cache), blocks_(blocks), hints_(new std::atomic<CacheEntry*>[blocks]()) {}

BlockHints::~BlockHints() {
  for (uint32_t i = 0; i < blocks_; ++i) cache_->DropHint(&hints_[i]);
}

void BlockHints::Set(uint32_t block, CacheEntry* entry) { cache_->SetHint(entry, &hints_[block]); }

}  // namespace compassdb
