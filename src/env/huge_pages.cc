// SPDX-License-Identifier: Apache-2.0
#include "env/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace compassdb {

void* AllocateHuge(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  void* const memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(memory);
  const size_t before =
      (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a hint: EINVAL on kernels without it
#endif
  return begin + before;
}

void FreeHuge(void* memory, size_t bytes) { munmap(memory, bytes); }

}  // namespace compassdb
