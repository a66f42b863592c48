// SPDX-License-Identifier: Apache-2.0
// CPHash (the paper's sections 2.2, 3.1 and 4.1): its serialised form and the arithmetic that its
// builder and queries share.
//
//   function   := kind:u8(=2) flags:u8 keys:varint slots:varint
//                 [rest, unless there are no keys]
//   rest       := seed:u64le segments:varint buckets:varint width:u8 pairs:varint
//                                                                (buckets: of each segment)
//                 [base:u64le scale:u64le shift:u8, if segments > 1]
//                 entry:16 bytes{segments} pair:12 bits{pairs} code:width bits{segments * buckets}
//                 padding:u8{8}                      (packed, lowest bit first, each to a whole byte)
//   entry      := seed:8 | zero:16 | first_slot:40, slots:32 | first_pair:32
//                                                      (two words, from the upper bits down)
//   pair       := alpha:6 | beta:6                               (from the upper bits down)
//   flags      : bit 0 = mixed
//
// The hash's place in [base, base + range] names the segment; 60 % of a segment's keys go to its
// dense first 30 % of buckets (equation 2). The bucket's code is an index into the segment's
// dictionary of displacement pairs or, if there are no dictionaries, the pair itself. Then
// (equation 1)
//
//     slot = first_slot + (h0 + h1 * alpha + beta) mod slots of the segment
//
// Widths are such that the sum does not overflow 32 bits, so that vectors of 32-bit lanes compute it.
#pragma once

#include <cstdint>

#include "perfect_hash/bits.h"

namespace compassdb::perfect_hash {

inline constexpr uint8_t kCpKind = 2;
inline constexpr uint8_t kCpFlagMixed = 1;
inline constexpr uint32_t kCpBetaBits = 6;
inline constexpr uint32_t kCpPairBits = 12;
inline constexpr uint32_t kCpPairs = 1u << kCpPairBits;  // attempts, before slots are added
inline constexpr uint64_t kCpEntryBytes = 16;
inline constexpr uint64_t kCpPaddingBytes = 8;  // lets every code be read by one 8-byte load
inline constexpr uint32_t kCpMaxSegmentSlots = 1u << 30;
inline constexpr int kCpFirstSlotBits = 40;

// Eight bits suffice: a seed fails only if two keys of a bucket agree in both h0 and h1 mod slots.
struct CpEntry {
  uint64_t first_slot = 0;
  uint32_t first_pair = 0;
  uint32_t slots = 0;
  uint8_t seed = 0;
};

inline CpEntry LoadCpEntry(const uint8_t* p) {
  const uint64_t a = LoadWord(p);
  const uint64_t b = LoadWord(p + 8);
  return {a & ((uint64_t{1} << kCpFirstSlotBits) - 1), static_cast<uint32_t>(b),
          static_cast<uint32_t>(b >> 32), static_cast<uint8_t>(a >> 56)};
}

inline void StoreCpEntry(uint8_t* p, const CpEntry& entry) {
  StoreWord(p, entry.first_slot | (uint64_t{entry.seed} << 56));
  StoreWord(p + 8, entry.first_pair | (uint64_t{entry.slots} << 32));
}

// Equation 2 as one piecewise linear map. `dense` is DenseBuckets(buckets).
inline uint32_t DenseBuckets(uint32_t buckets) { return (buckets * 3 + 5) / 10; }
inline uint32_t CpBucketOf(uint64_t bits, uint32_t buckets, uint32_t dense) {
  constexpr uint32_t kDenseKeys = 2576980378u;  // 60 % of 2^32
  const bool in_dense = static_cast<uint32_t>(bits >> 32) < kDenseKeys;
  const uint64_t first = in_dense ? 0 : dense;
  const uint64_t count = in_dense ? dense : buckets - dense;
  return static_cast<uint32_t>(first + (((bits & 0xffffffffu) * count) >> 32));
}

// The two hash values of equation 1 under a segment's seed: h0 < 2^31, h1 < 2^24.
struct CpHash {
  uint32_t h0 = 0;
  uint32_t h1 = 0;
};
inline CpHash CpHashOf(uint64_t bits, uint8_t segment_seed) {
  const uint64_t x = FoldMultiply(bits ^ (segment_seed * 0x62a9d9ed799705f4ull),
                                  0xc2b2ae3d27d4eb4full);
  return {static_cast<uint32_t>(x >> 33), static_cast<uint32_t>(x & 0xffffff)};
}

// h0 + h1 * alpha + beta, before the modulus. A pair of damaged bytes wraps, which is harmless.
inline uint32_t CpSum(CpHash hash, uint32_t pair) {
  constexpr uint32_t kBetaMask = (1u << kCpBetaBits) - 1;
  return hash.h0 + hash.h1 * (pair >> kCpBetaBits) + (pair & kBetaMask);
}

// Fast-mod: x mod divisor by a multiplication, for any x < 2^32 and 2 <= divisor <= 2^31. The
// quotient may be one too small; the remainder's minimum with itself less divisor repairs that.
inline uint32_t FastModMultiplier(uint32_t divisor) {
  return static_cast<uint32_t>((uint64_t{1} << 32) / divisor);
}
inline uint32_t FastMod(uint32_t x, uint32_t divisor, uint32_t multiplier) {
  const uint32_t quotient = static_cast<uint32_t>((uint64_t{x} * multiplier) >> 32);
  const uint32_t remainder = x - quotient * divisor;
  return remainder >= divisor ? remainder - divisor : remainder;
}

}  // namespace compassdb::perfect_hash
