// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_charge.h"

#include <algorithm>

namespace compassdb {

CacheCharge::CacheCharge(std::shared_ptr<rocksdb::Cache> cache) {
  if (cache == nullptr) return;
  const size_t entry_bytes = std::clamp<size_t>(cache->GetCapacity() / 256, 4 << 10, 64 << 10);
  reservation_.emplace(std::move(cache), entry_bytes);
}

void CacheCharge::Add(size_t bytes) {
  MutexLock lock(&mu_);
  bytes_ += bytes;
  Adjust();
}

void CacheCharge::Subtract(size_t bytes) {
  MutexLock lock(&mu_);
  bytes_ -= std::min(bytes_, bytes);
  Adjust();
}

size_t CacheCharge::bytes() const {
  MutexLock lock(&mu_);
  return bytes_;
}

size_t CacheCharge::charged() const {
  MutexLock lock(&mu_);
  return reservation_ ? reservation_->reserved() : 0;
}

void CacheCharge::Adjust() {
  if (reservation_) reservation_->Set(bytes_);
}

}  // namespace compassdb
