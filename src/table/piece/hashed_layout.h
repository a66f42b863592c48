// SPDX-License-Identifier: Apache-2.0
// Which keys of a piece in slot or hash order share a data block, and the order of the blocks
// (paper 4.2). All versions of a key are in one block, and so are keys with one 64-bit hash.
//
//   locator := prefix_bits:u8 first_bucket:elias-fano{num_blocks}        hash order
//            | slots_per_block:varint32 function:length-prefixed         slot order
//
// Hash order: keys of a bucket share the first prefix_bits bits of h1 (about four buckets per
// key). A block holds the whole buckets from its first to the next block's first; the first
// block's is 0. Slot order: block = slot / slots_per_block; a block may be empty.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compassdb/data_order.h"
#include "perfect_hash/perfect_hash.h"
#include "rocksdb/slice.h"
#include "util/elias_fano.h"

namespace compassdb {

struct HashedLayout {
  std::vector<uint32_t> keys;       // numbers of keys, in order of hash or slot
  std::vector<uint32_t> block_end;  // block b holds keys[block_end[b - 1]] .. keys[block_end[b] - 1]
  std::string locator;
};

// `h1` and `bytes` (what the key's records need in a block) are by key number. In hash order a block
// with at least `full` bytes takes no records that make it exceed block_payload. False if the
// perfect hash function cannot be built or there are too many blocks for the format. `function` is for slot order.
bool PlanHashedLayout(DataOrder order, std::span<const uint64_t> h1,
                      std::span<const uint32_t> bytes, size_t block_payload, size_t full,
                      const perfect_hash::BuildOptions& function, HashedLayout* layout);

// Finds the block of a hash. Thread safety: immutable after Parse.
class BlockLocator {
 public:
  // Takes all of `bytes`. After true, Locate returns less than num_blocks for any bytes.
  static bool Parse(DataOrder order, rocksdb::Slice bytes, uint64_t num_blocks, BlockLocator* out);

  BlockLocator() = default;
  BlockLocator(BlockLocator&&) = default;
  BlockLocator& operator=(BlockLocator&&) = default;

  // The only block that can hold keys of this hash. There must be blocks.
  uint32_t Locate(uint64_t h1) const {
    if (order_ == DataOrder::kSlot) return static_cast<uint32_t>(function_(h1) / slots_per_block_);
    return static_cast<uint32_t>(first_bucket_.CountUpTo(h1 >> shift_) - 1);
  }
  size_t MemoryBytes() const;

 private:
  DataOrder order_ = DataOrder::kHash;
  uint32_t shift_ = 0;
  EliasFano first_bucket_;
  uint32_t slots_per_block_ = 1;
  std::vector<uint8_t> function_bytes_;
  perfect_hash::Function function_;  // a view of function_bytes_
};

}  // namespace compassdb
