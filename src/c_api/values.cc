// SPDX-License-Identifier: Apache-2.0
#include "c_api/values.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace compassdb {
char* AllocateBytes(size_t size) {
  char* const memory = static_cast<char*>(std::malloc(size == 0 ? 1 : size));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

char* CopyBytes(const Slice& bytes) {
  char* const copy = AllocateBytes(bytes.size());
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

char* CopyText(const std::string& text) {
  char* const copy = AllocateBytes(text.size() + 1);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::vector<Slice> Slices(const char* const* list, const size_t* sizes, size_t count) {
  std::vector<Slice> slices(count);
  for (size_t i = 0; i < count; ++i) slices[i] = Slice(list[i], sizes[i]);
  return slices;
}

std::vector<rocksdb::ColumnFamilyHandle*> Families(const rocksdb_column_family_handle_t* const* list, size_t count) {
  std::vector<rocksdb::ColumnFamilyHandle*> families(count);
  for (size_t i = 0; i < count; ++i) families[i] = Family(list[i]);
  return families;
}

void FillLists(const ValueLists& lists, const std::vector<Status>& statuses, const std::vector<std::string>& values,
               const std::vector<std::string>& timestamps) noexcept {
  const bool with_timestamps = lists.timestamps != nullptr;
  for (size_t i = 0; i < lists.count; ++i) {
    lists.errors[i] = nullptr;
    lists.values[i] = nullptr;
    lists.sizes[i] = 0;
    if (with_timestamps) {
      lists.timestamps[i] = nullptr;
      lists.timestamp_sizes[i] = 0;
    }
    const Status& s = statuses[i];
    if (!s.ok()) {
      if (!s.IsNotFound()) Report(&lists.errors[i], s);
      continue;
    }
    Succeeds(&lists.errors[i], [&] {
      lists.values[i] = CopyBytes(values[i]);
      lists.sizes[i] = values[i].size();
      if (with_timestamps) {
        lists.timestamps[i] = CopyBytes(timestamps[i]);
        lists.timestamp_sizes[i] = timestamps[i].size();
      }
      return Status::OK();
    });
  }
}

}  // namespace compassdb

extern "C" void rocksdb_free(void* ptr) { std::free(ptr); }
