// SPDX-License-Identifier: Apache-2.0
// Operations of both kinds of batches that take lists of parts, and the callbacks that walk over a batch.
#pragma once

#include "c_api/values.h"
#include "rocksdb/write_batch_base.h"

namespace compassdb {

// The parts of one key or value.
class Parts {
 public:
  Parts(int count, const char* const* list, const size_t* sizes)
      : slices_(Slices(list, sizes, static_cast<size_t>(count))), parts_(slices_.data(), count) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  operator const rocksdb::SliceParts&() const { return parts_; }  // NOLINT: stands for them

 private:
  std::vector<Slice> slices_;
  rocksdb::SliceParts parts_;
};

using PutCallback = void (*)(void* state, const char* k, size_t klen, const char* v, size_t vlen);
using DeleteCallback = void (*)(void* state, const char* k, size_t klen);

// Calls put and deleted for puts and deletions of the default column family. As in RocksDB the walk passes over merges
// and single deletions, and ends at a range deletion or a record of another family.
void WalkBatch(const rocksdb::WriteBatch& batch, void* state, PutCallback put, DeleteCallback deleted) noexcept;

struct FamilyCallbacks {
  using WriteCallback = void (*)(void* state, uint32_t family, const char* k, size_t klen, const char* v, size_t vlen);
  using RemoveCallback = void (*)(void* state, uint32_t family, const char* k, size_t klen);

  WriteCallback put;
  RemoveCallback deleted;
  WriteCallback merge;
};

// The same for all families. The walk ends at a record of another kind, except single deletions of the default family.
void WalkFamilies(const rocksdb::WriteBatch& batch, void* state, const FamilyCallbacks& callbacks) noexcept;

}  // namespace compassdb
