// SPDX-License-Identifier: Apache-2.0
// Finds the block of a piece for a user key, and the place of each block, with
// a few bits per block. Serialised form: table/directory/separator_format.h.
//
// A block's code is its last key as a number (KeyNumbering), cut to the bits
// that distinguish it from the next block's first key. The codes of 128 blocks
// make a group, in Elias-Fano form relative to the last number of the group
// before. If the bits do not suffice (or the order of keys is a comparator's
// own), an exception has a separator string.
//
// Thread safety: immutable after Parse. For any bytes, lookups stay in bounds
// and return existing blocks and ranges inside the data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/status.h"
#include "table/directory/key_number.h"
#include "table/directory/separator_format.h"
#include "table/piece/key_order.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

class SeparatorIndex {
 public:
  // `what` names the piece in messages. The blocks fill data_bytes exactly.
  static Status Parse(const Slice& section, const KeyOrder& order, uint64_t num_blocks,
                      uint64_t data_bytes, const std::string& what, SeparatorIndex* out);

  uint32_t num_blocks() const { return num_blocks_; }
  // The block with user_key if there is one. Otherwise the block of the next
  // key, or (rarely) the one before it. For keys after the last one:
  // num_blocks(), or the last block.
  uint32_t LowerBound(const KeyOrder& order, const Slice& user_key) const;
  // The last user key of `block` has versions in the next block, too.
  bool KeyContinues(uint32_t block) const;
  // From the start of the extent; i may be num_blocks().
  uint64_t BlockOffset(uint32_t i) const;
  uint64_t BlockLength(uint32_t i) const {
    const uint64_t begin = BlockOffset(i), end = BlockOffset(i + 1);
    return end > begin ? end - begin : 0;
  }
  // In the heap: all of it, and the part of it that block offsets take.
  size_t MemoryBytes() const;
  size_t OffsetBytes() const;

 private:
  uint32_t NumGroups() const { return (num_blocks_ + kSeparatorGroup - 1) / kSeparatorGroup; }
  uint32_t BlocksOf(uint32_t group) const {
    return std::min(kSeparatorGroup, num_blocks_ - group * kSeparatorGroup);
  }
  const char* TopArray() const { return bytes_.get() + kSeparatorHeaderBytes; }
  uint64_t Top(uint32_t group) const { return DecodeFixed64(TopArray() + size_t{8} * group); }
  SeparatorGroup Group(uint32_t group) const {
    return SeparatorGroup::Decode(TopArray() + size_t{8} * NumGroups() +
                                  kSeparatorGroupBytes * group);
  }
  const char* Ends() const {
    return TopArray() + (size_t{8} + kSeparatorGroupBytes) * NumGroups();
  }
  const char* Positions() const { return Ends() + size_t{4} * exceptions_; }
  const char* Streams() const { return Positions() + exceptions_; }
  const char* Strings() const { return Streams() + stream_bytes_ + kSeparatorStreamPadding; }
  const char* Prefix() const { return Strings() + string_bytes_; }
  uint32_t Position(uint32_t exception) const {
    return static_cast<uint8_t>(Positions()[exception]) & ~uint32_t{kKeyContinues};
  }
  // After the last exception of `group`.
  uint32_t ExceptionsEnd(uint32_t group) const {
    return group + 1 < NumGroups() ? Group(group + 1).exception : exceptions_;
  }
  Slice ExceptionString(uint32_t exception) const;
  // The exception of block `position` of a group, or `end`.
  uint32_t FindException(uint32_t begin, uint32_t end, uint32_t position) const;

  bool CheckParts() const;
  uint32_t FindString(const KeyOrder& order, const Slice& user_key) const;
  uint32_t FindGroup(const KeyOrder& order, const Slice& rest, uint64_t number) const;
  uint32_t FindInGroup(const KeyOrder& order, uint32_t group, const Slice& rest,
                       uint64_t number) const;
  bool GroupEndsBefore(const KeyOrder& order, uint32_t group, const Slice& rest) const;
  uint32_t ResolveTie(const KeyOrder& order, uint32_t group, const SeparatorGroup& g,
                      uint32_t position, const Slice& rest) const;

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t base_ = 0;
  KeyNumbering numbering_;
  SeparatorKind kind_ = SeparatorKind::kStrings;
  uint32_t num_blocks_ = 0;
  uint32_t exceptions_ = 0;
  uint32_t stream_bytes_ = 0;
  uint32_t string_bytes_ = 0;
  uint32_t prefix_length_ = 0;
};

}  // namespace compassdb
