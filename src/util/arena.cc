// SPDX-License-Identifier: Apache-2.0
#include "util/arena.h"

#include <algorithm>
#include <cassert>

namespace compassdb {

Arena::Arena(size_t block_size)
    : block_size_(std::clamp(block_size, kMinBlockSize, kMaxBlockSize)) {}

char* Arena::AllocateAligned(size_t bytes, size_t alignment) {
  assert(alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= 64);
  const size_t misplaced = reinterpret_cast<uintptr_t>(next_) & (alignment - 1);
  const size_t pad = misplaced == 0 ? 0 : alignment - misplaced;
  if (next_ != nullptr && bytes + pad <= remaining_ && bytes + pad >= bytes) {
    char* result = next_ + pad;
    next_ += bytes + pad;
    remaining_ -= bytes + pad;
    return result;
  }
  // A fresh block is aligned for scalars only: leave room to align further.
  char* raw = AllocateSlow(bytes + alignment - 1);
  const size_t off = reinterpret_cast<uintptr_t>(raw) & (alignment - 1);
  return off == 0 ? raw : raw + (alignment - off);
}

char* Arena::AllocateSlow(size_t bytes) {
  const size_t size = std::clamp(MemoryAllocatedBytes(), kMinBlockSize, block_size_);
  // A large request would waste the rest of the current block: give it its own.
  if (bytes > size / 4) return NewBlock(bytes);
  char* block = NewBlock(size);
  next_ = block + bytes;
  remaining_ = size - bytes;
  return block;
}

char* Arena::NewBlock(size_t bytes) {
  blocks_.emplace_back(new char[bytes]);
  allocated_.fetch_add(bytes + sizeof(blocks_[0]), std::memory_order_relaxed);
  return blocks_.back().get();
}

}  // namespace compassdb
