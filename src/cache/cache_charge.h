// SPDX-License-Identifier: Apache-2.0
// Memory outside of a cache that counts against its capacity (cache_reservation.h).
//
// Thread safety: all methods. A cache that refuses entries (strict capacity) is charged for fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cache/cache_reservation.h"
#include "util/mutex.h"

namespace compassdb {

class CacheCharge {
 public:
  // Null: nothing is charged.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache);
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  void Add(size_t bytes) EXCLUDES(mu_);
  void Subtract(size_t bytes) EXCLUDES(mu_);
  size_t bytes() const EXCLUDES(mu_);    // added and not subtracted
  size_t charged() const EXCLUDES(mu_);  // those, in whole entries

 private:
  void Adjust() REQUIRES(mu_);

  mutable Mutex mu_;
  size_t bytes_ GUARDED_BY(mu_) = 0;
  std::optional<CacheReservation> reservation_ GUARDED_BY(mu_);  // none without a cache
};

}  // namespace compassdb
