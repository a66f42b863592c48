// SPDX-License-Identifier: Apache-2.0
// Keys, values and lists of them on their way between C and C++. What these functions return as char* is malloc()ed;
// they throw std::bad_alloc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

// malloc() that throws; at least one byte.
char* AllocateBytes(size_t size);
// Never null, not even for no bytes.
char* CopyBytes(const Slice& bytes);
// With a zero byte behind it.
char* CopyText(const std::string& text);

std::vector<Slice> Slices(const char* const* list, const size_t* sizes, size_t count);
std::vector<rocksdb::ColumnFamilyHandle*> Families(const rocksdb_column_family_handle_t* const* list, size_t count);

// Null stands for no slice.
class OptionalSlice {
 public:
  OptionalSlice(const char* bytes, size_t size) : slice_(bytes, bytes == nullptr ? 0 : size) {}
  const Slice* get() const { return slice_.data() == nullptr ? nullptr : &slice_; }

 private:
  Slice slice_;
};

// The value that `read(PinnableSlice*)` finds, or null and *vallen 0: not found is no error.
template <class Read>
char* ReadValue(size_t* vallen, char** errptr, Read read) noexcept {
  char* result = nullptr;
  *vallen = 0;
  Succeeds(errptr, [&]() -> Status {
    rocksdb::PinnableSlice value;
    const Status s = read(&value);
    if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
    result = CopyBytes(value);
    *vallen = value.size();
    return s;
  });
  return result;
}

// The same without a copy.
template <class Handle = rocksdb_pinnableslice_t, class Read>
Handle* ReadPinned(char** errptr, Read read) noexcept {
  Handle* result = nullptr;
  Succeeds(errptr, [&]() -> Status {
    auto value = std::make_unique<Handle>();
    const Status s = read(&value->rep);
    if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
    result = value.release();
    return s;
  });
  return result;
}

// The results of many reads for C: the caller's lists, one entry per key. A missing key has no value, and no error.
struct ValueLists {
  size_t count;
  char** values;
  size_t* sizes;
  char** errors;
  // Null if timestamps are not asked for.
  char** timestamps = nullptr;
  size_t* timestamp_sizes = nullptr;
};

void FillLists(const ValueLists& lists, const std::vector<Status>& statuses, const std::vector<std::string>& values,
               const std::vector<std::string>& timestamps) noexcept;

// Fills the lists with what read(&values, &timestamps) finds; it returns a Status per key.
template <class Read>
void ReadValues(const ValueLists& lists, Read read) noexcept {
  std::vector<Status> statuses;
  std::vector<std::string> values;
  std::vector<std::string> timestamps;
  try {
    statuses = read(&values, &timestamps);
  } catch (...) {
    statuses.assign(lists.count, StatusOfException());
  }
  FillLists(lists, statuses, values, timestamps);
}

}  // namespace compassdb
