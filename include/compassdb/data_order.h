// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// The order of a piece's records on disk. Iterators return keys in the order of the comparator in
// any case. Values are part of the format.
enum class DataOrder : uint8_t {
  // Sorted by key: scans read sequentially.
  kKey = 0,
  // By the slots of a perfect hash function over the piece's keys, a fixed number of slots per
  // block (CompassDB paper, section 4.2).
  kSlot = 1,
  // By the hash of the key: point reads find the block with a few bits per block. The least index
  // memory.
  kHash = 2,
};

}  // namespace compassdb
