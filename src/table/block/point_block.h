// SPDX-License-Identifier: Apache-2.0
// A block that is read from the file for one of its records, into memory of the thread, and
// searched there. Before the read the cache was asked what to keep. Direct reads need no copy.
//
// Thread safety: one thread.
#pragma once

#include "env/aligned_reads.h"
#include "format/key_hash.h"
#include "table/block/block.h"
#include "table/block/block_io.h"

namespace compassdb {

class PointBlock {
 public:
  // Larger blocks do not use this.
  static constexpr size_t kMaxBytes = 64 << 10;

  PointBlock() = default;
  ~PointBlock();
  PointBlock(const PointBlock&) = delete;
  PointBlock& operator=(const PointBlock&) = delete;

  // Reads, verifies and parses.
  Status Read(const BlockLoader& loader, const BlockPlace& place, const BlockReadOptions& read);
  const Block& block() const { return block_; }
  Slice payload() const { return payload_; }

 private:
  AlignedBuffer room_;
  LoadedBlock* unpacked_ = nullptr;  // owned; of a compressed block
  Block block_;
  Slice payload_;
};

}  // namespace compassdb
