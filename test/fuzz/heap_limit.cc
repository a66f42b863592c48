// SPDX-License-Identifier: Apache-2.0
#include "fuzz/heap_limit.h"

#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

// The sanitizers have their own operator new, and hooks that say what it gives.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_LIMIT_BY_HOOKS 1
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace compassdb_test {
namespace {

std::atomic<long> in_use{0};
std::atomic<long> start{0};
std::atomic<long> peak{0};
std::atomic<long> limit{0};  // 0: none
const char* limited = "";

void CountTaken(size_t bytes) {
  const long most = limit.load(std::memory_order_relaxed);
  const long now = in_use.fetch_add(static_cast<long>(bytes)) + static_cast<long>(bytes) -
                   start.load(std::memory_order_relaxed);
  if (most != 0 && now > most) {
    fprintf(stderr, "%s: %ld bytes in use, more than %ld are allowed\n", limited, now, most);
    abort();
  }
  long before = peak.load(std::memory_order_relaxed);
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
}

}  // namespace

HeapLimit::HeapLimit(const char* what, size_t bytes) {
  limited = what;
  start.store(in_use.load());
  peak.store(0);
  limit.store(static_cast<long>(bytes));
}
HeapLimit::~HeapLimit() { limit.store(0); }
size_t HeapLimit::PeakBytes() { return static_cast<size_t>(peak.load()); }

}  // namespace compassdb_test

#ifdef HEAP_LIMIT_BY_HOOKS

namespace {

void Taken(const volatile void*, size_t bytes) { compassdb_test::CountTaken(bytes); }
void Given(const volatile void* p) {
  if (p != nullptr) {
    compassdb_test::in_use.fetch_sub(static_cast<long>(__sanitizer_get_allocated_size(const_cast<const void*>(p))));
  }
}
const int installed = __sanitizer_install_malloc_and_free_hooks(Taken, Given);

}  // namespace

#else

namespace {

void* Take(size_t bytes, size_t alignment) {
  const long most = compassdb_test::limit.load(std::memory_order_relaxed);
  if (most != 0 && static_cast<long>(bytes) > most) compassdb_test::CountTaken(bytes);  // before it is tried
  void* p = alignment == 0 ? malloc(bytes) : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  compassdb_test::CountTaken(malloc_usable_size(p));
  return p;
}

void Give(void* p) {
  if (p == nullptr) return;
  compassdb_test::in_use.fetch_sub(static_cast<long>(malloc_usable_size(p)));
  free(p);
}

}  // namespace

void* operator new(size_t n) { return Take(n, 0); }
void* operator new[](size_t n) { return Take(n, 0); }
void* operator new(size_t n, std::align_val_t a) { return Take(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return Take(n, static_cast<size_t>(a)); }
void operator delete(void* p) noexcept { Give(p); }
void operator delete[](void* p) noexcept { Give(p); }
void operator delete(void* p, size_t) noexcept { Give(p); }
void operator delete[](void* p, size_t) noexcept { Give(p); }
void operator delete(void* p, std::align_val_t) noexcept { Give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { Give(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { Give(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { Give(p); }

#endif
