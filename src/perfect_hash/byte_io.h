// SPDX-License-Identifier: Apache-2.0
// Reading and writing the fields of serialised functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "perfect_hash/bits.h"

namespace compassdb::perfect_hash {

inline void AppendVarint(uint64_t v, std::string* out) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

inline void AppendWord(uint64_t v, std::string* out) {
  uint8_t bytes[8];
  StoreWord(bytes, v);
  out->append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
}

// Takes fields off the front of a byte range; after the first failure everything fails.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : p_(bytes.data()), left_(bytes.size()) {}

  const uint8_t* Take(uint64_t n) {
    if (!ok_ || n > left_) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* at = p_;
    p_ += n;
    left_ -= static_cast<size_t>(n);
    return at;
  }

  // count * size bytes; the product may not wrap.
  const uint8_t* TakeArray(uint64_t count, uint64_t size) {
    if (size != 0 && count > left_ / size) ok_ = false;
    return Take(ok_ ? count * size : 0);
  }

  uint8_t Byte() {
    const uint8_t* p = Take(1);
    return p != nullptr ? *p : 0;
  }

  uint64_t Word() {
    const uint8_t* p = Take(8);
    return p != nullptr ? LoadWord(p) : 0;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      if (!ok_ || (shift == 63 && byte > 1)) break;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

  bool ok() const { return ok_; }
  size_t left() const { return left_; }

 private:
  const uint8_t* p_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace compassdb::perfect_hash
