// SPDX-License-Identifier: Apache-2.0
// An arena that many threads allocate from at once: each thread bumps within a
// chunk that belongs to a shard, and only refills touch the shared arena.
//
// An arena with addresses numbers its chunks. An address has 32 bits: the chunk, and the offset in it
// in units of 4 bytes. So it reaches 8 GiB or more.
//
// Thread safety: every function may be called by any thread.
// Lock order: a shard's spin lock, then the main arena's mutex.
// Invariants: the table of chunks is replaced by larger ones, and all stay. It has a chunk before anyone
// has an address in it.
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
  explicit ConcurrentArena(size_t block_size = Arena::kDefaultBlockSize, bool addresses = false);
  ConcurrentArena(const ConcurrentArena&) = delete;
  ConcurrentArena& operator=(const ConcurrentArena&) = delete;

  char* Allocate(size_t bytes);
  // Aligned to `alignment`, a power of two up to 64.
  char* AllocateAligned(size_t bytes, size_t alignment = alignof(std::max_align_t)) {
    return Allocate(bytes, alignment, nullptr);
  }
  // Aligned to 4, in an arena with addresses; std::bad_alloc if there are no more. It is not 0.
  char* AllocateWithAddress(size_t bytes, uint32_t* address) {
    return Allocate(bytes, kUnit, address);
  }
  // Of the first 128 KiB of an allocation. Null for 0.
  char* At(uint32_t address) const {
    return chunks_.load(std::memory_order_acquire)[address >> kOffsetBits] +
           size_t{address & kOffsetMask} * kUnit;
  }

  size_t MemoryAllocatedBytes() const { return main_.MemoryAllocatedBytes(); }
  // Allocated bytes without the unused rest of the shards' chunks and the current block.
  size_t ApproximateMemoryUsage() const;

 private:
  static constexpr size_t kShards = 8;
  static constexpr size_t kUnit = 4;
  static constexpr int kOffsetBits = 15;
  static constexpr uint32_t kOffsetMask = (uint32_t{1} << kOffsetBits) - 1;
  static constexpr uint32_t kMostChunks = uint32_t{1} << (32 - kOffsetBits);
  struct alignas(64) Shard {
    SpinLock lock;
    char* next GUARDED_BY(lock) = nullptr;
    uint32_t chunk GUARDED_BY(lock) = 0;  // its address
    // Written under the lock, read by anyone for the usage figure.
    std::atomic<size_t> remaining{0};
  };

  // Locks a shard, preferably the one that this thread used last.
  Shard* LockShard() NO_THREAD_SAFETY_ANALYSIS;
  char* Allocate(size_t bytes, size_t alignment, uint32_t* address);
  // If the arena has addresses, *address (may be null) gets that of the result, which is a chunk then.
  char* AllocateFromMain(size_t bytes, size_t alignment, uint32_t* address) EXCLUDES(mu_);
  uint32_t AddChunk(char* chunk) REQUIRES(mu_);

  // By the arena's present size. Allocations of more than a quarter of it use the main arena.
  size_t Chunk() const;

  const size_t largest_chunk_;
  std::array<Shard, kShards> shards_;
  Mutex mu_;
  Arena main_;  // allocation under mu_
  std::atomic<size_t> main_used_{0};
  std::atomic<char**> chunks_{nullptr};  // null: no addresses
  uint32_t chunk_count_ GUARDED_BY(mu_) = 0;
  uint32_t chunk_room_ GUARDED_BY(mu_) = 0;
};

}  // namespace compassdb
