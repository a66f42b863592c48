// SPDX-License-Identifier: Apache-2.0
// The inner loop of CPHash: which of many displacement pairs sends all keys of a bucket to free
// slots (the paper's 4.1.2). Vectors of candidates: equation 1 with a vectorised fast-mod, then a
// gather from the bitmap of slots; candidates that survive one key are checked for the next.
//
// The instruction set is chosen at run time; every one gives the same answers.
// Thread safety: pure functions, but for ForceSimd.
#pragma once

#include <cstddef>
#include <cstdint>

#include "perfect_hash/cp_format.h"

namespace compassdb::perfect_hash {

// A candidate: its index in its list in the upper 20 bits, its pair in the lower 12.
using Candidate = uint32_t;
inline constexpr Candidate MakeCandidate(uint32_t index, uint32_t pair) {
  return index << kCpPairBits | pair;
}
inline constexpr uint32_t PairOf(Candidate candidate) { return candidate & (kCpPairs - 1); }
inline constexpr uint32_t kCandidatePadding = 16;  // readable entries behind a list's last

struct CpSlots {
  const uint32_t* occupied;  // bitmap
  uint32_t slots;
  uint32_t multiplier;  // FastModMultiplier(slots)
};

inline constexpr uint32_t kNoCandidate = ~0u;

// Index of the first candidate that sends the keys to free, different slots; else kNoCandidate.
// keys <= kCpMaxBucketSize.
inline constexpr uint32_t kCpMaxBucketSize = 64;
using FindPairFunction = uint32_t (*)(const uint32_t* h0, const uint32_t* h1, uint32_t keys,
                                      const Candidate* candidates, uint32_t count,
                                      const CpSlots& slots);

enum class Simd { kAuto, kScalar, kAvx2, kAvx512 };

// What this processor's best instruction set gives, or the one forced.
FindPairFunction ChooseFindPair();

// For tests and benchmarks: makes ChooseFindPair return this form from now on, in all threads.
// False, changing nothing, if the processor or the build does not have it.
bool ForceSimd(Simd simd);

}  // namespace compassdb::perfect_hash
