// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace compassdb {

// The hash list of a piece: one entry per distinct user key, in the order of the data (keys, slots
// or hashes). Empty if the piece has none.
struct PieceHashes {
  // The key's newest record here is a merge operand: older records in other places count.
  static constexpr uint8_t kMerge = 1;
  // When it was written, another piece of the TPH had a newer record of the key.
  static constexpr uint8_t kStale = 2;

  std::vector<uint64_t> h1;
  std::vector<uint64_t> h2;
  std::vector<uint8_t> flags;
};

}  // namespace compassdb
