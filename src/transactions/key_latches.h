// SPDX-License-Identifier: Apache-2.0
// Short locks on hashes of keys, for commits that validate and then write.
//
// Several are taken in ascending order, so no threads wait in a circle; two
// keys with one hash share a latch.
//
// Thread safety: all of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"
#include "util/hash.h"

namespace compassdb {

class KeyLatches {
 public:
  explicit KeyLatches(uint32_t count)
      : count_(std::max<uint32_t>(1, count)),
        latches_(std::make_unique<std::atomic<uint8_t>[]>(count_)) {}

  uint32_t LatchOf(uint32_t family, const rocksdb::Slice& key) const {
    return static_cast<uint32_t>(compassdb::Hash64(key, family) % count_);
  }

  // Holds latches for a scope.
  class Hold {
   public:
    Hold(KeyLatches* latches, std::vector<uint32_t> wanted)
        : latches_(latches), held_(std::move(wanted)) {
      std::sort(held_.begin(), held_.end());
      held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
      for (const uint32_t latch : held_) latches_->Lock(latch);
    }
    ~Hold() {
      for (const uint32_t latch : held_) latches_->Unlock(latch);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    KeyLatches* const latches_;
    std::vector<uint32_t> held_;
  };

 private:
  void Lock(uint32_t latch) {
    std::atomic<uint8_t>& word = latches_[latch];
    while (word.exchange(1, std::memory_order_acquire) != 0) {
      word.wait(1, std::memory_order_relaxed);
    }
  }
  void Unlock(uint32_t latch) {
    latches_[latch].store(0, std::memory_order_release);
    latches_[latch].notify_one();
  }

  const uint32_t count_;
  const std::unique_ptr<std::atomic<uint8_t>[]> latches_;
};

}  // namespace compassdb
