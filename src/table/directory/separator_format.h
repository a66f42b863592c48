// SPDX-License-Identifier: Apache-2.0
// The serialised separators of a piece, which is also their form in memory
// (docs/formats/separators.md):
//
//   separators := header top:u64le{groups} group{groups} end:u32le{exceptions}
//                 position:u8{exceptions} streams zero:u8{8} strings prefix
//   header     := kind:u8 low:u8 high:u8 hole:u8 hole_length:u8 symbols:u8 zero:u16
//                 groups:u32le prefix_length:u32le exceptions:u32le stream_bytes:u32le
//                 string_bytes:u32le zero:u32 base:u64le
//   group      := (offset:48 skip:16):u64le stride:u32le stream:u32le exception:u32le
//                 shift:u8 low_bits:u8 residual_bits:u8 upper_words:u8
//
// A group is 128 blocks. number(key) is KeyNumbering of the key after the prefix.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/block/packed_fields.h"
#include "util/coding.h"

namespace compassdb {

enum class SeparatorKind : uint8_t {
  kStrings = 0,     // any comparator: a string per block
  kAscending = 1,   // bytewise order
  kDescending = 2,  // reverse bytewise order
};

inline constexpr uint32_t kSeparatorGroup = 128;  // blocks
inline constexpr size_t kSeparatorHeaderBytes = 40;
inline constexpr size_t kSeparatorGroupBytes = 24;
inline constexpr size_t kSeparatorStreamPadding = kFieldPadding;
inline constexpr uint8_t kKeyContinues = 0x80;  // bit of an exception's position

// An entry of the group array: how the blocks of a group are found.
struct SeparatorGroup {
  int64_t offset = 0;  // 48 bits
  uint32_t skip = 0;   // 16 bits: bytes after the prefix that its keys share and its codes omit
  uint32_t stride = 0;
  uint32_t stream = 0;
  uint32_t exception = 0;  // its first one
  uint8_t shift = 0;
  uint8_t low_bits = 0;
  uint8_t residual_bits = 0;
  uint8_t upper_words = 0;

  static SeparatorGroup Decode(const char* p) {
    SeparatorGroup g;
    const uint64_t word = DecodeFixed64(p);
    g.offset = static_cast<int64_t>(word << 16) >> 16;
    g.skip = static_cast<uint32_t>(word >> 48);
    g.stride = DecodeFixed32(p + 8);
    g.stream = DecodeFixed32(p + 12);
    g.exception = DecodeFixed32(p + 16);
    g.shift = static_cast<uint8_t>(p[20]);
    g.low_bits = static_cast<uint8_t>(p[21]);
    g.residual_bits = static_cast<uint8_t>(p[22]);
    g.upper_words = static_cast<uint8_t>(p[23]);
    return g;
  }
  void AppendTo(std::string* out) const {
    PutFixed64(out, (static_cast<uint64_t>(offset) & ((uint64_t{1} << 48) - 1)) |
                        static_cast<uint64_t>(skip) << 48);
    PutFixed32(out, stride);
    PutFixed32(out, stream);
    PutFixed32(out, exception);
    for (uint8_t b : {shift, low_bits, residual_bits, upper_words}) {
      out->push_back(static_cast<char>(b));
    }
  }
  // The bytes of its three streams, for n blocks.
  size_t UpperBytes() const { return size_t{8} * upper_words; }
  size_t LowBytes(uint32_t n) const { return FieldBytes(n, low_bits); }
  size_t ResidualBytes(uint32_t n) const { return FieldBytes(n, residual_bits); }
  size_t StreamBytes(uint32_t n) const { return UpperBytes() + LowBytes(n) + ResidualBytes(n); }
};

}  // namespace compassdb
