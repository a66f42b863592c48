// SPDX-License-Identifier: Apache-2.0
// Memory that values of one batch are pinned to. It stays as long as one of them is. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rocksdb/slice.h"

namespace compassdb {

class SharedRoom {
 public:
  SharedRoom() = default;
  ~SharedRoom() { Leave(); }
  SharedRoom(const SharedRoom&) = delete;
  SharedRoom& operator=(const SharedRoom&) = delete;

  // So many bytes; those of the call before if no value is pinned to them.
  char* Reserve(size_t bytes) {
    if (memory_ == nullptr || memory_->users > 1 || memory_->size < bytes || memory_->size > kMostKept) {
      Leave();
      memory_ = new Memory{std::make_unique_for_overwrite<char[]>(bytes), bytes};
    }
    return memory_->bytes.get();
  }
  // `bytes` are in it.
  void Pin(const rocksdb::Slice& bytes, rocksdb::PinnableSlice* value) {
    ++memory_->users;
    value->PinSlice(bytes, &Release, memory_, nullptr);
  }

 private:
  static constexpr size_t kMostKept = 2 << 20;
  struct Memory {
    std::unique_ptr<char[]> bytes;
    size_t size;
    uint32_t users = 1;
  };
  static void Release(void* memory, void* /*unused*/) {
    auto* const m = static_cast<Memory*>(memory);
    if (--m->users == 0) delete m;
  }
  void Leave() {
    if (memory_ != nullptr) Release(memory_, nullptr);
    memory_ = nullptr;
  }

  Memory* memory_ = nullptr;
};

}  // namespace compassdb
