// SPDX-License-Identifier: Apache-2.0
#include "table/hashed_index.h"

#include "table/piece_format.h"

namespace compassdb {

std::string HashedIndex::Encode(std::span<const uint64_t> block_offsets, const OrderWidths& widths,
                                uint64_t page_length, const std::string& locator) {
  std::string out;
  out.push_back(static_cast<char>(widths.index));
  out.push_back(static_cast<char>(widths.difference));
  PutVarint32(&out, static_cast<uint32_t>(page_length));
  EncodeEliasFano(block_offsets, &out);
  out.append(locator);
  return out;
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
  if (!EliasFano::Parse(&section, footer.num_blocks + 1, &out->offsets_) ||
      out->offsets_.size() != footer.num_blocks + 1 || out->offsets_[0] != 0 ||
      out->offsets_[footer.num_blocks] != footer.data_bytes) {
    return damaged("the blocks do not fill the data");
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
