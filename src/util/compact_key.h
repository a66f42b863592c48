// SPDX-License-Identifier: Apache-2.0
// A string of bytes that is set once and exists thousands of times: no spare capacity.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "rocksdb/slice.h"
#include "util/heap_bytes.h"

namespace compassdb {

class CompactKey {
 public:
  CompactKey() = default;
  CompactKey(const CompactKey& other) { *this = rocksdb::Slice(other); }
  CompactKey(CompactKey&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  CompactKey& operator=(const CompactKey& other) { return *this = rocksdb::Slice(other); }
  CompactKey& operator=(CompactKey&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  // Below 4 GiB, as keys are.
  CompactKey& operator=(const rocksdb::Slice& bytes) {
    std::unique_ptr<char[]> copy;
    if (!bytes.empty()) {
      copy.reset(new char[bytes.size()]);
      memcpy(copy.get(), bytes.data(), bytes.size());
    }
    bytes_ = std::move(copy);
    size_ = static_cast<uint32_t>(bytes.size());
    return *this;
  }
  // An empty one has an address, too: memcmp and its like want one.
  operator rocksdb::Slice() const {
    return size_ == 0 ? rocksdb::Slice() : rocksdb::Slice(bytes_.get(), size_);
  }
  friend bool operator==(const CompactKey& a, const rocksdb::Slice& b) {
    return rocksdb::Slice(a) == b;
  }
  friend bool operator==(const CompactKey& a, const CompactKey& b) {
    return rocksdb::Slice(a) == rocksdb::Slice(b);
  }
  size_t MemoryBytes() const { return HeapBytes(size_); }

 private:
  std::unique_ptr<char[]> bytes_;
  uint32_t size_ = 0;
};

}  // namespace compassdb
