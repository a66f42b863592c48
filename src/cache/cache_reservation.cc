// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_reservation.h"

#include "cache/cache_key.h"

namespace compassdb {

void CacheReservation::Set(size_t bytes) {
  const size_t wanted = (bytes + entry_bytes_ - 1) / entry_bytes_;
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
