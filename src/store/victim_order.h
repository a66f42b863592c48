// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// Which tables of a full level are moved down first, if merges rewrite tables.
enum class VictimOrder : uint8_t {
  kLeastOverlap,  // those that overlap the fewest bytes per byte of theirs (BoLT 3.4)
  kLongestAgo,    // those whose range was compacted longest ago
  kOldestNewest,  // those whose newest record is oldest
  kLargest,
};

}  // namespace compassdb
