// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable_filter.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace compassdb {

namespace {
constexpr size_t kPage = 4096;
}  // namespace

// calloc: large pieces come zeroed from the kernel, page by page as they are touched.
MemTableFilter::MemTableFilter(size_t bytes) {
  const size_t lines = std::bit_floor(std::max<size_t>(bytes / sizeof(Line), 2));
  memory_ = calloc(lines + 1, sizeof(Line));
  if (memory_ == nullptr) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory_) + alignof(Line) - 1;
  lines_ = reinterpret_cast<Line*>(begin & ~uintptr_t{alignof(Line) - 1});
  shift_ = 64 - static_cast<uint32_t>(std::countr_zero(lines));
}

MemTableFilter::~MemTableFilter() { free(memory_); }

size_t MemTableFilter::BytesInUse(uint64_t keys) const {
  if (lines_ == nullptr) return 0;
  const size_t all = (size_t{1} << (64 - shift_)) * sizeof(Line);
  return keys < all / kPage ? keys * kPage : all;
}

}  // namespace compassdb
