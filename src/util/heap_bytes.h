// SPDX-License-Identifier: Apache-2.0
// What objects take in the heap, the allocator's own share included: 8 bytes
// in front of each allocation and rounding up to 16, as in glibc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace compassdb {

inline constexpr size_t HeapBytes(size_t allocated) {
  return allocated == 0 ? 0 : std::max<size_t>(32, (allocated + 8 + 15) & ~size_t{15});
}

// The bytes that they own; their sizeof counts for their owner.
inline size_t HeapBytes(const std::string& s) {
  return s.capacity() > std::string().capacity() ? HeapBytes(s.capacity() + 1) : 0;
}
template <typename T>
size_t HeapBytes(const std::vector<T>& v) {
  return HeapBytes(v.capacity() * sizeof(T));
}

inline constexpr size_t kSharedControlBytes = 16;  // make_shared: counts in front of the object

}  // namespace compassdb
