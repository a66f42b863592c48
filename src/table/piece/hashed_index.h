// SPDX-License-Identifier: Apache-2.0
// The index in memory of a piece in slot or hash order: the places of its data blocks, the block of a
// hash, and the places of the pages of the reverse index. It replaces separators
// (docs/formats/piece.md, "hashed index"):
//
//   hashed-index := index_bits:u8 difference_bits:u8 page_length:varint32
//                   block-offsets locator
//
// Thread safety: immutable after Parse.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/status.h"
#include "table/block/block_offsets.h"
#include "table/piece/hashed_layout.h"
#include "table/piece/order_page.h"

namespace compassdb {

using rocksdb::Status;

struct PieceFooter;

// A range in the extent of a piece.
struct PieceRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

class HashedIndex {
 public:
  // block_offsets: one more than there are blocks, below 2^47. `page_length`: of a full page as
  // stored; 0 without pages. False if the parts exceed the format.
  static bool Encode(std::span<const uint64_t> block_offsets, const OrderWidths& widths,
                     uint64_t page_length, const std::string& locator, std::string* out);
  // `what` names the section in messages.
  static Status Parse(Slice section, const PieceFooter& footer, const std::string& what,
                      HashedIndex* out);

  DataOrder order() const { return order_; }
  uint32_t num_blocks() const { return num_blocks_; }
  // i may be num_blocks(). Blocks may be empty: of no length.
  uint64_t BlockOffset(uint32_t i) const { return offsets_[i]; }
  uint64_t BlockLength(uint32_t i) const { return offsets_.Length(i); }
  // The only block that can hold keys of this hash; num_blocks() if none can.
  uint32_t Locate(uint64_t h1) const {
    if (num_blocks_ == 0) return 0;
    const uint32_t block = locator_.Locate(h1);
    return BlockLength(block) == 0 ? num_blocks_ : block;
  }

  const OrderWidths& widths() const { return widths_; }
  uint64_t num_pages() const { return (num_keys_ + OrderPage::kKeys - 1) / OrderPage::kKeys; }
  PieceRange Page(uint64_t page) const;
  uint32_t KeysOfPage(uint64_t page) const {
    return static_cast<uint32_t>(std::min(OrderPage::kKeys, num_keys_ - page * OrderPage::kKeys));
  }
  size_t OffsetBytes() const { return offsets_.MemoryBytes(); }
  size_t LocatorBytes() const { return locator_.MemoryBytes(); }

 private:
  DataOrder order_ = DataOrder::kHash;
  uint32_t num_blocks_ = 0;
  uint64_t num_keys_ = 0;
  uint64_t pages_begin_ = 0;
  uint64_t pages_end_ = 0;
  uint64_t page_length_ = 0;
  OrderWidths widths_;
  BlockOffsets offsets_;
  BlockLocator locator_;
};

// Bits for numbers below n.
inline uint32_t WidthFor(uint64_t n) {
  return n <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(n - 1));
}

}  // namespace compassdb
