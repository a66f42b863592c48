// SPDX-License-Identifier: Apache-2.0
// Builds CPHash: segments (cp_segment.h) over a set of hashes (layout: cp_format.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "perfect_hash/build_options.h"

namespace compassdb::perfect_hash {

// The paper's values. The format holds under any.
struct CpTuning {
  double keys_per_bucket = 5;
  double scale = 1.1;         // slots per key (c)
  uint32_t segments = 64;     // fewer for small sets, more for large ones:
  uint32_t min_segment_keys = 16384;
  uint32_t max_segment_keys = 65536;
};

// hashes: any order unless `sorted`, repeats allowed. Returns the number of distinct hashes. A set
// that defeats the search (none drawn at random does) gets a pilot function instead.
uint64_t BuildCpFunction(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                         const CpTuning& tuning, const ParallelFor& parallel,
                         std::string* serialized);

}  // namespace compassdb::perfect_hash
