// SPDX-License-Identifier: Apache-2.0
// Counting and finding set bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace compassdb {

// The set bits of a word's bytes 0..j, in byte j: without a popcount instruction, which not every
// processor that we are built for has, this is what both functions below begin with.
inline uint64_t BytewiseSums(uint64_t word) {
  uint64_t sums = word - (word >> 1 & 0x5555555555555555u);
  sums = (sums & 0x3333333333333333u) + (sums >> 2 & 0x3333333333333333u);
  return ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u;
}
inline uint32_t CountOfSums(uint64_t sums) { return static_cast<uint32_t>(sums >> 56); }

// The place of set bit k (from 0) of a word that has more than k.
inline uint32_t SelectInWord(uint64_t word, uint64_t sums, uint32_t k) {
  constexpr uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  // One per byte whose sum is at most k, counted by a multiplication.
  const uint64_t before = ((k * ones | high) - sums) & high;
  const uint32_t byte = static_cast<uint32_t>((before >> 7) * ones >> 56) * 8;
  k -= static_cast<uint32_t>((sums << 8) >> byte & 0xff);
  uint64_t rest = word >> byte & 0xff;
  for (; k > 0; --k) rest &= rest - 1;
  return byte + static_cast<uint32_t>(std::countr_zero(rest));
}
inline uint32_t SelectInWord(uint64_t word, uint32_t k) {
  return SelectInWord(word, BytewiseSums(word), k);
}

}  // namespace compassdb
