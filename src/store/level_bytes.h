// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace compassdb {

// The configured size of a level from 1 on, in bytes: that of level 1, times a multiplier for each
// level in between. As in RocksDB, entry l of `additional` belongs to the step from level l to l + 1.
inline double LevelBytes(uint64_t level1, double multiplier, const std::vector<int>& additional,
                         int level) {
  double bytes = static_cast<double>(level1);
  for (int l = 1; l < level; ++l) {
    bytes *= multiplier;
    if (static_cast<size_t>(l) < additional.size()) bytes *= additional[static_cast<size_t>(l)];
  }
  return bytes;
}

}  // namespace compassdb
