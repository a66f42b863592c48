// SPDX-License-Identifier: Apache-2.0
// Which block of a piece a user key belongs to: a separator per block, and
// where each block lies. Serialised: docs/formats/piece.md, "separators".
//
// Invariants: separator(i) >= every user key of block i, and < every user key
// of block i + 1 unless both blocks hold versions of that one key, which then
// is the separator. The last separator is the piece's largest key.
//
// Thread safety: immutable after Parse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "table/key_order.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

class SeparatorIndexBuilder {
 public:
  void Add(uint64_t stored_length, const Slice& separator);
  const std::string& serialized() const { return out_; }

 private:
  std::string out_;
  std::string last_;
};

class SeparatorIndex {
 public:
  // `what` names the section in messages. The blocks must fill data_bytes exactly.
  static Status Parse(const Slice& section, uint64_t num_blocks, uint64_t data_bytes,
                      const std::string& what, SeparatorIndex* out);

  uint32_t num_blocks() const { return num_blocks_; }
  // The first block whose separator is >= user_key; num_blocks() if there is none.
  uint32_t LowerBound(const KeyOrder& order, const Slice& user_key) const;
  Slice separator(uint32_t i) const {
    return Slice(keys_.data() + key_offsets_[i], key_offsets_[i + 1] - key_offsets_[i]);
  }
  // From the start of the extent; i may be num_blocks().
  uint64_t BlockOffset(uint32_t i) const { return small_.empty() ? large_[i] : small_[i]; }
  uint64_t BlockLength(uint32_t i) const { return BlockOffset(i + 1) - BlockOffset(i); }
  size_t MemoryBytes() const;

 private:
  uint32_t num_blocks_ = 0;
  std::string keys_;                   // all separators, one after the other
  std::vector<uint32_t> key_offsets_;  // num_blocks + 1
  std::vector<uint32_t> small_;        // block offsets where they fit 32 bits, else
  std::vector<uint64_t> large_;
};

}  // namespace compassdb
