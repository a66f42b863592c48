// SPDX-License-Identifier: Apache-2.0
// An arena that many threads allocate from at once: each thread bumps within a
// chunk that belongs to a shard, and only refills touch the shared arena.
//
// Thread safety: every function may be called by any thread.
// Lock order: a shard's spin lock, then the main arena's mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "util/arena.h"
#include "util/mutex.h"

namespace compassdb {

// Test-and-set lock for critical sections of a few instructions.
class CAPABILITY("mutex") SpinLock {
 public:
  void Lock() ACQUIRE() {
    for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) Pause(spins);
  }
  bool TryLock() TRY_ACQUIRE(true) {
    return !locked_.load(std::memory_order_relaxed) &&
           !locked_.exchange(true, std::memory_order_acquire);
  }
  void Unlock() RELEASE() { locked_.store(false, std::memory_order_release); }

 private:
  static void Pause(int spins);  // yields the processor after a while
  std::atomic<bool> locked_{false};
};

class ConcurrentArena {
 public:
  explicit ConcurrentArena(size_t block_size = Arena::kDefaultBlockSize);
  ConcurrentArena(const ConcurrentArena&) = delete;
  ConcurrentArena& operator=(const ConcurrentArena&) = delete;

  char* Allocate(size_t bytes);
  // Aligned to `alignment`, a power of two up to 64.
  char* AllocateAligned(size_t bytes, size_t alignment = alignof(std::max_align_t));

  size_t MemoryAllocatedBytes() const { return main_.MemoryAllocatedBytes(); }
  // Allocated bytes without the unused rest of the shards' chunks and the current block.
  size_t ApproximateMemoryUsage() const;

 private:
  static constexpr size_t kShards = 8;
  struct alignas(64) Shard {
    SpinLock lock;
    char* next GUARDED_BY(lock) = nullptr;
    // Written under the lock, read by anyone for the usage figure.
    std::atomic<size_t> remaining{0};
  };

  // Locks a shard, preferably the one that this thread used last.
  Shard* LockShard() NO_THREAD_SAFETY_ANALYSIS;
  char* AllocateFromMain(size_t bytes, size_t alignment) EXCLUDES(mu_);

  // By the arena's present size. Allocations of more than a quarter of it use the main arena.
  size_t Chunk() const;

  const size_t largest_chunk_;
  std::array<Shard, kShards> shards_;
  Mutex mu_;
  Arena main_;  // allocation under mu_
  std::atomic<size_t> main_used_{0};
};

}  // namespace compassdb
