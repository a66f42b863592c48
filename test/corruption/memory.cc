// SPDX-License-Identifier: Apache-2.0
#include "corruption/memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace compassdb_test {

namespace {

std::atomic<uint64_t> allocated{0};
std::atomic<uint64_t> peak{0};

}  // namespace

uint64_t AllocatedBytes() { return allocated.load(std::memory_order_relaxed); }
uint64_t PeakBytes() { return peak.load(std::memory_order_relaxed); }
void ResetPeak() { peak = allocated.load(); }

#if !defined(__clang__)

// Not inside the anonymous namespace: for the operators below.
void* CountedAllocation(void* memory) {
  if (memory == nullptr) return nullptr;
  const uint64_t size = malloc_usable_size(memory);
  const uint64_t now = allocated.fetch_add(size, std::memory_order_relaxed) + size;
  uint64_t most = peak.load(std::memory_order_relaxed);
  while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void CountedFree(void* memory) {
  if (memory == nullptr) return;
  allocated.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  free(memory);
}

#endif

}  // namespace compassdb_test

#if !defined(__clang__)

void* operator new(size_t size) {
  void* memory = compassdb_test::CountedAllocation(malloc(size == 0 ? 1 : size));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<size_t>(alignment), size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  return compassdb_test::CountedAllocation(memory);
}
void operator delete(void* memory) noexcept { compassdb_test::CountedFree(memory); }
void operator delete(void* memory, size_t) noexcept { compassdb_test::CountedFree(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { compassdb_test::CountedFree(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  compassdb_test::CountedFree(memory);
}

#endif
