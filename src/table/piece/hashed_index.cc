// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_index.h"

#include "table/piece/piece_format.h"

namespace compassdb {

bool HashedIndex::Encode(std::span<const uint64_t> block_offsets, const OrderWidths& widths,
                         uint64_t page_length, const std::string& locator, std::string* out) {
  out->clear();
  out->push_back(static_cast<char>(widths.index));
  out->push_back(static_cast<char>(widths.difference));
  PutVarint32(out, static_cast<uint32_t>(page_length));
  if (block_offsets.back() >= uint64_t{1} << 47 ||
      !BlockOffsets::Encode(block_offsets.data(), static_cast<uint32_t>(block_offsets.size() - 1),
                            out)) {
    return false;
  }
  out->append(locator);
  return true;
}

Status HashedIndex::Parse(Slice section, const PieceFooter& footer, const std::string& what,
                          HashedIndex* out) {
  *out = HashedIndex();
  const auto damaged = [&](const char* why) {
    return Status::Corruption(what, std::string("hashed index: ") + why);
  };
  uint32_t page_length = 0;
  if (section.size() < 2 || footer.num_blocks >= UINT32_MAX) return damaged("cut off");
  out->order_ = static_cast<DataOrder>(footer.data_order);
  out->num_blocks_ = static_cast<uint32_t>(footer.num_blocks);
  out->num_keys_ = footer.num_keys;
  out->widths_.block = WidthFor(footer.num_blocks);
  out->widths_.index = static_cast<uint8_t>(section[0]);
  out->widths_.difference = static_cast<uint8_t>(section[1]);
  section.remove_prefix(2);
  if (!GetVarint32(&section, &page_length) || out->widths_.place() > OrderWidths::kMax ||
      out->widths_.difference > OrderWidths::kMax) {
    return damaged("malformed header");
  }
  out->page_length_ = page_length;
  out->pages_begin_ = footer.data_bytes;
  out->pages_end_ = footer.data_bytes + footer.order_bytes;
  const uint64_t pages = out->num_pages();
  if (footer.num_keys >= UINT32_MAX || (footer.num_keys == 0) != (footer.num_blocks == 0) ||
      (pages == 0 ? footer.order_bytes != 0
                  : (pages - 1) * page_length >= footer.order_bytes ||
                        footer.order_bytes - (pages - 1) * page_length > page_length)) {
    return damaged("the pages of the reverse index do not fill their place");
  }
  if (!BlockOffsets::Parse(&section, out->num_blocks_, footer.data_bytes, &out->offsets_)) {
    return damaged("malformed block offsets");
  }
  if (!BlockLocator::Parse(out->order_, section, footer.num_blocks, &out->locator_)) {
    return damaged("malformed locator");
  }
  return Status::OK();
}

PieceRange HashedIndex::Page(uint64_t page) const {
  const uint64_t begin = pages_begin_ + page * page_length_;
  return {begin, std::min(page_length_, pages_end_ - begin)};
}

}  // namespace compassdb
