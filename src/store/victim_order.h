// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// Which tables of a full level go down first, where merges rewrite tables.
enum class VictimOrder : uint8_t {
  kLeastOverlap,  // that meet the fewest bytes per byte of theirs (BoLT 3.4)
  kLongestAgo,    // whose range was not compacted for longest
  kOldestNewest,  // whose newest record is oldest
  kLargest,
};

}  // namespace compassdb
