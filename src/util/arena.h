// SPDX-License-Identifier: Apache-2.0
// A bump allocator: memory is freed all at once, with the arena.
//
// Thread safety: one thread allocates at a time (ConcurrentArena otherwise);
// MemoryAllocatedBytes may be read by any thread.
// Invariants: allocations never move. Blocks begin at kMinBlockSize and double, up to block_size, so that an arena
// with little data takes little memory; larger requests get a block of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace compassdb {

class Arena {
 public:
  static constexpr size_t kMinBlockSize = 4096;
  static constexpr size_t kMaxBlockSize = size_t{2} << 30;
  static constexpr size_t kDefaultBlockSize = 64 << 10;

  explicit Arena(size_t block_size = kDefaultBlockSize);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() = default;

  // `bytes` may be 0: the result is then a valid, unique-enough address.
  char* Allocate(size_t bytes) {
    if (bytes <= remaining_) {
      char* result = next_;
      next_ += bytes;
      remaining_ -= bytes;
      return result;
    }
    return AllocateSlow(bytes);
  }
  // Aligned for any scalar type, or to `alignment`, a power of two up to 64.
  char* AllocateAligned(size_t bytes, size_t alignment = alignof(std::max_align_t));

  size_t MemoryAllocatedBytes() const { return allocated_.load(std::memory_order_relaxed); }
  // Allocated less what is still unused in the current block.
  size_t ApproximateMemoryUsage() const {
    return allocated_.load(std::memory_order_relaxed) - remaining_;
  }
  size_t block_size() const { return block_size_; }

 private:
  char* AllocateSlow(size_t bytes);
  char* NewBlock(size_t bytes);

  const size_t block_size_;
  char* next_ = nullptr;
  size_t remaining_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::atomic<size_t> allocated_{0};
};

}  // namespace compassdb
