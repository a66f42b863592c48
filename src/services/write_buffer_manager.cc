// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/write_buffer_manager.h"

#include <algorithm>

#include "cache/cache_reservation.h"
#include "rocksdb/cache.h"

namespace ROCKSDB_NAMESPACE {

// Lets memtables and blocks share one capacity. If the cache refuses bytes (strict capacity), the limit of the manager
// still applies. Guarded by WriteBufferManager::cache_res_mgr_mu_.
class CacheReservationManager : public compassdb::CacheReservation {
 public:
  using compassdb::CacheReservation::CacheReservation;
};

WriteBufferManager::WriteBufferManager(size_t _buffer_size, std::shared_ptr<Cache> cache,
                                       bool allow_stall)
    : buffer_size_(_buffer_size),
      mutable_limit_(_buffer_size * 7 / 8),
      memory_used_(0),
      memory_active_(0),
      allow_stall_(allow_stall),
      stall_active_(false) {
  if (cache == nullptr) return;
  // 256 KB, or less for a small cache.
  const size_t entry_bytes = std::clamp<size_t>(cache->GetCapacity() / 64, 4 << 10, 256 << 10);
  cache_res_mgr_ = std::make_shared<CacheReservationManager>(std::move(cache), entry_bytes);
}

WriteBufferManager::~WriteBufferManager() = default;

size_t WriteBufferManager::dummy_entries_in_cache_usage() const {
  return cache_res_mgr_ != nullptr ? cache_res_mgr_->reserved() : 0;
}

void WriteBufferManager::ReserveMem(size_t mem) {
  if (cache_res_mgr_ != nullptr) {
    ReserveMemWithCache(mem);
  } else if (enabled()) {
    memory_used_.fetch_add(mem, std::memory_order_relaxed);
  }
  if (enabled()) memory_active_.fetch_add(mem, std::memory_order_relaxed);
}

void WriteBufferManager::ReserveMemWithCache(size_t mem) {
  std::lock_guard<std::mutex> lock(cache_res_mgr_mu_);
  const size_t used = memory_used_.fetch_add(mem, std::memory_order_relaxed) + mem;
  cache_res_mgr_->Set(used);
}

void WriteBufferManager::ScheduleFreeMem(size_t mem) {
  if (enabled()) memory_active_.fetch_sub(mem, std::memory_order_relaxed);
}

void WriteBufferManager::FreeMem(size_t mem) {
  if (cache_res_mgr_ != nullptr) {
    FreeMemWithCache(mem);
  } else if (enabled()) {
    memory_used_.fetch_sub(mem, std::memory_order_relaxed);
  }
  MaybeEndWriteStall();
}

void WriteBufferManager::FreeMemWithCache(size_t mem) {
  std::lock_guard<std::mutex> lock(cache_res_mgr_mu_);
  const size_t used = memory_used_.fetch_sub(mem, std::memory_order_relaxed) - mem;
  // Shrinks late, so that short-lived memtables do not churn the cache.
  if (used < cache_res_mgr_->reserved() / 4 * 3) cache_res_mgr_->Set(used);
}

// A database that stalls is in the queue until it is signalled or removed. Signals are given under
// the lock, so that RemoveDBFromQueue returns only when none can follow.
void WriteBufferManager::BeginWriteStall(StallInterface* wbm_stall) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (ShouldStall()) {
      stall_active_.store(true, std::memory_order_relaxed);
      queue_.push_back(wbm_stall);
      return;
    }
  }
  wbm_stall->Signal();  // memory was freed since
}

void WriteBufferManager::MaybeEndWriteStall() {
  if (!AllowsStall() || !IsStallActive() || (enabled() && IsStallThresholdExceeded())) return;
  std::lock_guard<std::mutex> lock(mu_);
  EndWriteStallLocked();
}

void WriteBufferManager::SetAllowStall(bool new_allow_stall) {
  std::lock_guard<std::mutex> lock(mu_);
  __atomic_store_n(&allow_stall_, new_allow_stall, __ATOMIC_RELAXED);
  if (!new_allow_stall) EndWriteStallLocked();
}

void WriteBufferManager::EndWriteStallLocked() {
  if (!stall_active_.exchange(false, std::memory_order_relaxed)) return;
  for (StallInterface* stalled : queue_) stalled->Signal();
  queue_.clear();
}

void WriteBufferManager::RemoveDBFromQueue(StallInterface* wbm_stall) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    queue_.remove(wbm_stall);
  }
  wbm_stall->Signal();
}

}  // namespace ROCKSDB_NAMESPACE
