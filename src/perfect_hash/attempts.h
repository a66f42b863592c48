// SPDX-License-Identifier: Apache-2.0
// How a set of hashes that may hold repeats, or that may not spread, comes to a function: attempts
// on the input as it is, then on the set, then on the set sent through seeded bijections.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace compassdb::perfect_hash {

enum class Outcome {
  kDone,
  kRepeats,  // some hash occurs twice
  kSkewed,   // the hashes do not spread over the segments
};

// The seed of a further attempt.
inline uint64_t NextSeed(uint64_t seed) { return seed + 0x9e6c63d0876a9a47ull; }

struct Attempt {
  std::span<const uint64_t> hashes;  // distinct if sorted; already mixed if `mixed`
  bool sorted = false;
  uint64_t seed = 0;
  bool mixed = false;
  bool last = false;  // must end in kDone, unless hashes repeat
};

// Calls `attempt` until one is kDone; returns the number of distinct hashes. An attempt on sorted
// input may not answer kRepeats. A wrong claim of `sorted` is noticed.
uint64_t BuildByAttempts(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                         const std::function<Outcome(const Attempt&)>& attempt);

}  // namespace compassdb::perfect_hash
