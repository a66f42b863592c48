// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// An option that RocksDB 7.8 does not have, to be used like a T. It lies where RocksDB's struct has
// unused bytes, so that the struct keeps its layout. A program that was built with RocksDB's headers
// may leave anything there: what was not written by this class reads as the default.
template <class T, T kDefault>
class LaterOption {
 public:
  using Value = T;

  LaterOption() = default;
  LaterOption(T value) {  // NOLINT: a T, to its users
    const auto number = static_cast<uint32_t>(value);
    for (unsigned i = 0; i < kValueBytes; ++i) bytes_[i] = Byte(number, i);
    for (unsigned i = 0; i < kCheckBytes; ++i) bytes_[kValueBytes + i] = Byte(Check(number), i);
  }
  operator T() const {  // NOLINT
    uint32_t number = 0;
    for (unsigned i = 0; i < kValueBytes; ++i) number |= uint32_t{bytes_[i]} << (8 * i);
    for (unsigned i = 0; i < kCheckBytes; ++i) {
      if (bytes_[kValueBytes + i] != Byte(Check(number), i)) return kDefault;
    }
    return static_cast<T>(number);
  }

 private:
  static_assert(sizeof(T) == 1 || sizeof(T) == 4);
  static constexpr unsigned kValueBytes = sizeof(T);
  static constexpr unsigned kCheckBytes = 2;

  static uint8_t Byte(uint32_t number, unsigned i) { return static_cast<uint8_t>(number >> (8 * i)); }
  static uint32_t Check(uint32_t number) { return ((number * 0x9e3779b1u) >> 8) ^ 0xc0db17u; }

  uint8_t bytes_[kValueBytes + kCheckBytes] = {};
};

}  // namespace compassdb
