// SPDX-License-Identifier: Apache-2.0
// The pilot function: its serialised form and the arithmetic that its builder and queries share.
//
//   function := kind:u8(=1) flags:u8 levels:u8 keys:varint slots:varint
//               [seed:u64le, unless levels = flags = 0] level{levels} [listed:varint list]
//   level    := segments:varint buckets:varint                    (buckets: of each segment)
//               [base:u64le scale:u64le shift:u8, if segments > 1]
//               entry:u64le{segments} pilot:u8{segments * buckets}
//   entry    := seed:8 | slots:16 | first_slot:40                 (from the upper bits down)
//   list     := hash:u64le{listed}, strictly ascending
//   flags    : bit 0 = mixed, bit 1 = a list follows the levels
//
// A query walks the levels. In a level, the hash's place in [base, base + range] names the segment,
// a multiply-fold of the hash names one of the segment's buckets, and the bucket's pilot
// (alpha : upper bits, beta : lower bits) gives the slot:
//
//     first_slot + (position(hash, alpha) + beta) mod slots of the segment
//
// Pilot 255 says that the bucket's keys were bumped to the next level. A key bumped by every level
// is found in the list; it takes the slot at its rank there, behind the slots of all levels.
//
// `mixed` marks sets whose hashes do not spread over the segments: every hash is sent through a
// seeded bijection first. Keys of the last resort (list) cost 64 bits each and hardly ever exist.
#pragma once

#include <algorithm>
#include <cstdint>

#include "perfect_hash/bits.h"
#include "perfect_hash/hash_mapping.h"

namespace compassdb::perfect_hash {

inline constexpr uint8_t kPilotKind = 1;
inline constexpr uint8_t kFlagMixed = 1;
inline constexpr uint8_t kFlagList = 2;
inline constexpr uint32_t kMaxLevels = 6;
inline constexpr uint8_t kBumpedPilot = 255;
inline constexpr uint32_t kBetaBits = 6;  // in segments of at least 64 slots; fewer below
inline constexpr uint32_t kMinSlotsOfMany = 1u << kBetaBits;  // where a level has many segments
inline constexpr uint32_t kMaxSegmentSlots = 65535;
inline constexpr uint32_t kMaxBuckets = 65535;
inline constexpr int kFirstSlotBits = 40;

// Segment entry.
inline uint64_t PackEntry(uint64_t first_slot, uint32_t slots, uint8_t seed) {
  return first_slot | (uint64_t{slots} << kFirstSlotBits) | (uint64_t{seed} << 56);
}
inline uint64_t EntryFirstSlot(uint64_t entry) {
  return entry & ((uint64_t{1} << kFirstSlotBits) - 1);
}
inline uint32_t EntrySlots(uint64_t entry) {
  return static_cast<uint32_t>(entry >> kFirstSlotBits) & 0xffff;
}
inline uint8_t EntrySeed(uint64_t entry) { return static_cast<uint8_t>(entry >> 56); }

// Branch-free uneven buckets: t -> t * (t + a * (1 - t)) with a = 2^-kBucketSkew, t in [0, 1). The
// first buckets get most keys; they are placed first, while nearly every slot is free.
inline constexpr int kBucketSkew = 3;
inline uint32_t BucketOf(uint64_t bits, uint64_t buckets) {
  const uint64_t t = bits >> 32;
  const uint64_t slope = t - (t >> kBucketSkew) + (uint64_t{1} << (32 - kBucketSkew));
  return static_cast<uint32_t>(MulHigh(t * slope, buckets));
}

// The bits that positions are cut from. A segment's seed changes these only, so that a query can
// find the pilot before it has read the segment's entry.
inline uint64_t PositionBits(uint64_t bits, uint8_t segment_seed) {
  return bits * (0xc2b2ae3d27d4eb4full + segment_seed * 0x62a9d9ed799705f4ull);
}

inline uint32_t Position(uint64_t position_bits, uint32_t alpha, uint64_t slots) {
  const uint64_t word = std::rotl(position_bits, static_cast<int>(alpha * 17 & 63)) >> 32;
  return static_cast<uint32_t>((word * slots) >> 32);
}

// Beta must stay below the slots of the segment, so that one subtraction wraps.
inline uint32_t BetaBitsFor(uint32_t slots) {
  return std::min<uint32_t>(kBetaBits, static_cast<uint32_t>(std::bit_width(slots)) - 1);
}

}  // namespace compassdb::perfect_hash
