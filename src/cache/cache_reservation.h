// SPDX-License-Identifier: Apache-2.0
// Entries without content in a cache, which are never found or evicted. They represent memory elsewhere that counts
// against the cache's capacity.
//
// Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rocksdb/cache.h"

namespace compassdb {

class CacheReservation {
 public:
  CacheReservation(std::shared_ptr<rocksdb::Cache> cache, size_t entry_bytes)
      : cache_(std::move(cache)), id_(cache_->NewId()), entry_bytes_(entry_bytes) {}
  ~CacheReservation() { Set(0); }
  CacheReservation(const CacheReservation&) = delete;
  CacheReservation& operator=(const CacheReservation&) = delete;

  // Rounds up to whole entries. Those that the cache refuses (strict capacity) are left out.
  void Set(size_t bytes);
  size_t reserved() const { return handles_.size() * entry_bytes_; }

 private:
  const std::shared_ptr<rocksdb::Cache> cache_;
  const uint64_t id_;
  const size_t entry_bytes_;
  uint64_t next_ = 0;
  std::vector<rocksdb::Cache::Handle*> handles_;
};

}  // namespace compassdb
