// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "filter/filter_format.h"
#include "util/coding.h"

namespace compassdb {

RibbonHasher::RibbonHasher(uint8_t seed) {
  uint64_t mixed = seed * 0xc78219a23eeadd03u;
  mixed ^= (mixed & 0xf0f0f0f0f0f0f0f0) >> 4;
  raw_seed_ = static_cast<uint32_t>(mixed);
}

RibbonShape RibbonShape::Of(uint32_t blocks, size_t segments) {
  RibbonShape shape;
  shape.blocks = blocks;
  const size_t columns = (segments + blocks - 1) / blocks;
  shape.columns = static_cast<uint32_t>(std::min<size_t>(columns, kMaxRibbonColumns));
  if (columns <= kMaxRibbonColumns) shape.upper_start = static_cast<uint32_t>(columns * blocks - segments);
  return shape;
}

bool RibbonView::Open(const rocksdb::Slice& bits, RibbonView* view) {
  if (bits.size() < kFilterTrailer + kRibbonSegment) return false;
  const size_t length = bits.size() - kFilterTrailer;
  const auto* const trailer = reinterpret_cast<const unsigned char*>(bits.data()) + length;
  const uint32_t blocks = trailer[2] | uint32_t{trailer[3]} << 8 | uint32_t{trailer[4]} << 16;
  if (trailer[0] != kRibbonMarker || blocks < 2 || length % kRibbonSegment != 0) return false;
  view->data_ = bits.data();
  view->shape_ = RibbonShape::Of(blocks, length / kRibbonSegment);
  view->hasher_ = RibbonHasher(trailer[1]);
  return true;
}

RibbonRow RibbonView::Segment(size_t i) const {
  const char* const p = data_ + i * kRibbonSegment;
  return RibbonRow{DecodeFixed64(p + 8)} << 64 | DecodeFixed64(p);
}

bool RibbonView::MayMatch(uint64_t hash) const {
  const uint64_t h = hasher_.Rehash(hash);
  const uint32_t start = RibbonHasher::Start(h, shape_.starts());
  const uint32_t block = start / kRibbonWidth;
  const uint32_t columns = shape_.ColumnsOf(block);
  const uint32_t shift = start % kRibbonWidth;
  const RibbonRow coefficients = RibbonHasher::Coefficients(h);
  const RibbonRow here = coefficients << shift;
  const RibbonRow next = shift == 0 ? 0 : coefficients >> (kRibbonWidth - shift);
  const size_t first = shape_.SegmentOf(block);
  const uint32_t wanted = RibbonHasher::Result(h);
  for (uint32_t i = 0; i < columns; ++i) {
    RibbonRow row = Segment(first + i) & here;
    // Columns that only the next block has do not count.
    if (shift != 0) row ^= Segment(first + columns + i) & next;
    const auto folded = static_cast<uint64_t>(row) ^ static_cast<uint64_t>(row >> 64);
    if ((static_cast<uint32_t>(std::popcount(folded)) & 1) != (wanted >> i & 1)) return false;
  }
  return true;
}

}  // namespace compassdb
