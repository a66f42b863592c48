// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/memory_allocator.h"

#include <malloc.h>

#include <cstdlib>

#include "api/registered.h"
#include "rocksdb/config_options.h"

namespace ROCKSDB_NAMESPACE {

namespace {

class DefaultMemoryAllocator : public MemoryAllocator {
 public:
  static const char* kClassName() { return "DefaultMemoryAllocator"; }
  const char* Name() const override { return kClassName(); }
  void* Allocate(size_t size) override { return std::malloc(size); }
  void Deallocate(void* p) override { std::free(p); }
  size_t UsableSize(void* p, size_t /*allocation_size*/) const override {
    return malloc_usable_size(p);
  }
};

}  // namespace

Status MemoryAllocator::CreateFromString(const ConfigOptions& options, const std::string& value,
                                         std::shared_ptr<MemoryAllocator>* result) {
  Status s;
  if (compassdb::NewRegistered<MemoryAllocator>(options, value, result, &s)) return s;
  if (value == DefaultMemoryAllocator::kClassName()) {
    *result = std::make_shared<DefaultMemoryAllocator>();
    return Status::OK();
  }
  if (!value.empty() && value != "nullptr") {
    return compassdb::UnknownObject(options, "MemoryAllocator", value);
  }
  result->reset();
  return Status::OK();
}

Status NewJemallocNodumpAllocator(JemallocAllocatorOptions& /*options*/,
                                  std::shared_ptr<MemoryAllocator>* memory_allocator) {
  memory_allocator->reset();
  return Status::NotSupported("NewJemallocNodumpAllocator: this build is without jemalloc");
}

}  // namespace ROCKSDB_NAMESPACE
