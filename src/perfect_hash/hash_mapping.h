// SPDX-License-Identifier: Apache-2.0
// What every kind of function does to a hash before buckets and positions are cut from it. Part of
// the serialised form: docs/formats/perfect_hash.md.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "perfect_hash/bits.h"

namespace compassdb::perfect_hash {

// The seed that a level works with.
inline uint64_t LevelSeed(uint64_t seed, uint32_t level) {
  return Mix(seed + (uint64_t{level} + 1) * 0x9e3779b97f4a7c15ull);
}

inline uint64_t MixHash(uint64_t hash, uint64_t seed) {
  return Mix(hash ^ (seed * 0x8cb92ba72f3d8dd7ull + 0x2545f4914f6cdd1dull));
}

// How a level cuts the range of its hashes into segments of nearly equal expected size. Monotone
// between the least and the greatest hash of the level, so that sorted input stays sorted.
struct SegmentMap {
  uint64_t base = 0;
  uint64_t scale = 0;
  uint32_t shift = 0;
  uint64_t last = 0;  // number of segments - 1

  static SegmentMap Fit(uint64_t min, uint64_t max, uint64_t segments) {
    SegmentMap map;
    if (segments <= 1 || min == max) return map;
    map.base = min;
    map.shift = static_cast<uint32_t>(std::countl_zero(max - min));
    map.scale = static_cast<uint64_t>((static_cast<uint128>(segments) << 64) /
                                      ((max - min) << map.shift));
    map.last = segments - 1;
    return map;
  }

  uint64_t operator()(uint64_t hash) const {
    return std::min(MulHigh((hash - base) << shift, scale), last);
  }
};

// The bits of a hash that a level's buckets and positions come from.
inline uint64_t LevelBits(uint64_t hash, uint64_t level_seed) {
  return FoldMultiply(hash ^ level_seed, 0x9fb21c651e98df25ull);
}

}  // namespace compassdb::perfect_hash
