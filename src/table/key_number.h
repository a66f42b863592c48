// SPDX-License-Identifier: Apache-2.0
// A user key's first symbols as a 64-bit number that is monotone in the order
// of keys: a <= b means number(a) <= number(b). Symbols are the bytes of a
// range [low, high], of which as many are taken as fit: 19 of decimal digits,
// 8 of any bytes. A byte outside of the range ends the key, all symbols behind
// it counting as the least (byte below the range, or end of the key) or as the
// greatest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace compassdb {

class KeyNumbering {
 public:
  KeyNumbering() = default;
  // `symbols` at most MaxSymbols(low, high), low <= high. `descending`: the
  // numbers of the reverse order.
  KeyNumbering(uint8_t low, uint8_t high, uint8_t symbols, bool descending)
      : radix_(RadixOf(low, high)), low_(low), symbols_(symbols) {
    if (!descending) return;
    greatest_ = 0;
    for (uint8_t i = 0; i < symbols; ++i) greatest_ = greatest_ * radix_ + radix_ - 1;
    descending_ = true;
  }

  static uint32_t MaxSymbols(uint8_t low, uint8_t high) {
    const uint32_t radix = RadixOf(low, high);
    uint32_t symbols = 0;
    // radix^symbols - 1 fits 64 bits.
    for (uint64_t greatest = 0; greatest <= (UINT64_MAX - (radix - 1)) / radix; ++symbols) {
      greatest = greatest * radix + radix - 1;
    }
    return symbols;
  }

  uint64_t operator()(const char* key, size_t length) const {
    uint64_t number = 0;
    uint32_t i = 0;
    for (; i + 8 <= symbols_ && i + 8 <= length; i += 8) {
      uint64_t eight;
      if (!EightSymbols(key + i, &eight)) break;
      number = number * radix8() + eight;
    }
    for (uint32_t rest = 0; i < symbols_; ++i) {  // rest: what the symbols behind the key's end are
      uint32_t symbol = rest;
      if (i < length) {
        const int distance = static_cast<uint8_t>(key[i]) - low_;
        if (distance >= 0 && distance < static_cast<int>(radix_)) {
          symbol = static_cast<uint32_t>(distance);
        } else {
          symbol = rest = distance < 0 ? 0 : radix_ - 1;
          length = i;
        }
      }
      number = number * radix_ + symbol;
    }
    return descending_ ? greatest_ - number : number;
  }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101u;
  static constexpr uint64_t kHigh = 0x8080808080808080u;

  // At least two, so that numbers of symbols stay bounded.
  static uint32_t RadixOf(uint8_t low, uint8_t high) { return high > low ? high - low + 1u : 2u; }
  uint64_t radix8() const {
    const uint64_t radix2 = uint64_t{radix_} * radix_;
    return radix2 * radix2 * radix2 * radix2;  // 0 for 256, which takes eight symbols once
  }

  // The same for eight bytes at a time. False if one is out of range.
  bool EightSymbols(const char* p, uint64_t* out) const {
    uint64_t x;
    memcpy(&x, p, 8);
    const uint64_t low = low_ * kOnes;
    // Bytewise x - low.
    const uint64_t d = ((x | kHigh) - (low & ~kHigh)) ^ ((x ^ ~low) & kHigh);
    const uint32_t last = radix_ - 1;
    const uint64_t above = (d & ~kHigh) + (127 - (last & 127)) * kOnes;
    if (((last < 128 ? above | d : above & d) & kHigh) != 0) return false;
    const uint64_t radix2 = uint64_t{radix_} * radix_;
    constexpr uint64_t k16 = 0x00ff00ff00ff00ffu, k32 = 0x0000ffff0000ffffu;
    const uint64_t pairs = (d & k16) * radix_ + (d >> 8 & k16);
    const uint64_t fours = (pairs & k32) * radix2 + (pairs >> 16 & k32);
    *out = (fours & UINT32_MAX) * (radix2 * radix2) + (fours >> 32);
    return true;
  }

  uint64_t greatest_ = 0;
  uint32_t radix_ = 256;
  uint8_t low_ = 0;
  uint8_t symbols_ = 0;
  bool descending_ = false;
};

}  // namespace compassdb
