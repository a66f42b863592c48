// SPDX-License-Identifier: Apache-2.0
// Word-level arithmetic shared by the builders and the queries of this library.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace compassdb::perfect_hash {

__extension__ using uint128 = unsigned __int128;

inline uint64_t MulHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<uint128>(a) * b) >> 64);
}

// Multiplies to 128 bits and folds the halves together: every bit of the result depends on every
// bit of the input, also where all inputs share their upper or their lower bits.
inline uint64_t FoldMultiply(uint64_t a, uint64_t b) {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// A bijection of 64-bit words in which every input bit flips every output bit half of the time.
inline uint64_t Mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 29;
  x *= 0xa0761d6478bd642full;
  x ^= x >> 32;
  return x;
}

// Serialised words are little-endian and need not be aligned.
inline uint64_t LoadWord(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof(v));
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap64(v);
  return v;
}

inline void StoreWord(uint8_t* p, uint64_t v) {
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof(v));
}

inline void PrefetchRead(const void* p) { __builtin_prefetch(p, 0, 3); }

}  // namespace compassdb::perfect_hash
