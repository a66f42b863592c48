// SPDX-License-Identifier: Apache-2.0
// The keys of a memtable as a blocked Bloom filter (one cache line per key).
// It saves most reads of missing keys the search in the skip list. Its memory
// is mapped when keys first touch it: a memtable of few keys has few pages of
// it.
//
// Thread safety: Add and MayContain may be concurrent in any number of threads.
// A reader that acquires what a writer released after Add sees the key in the
// filter.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace compassdb {

class MemTableFilter {
 public:
  // Takes a power of two of at most `bytes`. Without memory for it, every key passes.
  explicit MemTableFilter(size_t bytes);
  ~MemTableFilter();
  MemTableFilter(const MemTableFilter&) = delete;
  MemTableFilter& operator=(const MemTableFilter&) = delete;

  void Add(uint64_t hash) {
    if (lines_ == nullptr) return;
    Line& line = lines_[hash >> shift_];
    uint64_t bits = hash;
    for (int i = 0; i < kProbes; ++i, bits >>= kProbeBits) {
      std::atomic<uint64_t>& word = line.words[bits >> 6 & 7];
      const uint64_t bit = uint64_t{1} << (bits & 63);
      if ((word.load(std::memory_order_relaxed) & bit) == 0) {
        word.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  }

  bool MayContain(uint64_t hash) const {
    if (lines_ == nullptr) return true;
    const Line& line = lines_[hash >> shift_];
    uint64_t bits = hash;
    for (int i = 0; i < kProbes; ++i, bits >>= kProbeBits) {
      const uint64_t word = line.words[bits >> 6 & 7].load(std::memory_order_relaxed);
      if ((word >> (bits & 63) & 1) == 0) return false;
    }
    return true;
  }

  // Memory in use, at most, once `keys` keys were added.
  size_t BytesInUse(uint64_t keys) const;

 private:
  static constexpr int kProbes = 5;
  static constexpr int kProbeBits = 9;  // of 512 in a line
  struct alignas(64) Line {
    std::atomic<uint64_t> words[8];
  };
  uint32_t shift_ = 63;
  void* memory_ = nullptr;
  Line* lines_ = nullptr;
};

}  // namespace compassdb
