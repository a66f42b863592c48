// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_charge.h"

#include <algorithm>

#include "cache/cache_key.h"

namespace compassdb {

CacheCharge::CacheCharge(std::shared_ptr<rocksdb::Cache> cache)
    : cache_(std::move(cache)),
      id_(cache_ == nullptr ? 0 : cache_->NewId()),
      entry_bytes_(cache_ == nullptr ? 1 : std::clamp<size_t>(cache_->GetCapacity() / 256, 4 << 10, 64 << 10)) {}

CacheCharge::~CacheCharge() {
  MutexLock lock(&mu_);
  bytes_ = 0;
  Adjust();
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
  return handles_.size() * entry_bytes_;
}

void CacheCharge::Adjust() {
  if (cache_ == nullptr) return;
  const size_t wanted = (bytes_ + entry_bytes_ - 1) / entry_bytes_;
  while (handles_.size() > wanted) {
    cache_->Release(handles_.back(), /*erase_if_last_ref=*/true);
    handles_.pop_back();
  }
  while (handles_.size() < wanted) {
    rocksdb::Cache::Handle* handle = nullptr;
    const rocksdb::Status s = cache_->Insert(CacheKey({id_, next_++}).slice(), nullptr, entry_bytes_,
                                             [](const rocksdb::Slice&, void*) {}, &handle);
    if (!s.ok() || handle == nullptr) return;
    handles_.push_back(handle);
  }
}

}  // namespace compassdb
