// SPDX-License-Identifier: Apache-2.0
//
// A limit on the memory of memtables across databases.
//
// Thread safety: every function may be called concurrently.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>

#include "rocksdb/cache.h"

namespace ROCKSDB_NAMESPACE {

class CacheReservationManager;

// A database whose writes can be stopped.
class StallInterface {
 public:
  virtual ~StallInterface() {}

  // Waits until Signal().
  virtual void Block() = 0;
  virtual void Signal() = 0;
};

// Databases report what they use; when it is too much they flush, or stop.
class WriteBufferManager final {
 public:
  // _buffer_size: bytes, 0 for no limit. With a cache, memory is charged to it. allow_stall: writes
  // of all databases wait while the limit is exceeded.
  explicit WriteBufferManager(size_t _buffer_size,
                              std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }

  // Whether memory is charged to a cache.
  bool cost_to_cache() const { return cache_res_mgr_ != nullptr; }

  // Bytes of all memtables; of those that are not being flushed.
  size_t memory_usage() const {
    return memory_used_.load(std::memory_order_relaxed);
  }
  size_t mutable_memtable_memory_usage() const {
    return memory_active_.load(std::memory_order_relaxed);
  }

  // Bytes charged to the cache.
  size_t dummy_entries_in_cache_usage() const;

  // The limit.
  size_t buffer_size() const {
    return buffer_size_.load(std::memory_order_relaxed);
  }

  // Changes the limit. REQUIRES: new_size > 0.
  void SetBufferSize(size_t new_size) {
    buffer_size_.store(new_size, std::memory_order_relaxed);
    mutable_limit_.store(new_size * 7 / 8, std::memory_order_relaxed);
    MaybeEndWriteStall();
  }

  // Whether writes wait at all; without, those that do continue. An extension: later versions of
  // RocksDB have it.
  void SetAllowStall(bool new_allow_stall);

  // Whether some memtable should be flushed: active ones use over 7/8 of the limit, or all together
  // the whole limit and active ones at least half of it.
  bool ShouldFlush() const {
    if (!enabled()) return false;
    const size_t active = mutable_memtable_memory_usage();
    return active > mutable_limit_.load(std::memory_order_relaxed) ||
           (memory_usage() >= buffer_size() && active >= buffer_size() / 2);
  }

  // Whether writes should wait.
  bool ShouldStall() const {
    return AllowsStall() && enabled() && (IsStallActive() || IsStallThresholdExceeded());
  }
  bool IsStallActive() const {
    return stall_active_.load(std::memory_order_relaxed);
  }
  bool IsStallThresholdExceeded() const {
    return memory_usage() >= buffer_size_;
  }

  // A memtable takes memory; it will be given back; it is given back.
  void ReserveMem(size_t mem);
  void ScheduleFreeMem(size_t mem);
  void FreeMem(size_t mem);

  // Adds a database to those that wait; wakes them when the limit is kept again; takes one away.
  void BeginWriteStall(StallInterface* wbm_stall);
  void MaybeEndWriteStall();
  void RemoveDBFromQueue(StallInterface* wbm_stall);

 private:
  std::atomic<size_t> buffer_size_;
  std::atomic<size_t> mutable_limit_;
  std::atomic<size_t> memory_used_;
  std::atomic<size_t> memory_active_;
  // Null unless memory is charged to a cache; guarded by cache_res_mgr_mu_ except for the pointer.
  std::shared_ptr<CacheReservationManager> cache_res_mgr_;
  std::mutex cache_res_mgr_mu_;
  // Databases that wait; guarded by mu_.
  std::list<StallInterface*> queue_;
  std::mutex mu_;
  // Set under mu_, read without it: AllowsStall().
  bool allow_stall_;
  // Set under mu_, read without it.
  std::atomic<bool> stall_active_;

  bool AllowsStall() const {
    return __atomic_load_n(&allow_stall_, __ATOMIC_RELAXED);
  }
  void EndWriteStallLocked();
  void ReserveMemWithCache(size_t mem);
  void FreeMemWithCache(size_t mem);
};

}  // namespace ROCKSDB_NAMESPACE
