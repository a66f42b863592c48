// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "rocksdb/customizable.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Where a cache takes memory for blocks from. Called from many threads at once.
class MemoryAllocator : public Customizable {
 public:
  static const char* Type() { return "MemoryAllocator"; }

  // Makes a built-in or registered allocator by name.
  static Status CreateFromString(const ConfigOptions& options,
                                 const std::string& value,
                                 std::shared_ptr<MemoryAllocator>* result);

  // At least `size` bytes, or null.
  virtual void* Allocate(size_t size) = 0;

  // Frees what Allocate() gave.
  virtual void Deallocate(void* p) = 0;

  // How many bytes the block at p really has, given what was asked for.
  virtual size_t UsableSize(void* /*p*/, size_t allocation_size) const {
    return allocation_size;
  }

  // Two allocators are never the same.
  std::string GetId() const override { return GenerateIndividualId(); }
};

// For NewJemallocNodumpAllocator().
struct JemallocAllocatorOptions {
  static const char* kName() { return "JemallocAllocatorOptions"; }
  // Only allocations between the two bounds (bytes) go through the thread cache.
  bool limit_tcache_size = false;
  size_t tcache_size_lower_bound = 1024;
  size_t tcache_size_upper_bound = 16 * 1024;
};

// An allocator whose memory stays out of core dumps. NotSupported unless the build has jemalloc.
extern Status NewJemallocNodumpAllocator(
    JemallocAllocatorOptions& options,
    std::shared_ptr<MemoryAllocator>* memory_allocator);

}  // namespace ROCKSDB_NAMESPACE
