// SPDX-License-Identifier: Apache-2.0
// The recent misses of a full block cache, so that it admits only what is read again: as many blocks
// as it could hold, and about as many records. Each is a tag of 16 bits in a slot by its hash; a
// later one replaces it.
//
// Thread safety: all methods, without locks; a tag that two threads write at once may be lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/mutex.h"

namespace compassdb {

class MissHistory {
 public:
  // For a cache of this many bytes. What was noted may be forgotten.
  void Resize(size_t capacity);
  // Whether it was noted recently; if not, notes it.
  bool NoteBlock(uint64_t hash) { return blocks_.Note(hash); }
  bool NoteRecord(uint64_t hash) { return records_.Note(hash); }
  // It may be noted soon.
  void PrefetchBlock(uint64_t hash) const { blocks_.Prefetch(hash); }
  void PrefetchRecord(uint64_t hash) const { records_.Prefetch(hash); }

 private:
  class Tags {
   public:
    void Resize(size_t slots);
    bool Note(uint64_t hash);
    void Prefetch(uint64_t hash) const {
      const uint32_t bits = bits_.load(std::memory_order_acquire);
      if (bits == 0) return;
      __builtin_prefetch(tags_.load(std::memory_order_acquire) + (hash >> (64 - bits)), /*rw=*/1);
    }

   private:
    struct Free {
      void operator()(uint16_t* tags) const;
    };
    std::atomic<uint16_t*> tags_{nullptr};
    std::atomic<uint32_t> bits_{0};  // that many lead to a slot; 0: there are none
    Mutex mu_;
    uint32_t most_bits_ GUARDED_BY(mu_) = 0;
    // All arrays ever used: each at least twice as large as the one before.
    std::vector<std::unique_ptr<uint16_t, Free>> arrays_ GUARDED_BY(mu_);
  };

  Tags blocks_;
  Tags records_;
};

}  // namespace compassdb
