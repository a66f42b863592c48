// SPDX-License-Identifier: Apache-2.0
// Memory that is in no cache and counts against the capacity of one: entries without content stand for it there,
// which nobody finds and nothing evicts.
//
// Thread safety: all methods. A cache that refuses entries (strict capacity) is charged for fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rocksdb/cache.h"
#include "util/mutex.h"

namespace compassdb {

class CacheCharge {
 public:
  // Null: nothing is charged.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache);
  ~CacheCharge();
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  void Add(size_t bytes) EXCLUDES(mu_);
  void Subtract(size_t bytes) EXCLUDES(mu_);
  size_t bytes() const EXCLUDES(mu_);    // added and not subtracted
  size_t charged() const EXCLUDES(mu_);  // those, in whole entries

 private:
  void Adjust() REQUIRES(mu_);

  const std::shared_ptr<rocksdb::Cache> cache_;
  const uint64_t id_;
  const size_t entry_bytes_;
  mutable Mutex mu_;
  size_t bytes_ GUARDED_BY(mu_) = 0;
  uint64_t next_ GUARDED_BY(mu_) = 0;
  std::vector<rocksdb::Cache::Handle*> handles_ GUARDED_BY(mu_);
};

}  // namespace compassdb
