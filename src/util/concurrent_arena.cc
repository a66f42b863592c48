// SPDX-License-Identifier: Apache-2.0
#include "util/concurrent_arena.h"

#include <algorithm>
#include <new>
#include <thread>

namespace compassdb {

void SpinLock::Pause(int spins) {
  if (spins < 64) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

namespace {
std::atomic<size_t> next_thread_shard{0};
thread_local size_t thread_shard = SIZE_MAX;
}  // namespace

// A chunk is an eighth of a block, minus the alignment of the first, so that idle shards keep
// little memory.
constexpr size_t kLeastChunk = 512;
constexpr size_t kLargestChunk = 128 << 10;
constexpr size_t kLeastAddressed = 64 << 10;  // of the largest chunk
constexpr uint32_t kFirstChunks = 64;  // in the table

// Small chunks would use up the addresses, with blocks of any size.
ConcurrentArena::ConcurrentArena(size_t block_size, bool addresses)
    : largest_chunk_(std::clamp<size_t>(block_size / 8, addresses ? kLeastAddressed : kLeastChunk, kLargestChunk)),
      main_(block_size) {
  static_assert(kLargestChunk / kUnit <= kOffsetMask + 1);
  if (!addresses) return;
  MutexLock l(&mu_);
  AddChunk(nullptr);  // of address 0
}

uint32_t ConcurrentArena::AddChunk(char* chunk) {
  if (chunk_count_ == chunk_room_) {
    if (chunk_count_ == kMostChunks) throw std::bad_alloc();
    const uint32_t room = std::max(kFirstChunks, 2 * chunk_room_);
    auto* const table =
        reinterpret_cast<char**>(main_.AllocateAligned(room * sizeof(char*), alignof(char*)));
    std::copy_n(chunks_.load(std::memory_order_relaxed), chunk_count_, table);
    chunks_.store(table, std::memory_order_release);
    chunk_room_ = room;
  }
  chunks_.load(std::memory_order_relaxed)[chunk_count_] = chunk;
  return chunk_count_++ << kOffsetBits;
}

size_t ConcurrentArena::Chunk() const {
  return (std::clamp(MemoryAllocatedBytes() / 8, kLeastChunk, largest_chunk_) - 1) / 64 * 64;
}

ConcurrentArena::Shard* ConcurrentArena::LockShard() {
  if (thread_shard == SIZE_MAX) {
    thread_shard = next_thread_shard.fetch_add(1, std::memory_order_relaxed) % kShards;
  }
  Shard* shard = &shards_[thread_shard];
  if (shard->lock.TryLock()) return shard;
  // Another thread uses this shard: move to the next, so that threads spread out.
  thread_shard = (thread_shard + 1) % kShards;
  shard = &shards_[thread_shard];
  shard->lock.Lock();
  return shard;
}

char* ConcurrentArena::AllocateFromMain(size_t bytes, size_t alignment, uint32_t* address) {
  MutexLock l(&mu_);
  char* result = main_.AllocateAligned(bytes, alignment);
  if (address != nullptr && chunk_room_ != 0) *address = AddChunk(result);
  main_used_.store(main_.ApproximateMemoryUsage(), std::memory_order_relaxed);
  return result;
}

char* ConcurrentArena::Allocate(size_t bytes) { return AllocateAligned(bytes, 1); }

char* ConcurrentArena::Allocate(size_t bytes, size_t alignment, uint32_t* address)
    NO_THREAD_SAFETY_ANALYSIS {
  const size_t chunk = Chunk();
  if (bytes > chunk / 4) return AllocateFromMain(bytes, alignment, address);
  Shard* shard = LockShard();
  const size_t misplaced = reinterpret_cast<uintptr_t>(shard->next) & (alignment - 1);
  size_t pad = misplaced == 0 ? 0 : alignment - misplaced;
  size_t remaining = shard->remaining.load(std::memory_order_relaxed);
  if (shard->next == nullptr || bytes + pad > remaining) {
    try {
      shard->next = AllocateFromMain(chunk, 64, &shard->chunk);
    } catch (...) {
      shard->lock.Unlock();
      throw;
    }
    remaining = chunk;
    pad = 0;
  }
  char* result = shard->next + pad;
  if (address != nullptr) {
    const auto offset = static_cast<size_t>(result - At(shard->chunk));
    *address = shard->chunk + static_cast<uint32_t>(offset / kUnit);
  }
  shard->next += bytes + pad;
  shard->remaining.store(remaining - bytes - pad, std::memory_order_relaxed);
  shard->lock.Unlock();
  return result;
}

size_t ConcurrentArena::ApproximateMemoryUsage() const {
  size_t unused = 0;
  for (const Shard& shard : shards_) unused += shard.remaining.load(std::memory_order_relaxed);
  const size_t used = main_used_.load(std::memory_order_relaxed);
  return used > unused ? used - unused : 0;
}

}  // namespace compassdb
