// SPDX-License-Identifier: Apache-2.0
// What a full block cache remembers of misses, so that it makes room only for what is wanted
// again: of blocks as many as it could hold, of records about as many. A tag of 16 bits stands for
// each, in a slot by its hash; a later one takes the slot over.
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
  // Whether it was noted lately; if not, it is now.
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
