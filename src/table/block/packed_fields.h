// SPDX-License-Identifier: Apache-2.0
// Arrays of fields of a fixed width, the first in the lowest bits of the first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "util/coding.h"

namespace compassdb {

inline constexpr uint32_t kMaxFieldBits = 56;
inline constexpr size_t kFieldPadding = 8;  // after the arrays: a field is read by one 64-bit load

inline uint64_t ReadField(const char* fields, size_t i, uint32_t bits) {
  const size_t bit = i * bits;
  return DecodeFixed64(fields + bit / 8) >> (bit & 7) & ((uint64_t{1} << bits) - 1);
}

inline size_t FieldBytes(size_t count, uint32_t bits) { return (count * bits + 7) / 8; }

// Appends fields, then fills up the last byte.
class FieldWriter {
 public:
  FieldWriter(std::string* out, size_t count, uint32_t bits)
      : out_(out), begin_(out->size()), bits_(bits) {
    out->append(FieldBytes(count, bits) + kFieldPadding, '\0');
  }
  void Put(uint64_t value) {
    char* p = out_->data() + begin_ + bit_ / 8;
    EncodeFixed64(p, DecodeFixed64(p) | value << (bit_ & 7));
    bit_ += bits_;
  }
  void Finish() { out_->resize(out_->size() - kFieldPadding); }

 private:
  std::string* const out_;
  const size_t begin_;
  const uint32_t bits_;
  size_t bit_ = 0;
};

}  // namespace compassdb
