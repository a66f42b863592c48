// SPDX-License-Identifier: Apache-2.0
// Groups hashes by the segment that they belong to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfect_hash/hash_mapping.h"

namespace compassdb::perfect_hash {

// begins[s] .. begins[s + 1] is segment s in `hashes`, which must ascend.
std::vector<uint64_t> FindSegments(std::span<const uint64_t> hashes, const SegmentMap& map);

// The same for hashes in any order: writes them grouped by segment to `grouped`, which has room
// for all of them. Within a segment they come in no particular order.
std::vector<uint64_t> GroupBySegment(std::span<const uint64_t> hashes, const SegmentMap& map,
                                     uint64_t* grouped);

// The distinct hashes, ascending. Fast where they spread evenly over their range.
std::vector<uint64_t> SortDistinct(std::span<const uint64_t> hashes);

}  // namespace compassdb::perfect_hash
