// SPDX-License-Identifier: Apache-2.0
// The offsets of a piece's blocks: per 128 blocks a straight line, and the distance of each block to it.
// Blocks of one length need only the line.
//
//   block-offsets := stream_bytes:varint32 group{groups} stream zero:u8{8}
//   group         := (offset:48 signed, residual_bits:8):u64le stride:u32le stream:u32le
//
// Thread safety: immutable after Parse. For any bytes, results are inside the data.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "table/block/packed_fields.h"

namespace compassdb {

// The line through n + 1 ascending offsets. The last one is the end of the last block.
struct OffsetLine {
  int64_t offset = 0;
  uint32_t stride = 0;
  uint8_t residual_bits = 0;

  static OffsetLine Fit(const uint64_t* offsets, uint32_t n);
  uint64_t At(uint32_t i) const {
    return static_cast<uint64_t>(offset) + uint64_t{stride} * i;
  }
  // offsets[i] - At(i) of n blocks.
  void AppendResiduals(const uint64_t* offsets, uint32_t n, std::string* out) const;
};

class BlockOffsets {
 public:
  static constexpr uint32_t kGroup = 128;  // blocks

  // offsets[num_blocks] is the end of the data, below 2^47. False if residuals exceed 4 GiB.
  static bool Encode(const uint64_t* offsets, uint32_t num_blocks, std::string* out);
  // Removes its part from the front of `input`.
  static bool Parse(rocksdb::Slice* input, uint32_t num_blocks, uint64_t data_bytes,
                    BlockOffsets* out);

  uint64_t operator[](uint32_t i) const;  // i <= num_blocks
  // The length of block i; 0 if damaged bytes say less.
  uint64_t Length(uint32_t i) const {
    const uint64_t begin = (*this)[i], end = (*this)[i + 1];
    return end > begin ? end - begin : 0;
  }
  size_t MemoryBytes() const { return bytes_.capacity(); }

 private:
  static constexpr size_t kGroupBytes = 16;

  uint32_t NumGroups() const { return (num_blocks_ + kGroup - 1) / kGroup; }
  uint32_t BlocksOf(uint32_t group) const;

  std::string bytes_;  // groups, streams, padding
  uint32_t num_blocks_ = 0;
  uint64_t data_bytes_ = 0;
};

}  // namespace compassdb
