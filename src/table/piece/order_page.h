// SPDX-License-Identifier: Apache-2.0
// The reverse index of a piece in slot or hash order (paper 3.3, "Scan"; 4.2): for each key, in the
// order of keys, the place of its records. It is on disk in pages of kKeys keys, stored like data
// blocks, and checked and cached like them. The payload of a page is a block of one or
// two records with empty keys:
//
//   places      := packed{count}   block << index_bits | index of the key's first record in it
//   differences := packed{count}   FirstDifference of the key and the key before it; 0 for the first
//
// Differences exist if keys are ordered bytewise. With them a search among many keys reads one
// key only (a blind search, as in the String B-tree and Ferguson's Bit-Tree).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "table/block/block.h"

namespace compassdb {

struct RecordPlace {
  uint32_t block = 0;
  uint32_t index = 0;
};

// The widths of the numbers in a piece's pages, bits.
struct OrderWidths {
  static constexpr uint32_t kMax = 57;
  uint32_t block = 0;
  uint32_t index = 0;
  uint32_t difference = 0;  // 0: there are none
  uint32_t place() const { return block + index; }
};

class OrderPage {
 public:
  static constexpr uint64_t kKeys = 1024;
  // Keys, in key order, between two separators (the paper's samples).
  static constexpr uint64_t kGroup = 64;

  static void Encode(std::span<const RecordPlace> places, std::span<const uint32_t> differences,
                     const OrderWidths& widths, std::string* payload);
  // A view of the block's payload. False: damaged.
  static bool Parse(const Block& block, uint32_t count, const OrderWidths& widths, OrderPage* out);

  uint32_t count() const { return count_; }
  RecordPlace place(uint32_t i) const {
    const uint64_t v = Packed(places_, i, widths_.place());
    return {static_cast<uint32_t>(v >> widths_.index),
            static_cast<uint32_t>(v & ((uint64_t{1} << widths_.index) - 1))};
  }
  bool has_differences() const { return widths_.difference > 0; }
  uint64_t difference(uint32_t i) const { return Packed(differences_, i, widths_.difference); }

  // Among the keys begin .. end - 1, the one that shares the longest prefix with user_key, or one of them.
  uint32_t Candidate(uint32_t begin, uint32_t end, const Slice& user_key) const;
  // The first key >= user_key among begin .. end - 1, or `end`. The candidate's key differs from
  // user_key first at `difference`, where it is smaller or not.
  uint32_t LowerBound(uint32_t begin, uint32_t end, uint32_t candidate, uint64_t difference,
                      bool candidate_is_smaller) const;

 private:
  static uint64_t Packed(const char* bytes, uint64_t i, uint32_t width) {
    const uint64_t bit = i * width;
    return DecodeFixed64(bytes + bit / 8) >> (bit % 8) & ((uint64_t{1} << width) - 1);
  }

  OrderWidths widths_;
  uint32_t count_ = 0;
  const char* places_ = nullptr;
  const char* differences_ = nullptr;
};

// Keys as strings of bits, nine for each byte: a one and the byte's bits; zeros after the
// end. Their order is the bytewise one. UINT64_MAX if a and b are equal.
uint64_t FirstDifference(const Slice& a, const Slice& b);
bool BitAt(const Slice& key, uint64_t position);

}  // namespace compassdb
