// SPDX-License-Identifier: Apache-2.0
// Reads that cover several values each.
#pragma once

#include <cstdint>
#include <vector>

namespace compassdb {

struct FilePlace {
  uint64_t file = 0;  // its number
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t index = 0;  // the caller's
};

struct ReadSpan {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t first = 0;  // of its places
  uint32_t count = 0;
};

// Copying a gap costs less than another read.
inline constexpr uint64_t kSpanGap = 4 << 10;
// A longer read saves little.
inline constexpr uint64_t kMostJoined = 16 << 10;

// Sorts the places by file and offset. Neighbours share a read if there is at most that gap between them, and if
// it gets no longer than kMostJoined.
void JoinPlaces(std::vector<FilePlace>* places, std::vector<ReadSpan>* spans);

}  // namespace compassdb
