// SPDX-License-Identifier: Apache-2.0
// A non-decreasing sequence of integers in about 2 + log2(range / length) bits each (Elias and
// Fano), with access by index and the count of elements up to a value.
//
//   elias-fano := count:varint64 last:varint64 low{count} high
//
// `low` are the lower l bits of each element, l = floor(log2((last + 1) / count)), packed, the first
// in the lowest bits. `high` are the rest in unary: element i sets bit (element >> l) + i. Both are
// padded to 64-bit words.
//
// Thread safety: immutable after Parse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace compassdb {

// Appends; `values` must not decrease.
void EncodeEliasFano(std::span<const uint64_t> values, std::string* out);

class EliasFano {
 public:
  // Takes one sequence off the front of `input`. False if it is damaged or longer than max_count;
  // after true every query stays in bounds, and the elements do not decrease.
  static bool Parse(rocksdb::Slice* input, uint64_t max_count, EliasFano* out);

  uint64_t size() const { return count_; }
  uint64_t operator[](uint64_t i) const;  // i < size()
  // How many elements are <= value.
  uint64_t CountUpTo(uint64_t value) const;
  size_t MemoryBytes() const;

 private:
  static constexpr uint64_t kSample = 256;

  uint64_t Low(uint64_t i) const;
  bool CheckOrder() const;
  // Position of the i-th one or zero of `high`, counted from 0.
  uint64_t SelectOne(uint64_t i) const;
  uint64_t SelectZero(uint64_t i) const;
  void Sample();

  uint64_t count_ = 0;
  uint64_t last_ = 0;
  uint32_t low_bits_ = 0;
  std::vector<uint64_t> low_;   // a spare word behind the end
  std::vector<uint64_t> high_;
  // The word of every 256th one and zero, and how many of them come before that word.
  struct Start {
    uint32_t word;
    uint32_t before;
  };
  std::vector<Start> ones_;
  std::vector<Start> zeros_;
};

}  // namespace compassdb
