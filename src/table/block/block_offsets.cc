// SPDX-License-Identifier: Apache-2.0
#include "table/block/block_offsets.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace compassdb {

OffsetLine OffsetLine::Fit(const uint64_t* offsets, uint32_t n) {
  std::vector<uint64_t> lengths;
  for (uint32_t i = 0; i < n; ++i) lengths.push_back(offsets[i + 1] - offsets[i]);
  std::nth_element(lengths.begin(), lengths.begin() + n / 2, lengths.end());
  OffsetLine line;
  uint64_t best = UINT64_MAX;
  for (uint64_t stride : {lengths[n / 2], (offsets[n] - offsets[0]) / n}) {
    stride = std::min<uint64_t>(stride, UINT32_MAX);
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (uint32_t i = 0; i < n; ++i) {
      const int64_t above = static_cast<int64_t>(offsets[i] - stride * i);
      least = std::min(least, above);
      greatest = std::max(greatest, above);
    }
    const auto spread = static_cast<uint64_t>(greatest - least);
    if (spread >= best) continue;
    best = spread;
    line.offset = least;
    line.stride = static_cast<uint32_t>(stride);
    line.residual_bits = static_cast<uint8_t>(std::bit_width(spread));
  }
  return line;
}

void OffsetLine::AppendResiduals(const uint64_t* offsets, uint32_t n, std::string* out) const {
  FieldWriter residuals(out, n, residual_bits);
  for (uint32_t i = 0; i < n; ++i) residuals.Put(offsets[i] - At(i));
  residuals.Finish();
}

uint32_t BlockOffsets::BlocksOf(uint32_t group) const {
  return std::min(kGroup, num_blocks_ - group * kGroup);
}

bool BlockOffsets::Encode(const uint64_t* offsets, uint32_t num_blocks, std::string* out) {
  std::string groups, stream;
  for (uint32_t first = 0; first < num_blocks; first += kGroup) {
    const uint32_t n = std::min(kGroup, num_blocks - first);
    const OffsetLine line = OffsetLine::Fit(offsets + first, n);
    PutFixed64(&groups, (static_cast<uint64_t>(line.offset) & ((uint64_t{1} << 48) - 1)) |
                            uint64_t{line.residual_bits} << 48);
    PutFixed32(&groups, line.stride);
    PutFixed32(&groups, static_cast<uint32_t>(stream.size()));
    line.AppendResiduals(offsets + first, n, &stream);
    if (stream.size() > UINT32_MAX) return false;
  }
  PutVarint32(out, static_cast<uint32_t>(stream.size()));
  out->append(groups);
  out->append(stream);
  out->append(kFieldPadding, '\0');
  return true;
}

bool BlockOffsets::Parse(rocksdb::Slice* input, uint32_t num_blocks, uint64_t data_bytes,
                         BlockOffsets* out) {
  *out = BlockOffsets();
  rocksdb::Slice in = *input;
  uint32_t stream_bytes = 0;
  if (!GetVarint32(&in, &stream_bytes) || data_bytes >= uint64_t{1} << 47) return false;
  out->num_blocks_ = num_blocks;
  out->data_bytes_ = data_bytes;
  const uint64_t size =
      kGroupBytes * uint64_t{out->NumGroups()} + uint64_t{stream_bytes} + kFieldPadding;
  if (in.size() < size) return false;
  for (uint32_t g = 0; g < out->NumGroups(); ++g) {
    const char* const p = in.data() + kGroupBytes * g;
    const auto bits = static_cast<uint32_t>(DecodeFixed64(p) >> 48);
    const uint32_t stream = DecodeFixed32(p + 12);
    if (bits > kMaxFieldBits || stream > stream_bytes ||
        FieldBytes(out->BlocksOf(g), bits) > stream_bytes - stream) {
      return false;
    }
  }
  out->bytes_.assign(in.data(), size);
  in.remove_prefix(size);
  *input = in;
  return true;
}

uint64_t BlockOffsets::operator[](uint32_t i) const {
  if (i >= num_blocks_) return data_bytes_;
  const char* const p = bytes_.data() + kGroupBytes * (i / kGroup);
  const uint64_t word = DecodeFixed64(p);
  const OffsetLine line = {.offset = static_cast<int64_t>(word << 16) >> 16,
                           .stride = DecodeFixed32(p + 8),
                           .residual_bits = static_cast<uint8_t>(word >> 48)};
  const char* const residuals =
      bytes_.data() + kGroupBytes * size_t{NumGroups()} + DecodeFixed32(p + 12);
  const uint64_t offset =
      line.At(i % kGroup) + ReadField(residuals, i % kGroup, line.residual_bits);
  return std::min(offset, data_bytes_);
}

}  // namespace compassdb
