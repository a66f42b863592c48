// SPDX-License-Identifier: Apache-2.0
// The memory of a large block cache: cells of about the blocks' size in huge
// pages, so that a hit costs cache misses, but hardly any misses of the address
// translation.
//
//   region (2 MiB, aligned) := header span{8};  a span's cells have one size
//
// Thread safety: all of it.
// Invariants: a region's header is found by the address of any of its cells; a
// span with room is in the list of its size, one without cells in use in free_.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocksdb/memory_allocator.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

class BlockMemory {
 public:
  // Cells are cut in steps of this size, and aligned to half of it.
  static constexpr size_t kStep = 128;
  static constexpr size_t kMinBytes = 1024;
  static constexpr size_t kMaxBytes = 16 << 10;

  BlockMemory() = default;
  ~BlockMemory();  // frees also what is still in use
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  void LockForFork() NO_THREAD_SAFETY_ANALYSIS { mu_.Lock(); }
  void UnlockAfterFork() NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }
  void RenewLock() NO_THREAD_SAFETY_ANALYSIS { RenewInherited(&mu_); }

  // Whether Allocate may: at first it may not.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  // Null if `bytes` is outside of [kMinBytes, kMaxBytes], or there is no memory: use malloc.
  void* Allocate(size_t bytes, size_t* usable);
  void Free(void* cell);

  size_t mapped_bytes() const;  // all regions

 private:
  static constexpr size_t kSpans = 8;
  static constexpr size_t kSizes = kMaxBytes / kStep + 1;

  struct FreeCell {
    FreeCell* next;
  };
  struct Region;
  struct Span {
    Span* next = nullptr;  // in a list
    Span* previous = nullptr;
    FreeCell* free = nullptr;  // freed cells
    char* unused = nullptr;    // from here to `end` no cell was ever used
    char* end = nullptr;
    Region* region = nullptr;
    uint32_t cell_bytes = 0;
    uint32_t used = 0;
    bool HasRoom() const { return free != nullptr || unused + cell_bytes <= end; }
  };
  struct Region {
    Region* next = nullptr;
    Region* previous = nullptr;
    uint32_t used = 0;  // spans
    Span spans[kSpans];
  };

  template <typename T>
  static void Link(T* item, T** head);
  template <typename T>
  static void Unlink(T* item, T** head);
  bool AddRegion() REQUIRES(mu_);
  void ReleaseSpan(Span* span) REQUIRES(mu_);

  std::atomic<bool> enabled_{false};
  mutable Mutex mu_;  // a leaf lock
  std::array<Span*, kSizes> with_room_ GUARDED_BY(mu_) = {};
  Span* free_ GUARDED_BY(mu_) = nullptr;
  Region* regions_ GUARDED_BY(mu_) = nullptr;
  size_t num_regions_ GUARDED_BY(mu_) = 0;
  size_t unused_regions_ GUARDED_BY(mu_) = 0;
};

// The allocator of a block: that of the cache's options, cells, or malloc.
struct BlockAllocator {
  rocksdb::MemoryAllocator* users = nullptr;
  BlockMemory* cells = nullptr;

  // Null if there is no memory. Sets *usable to the allocated bytes, *from to the argument of Free.
  void* Allocate(size_t bytes, size_t* usable, BlockAllocator* from) const;
  void Free(void* memory) const;
};

}  // namespace compassdb
