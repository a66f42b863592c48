// SPDX-License-Identifier: Apache-2.0
// Memory that the kernel is asked to back with huge pages: a random access
// then misses the processor's caches, but seldom its address translation too.
//
// Thread safety: all of it.
#pragma once

#include <cstddef>

namespace compassdb {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Zeroed memory aligned to kHugePage, for random access; null if there is none. `bytes` is a
// multiple of kHugePage. Where the kernel has no huge pages, it comes in ordinary ones.
void* AllocateHuge(size_t bytes);
void FreeHuge(void* memory, size_t bytes);

}  // namespace compassdb
