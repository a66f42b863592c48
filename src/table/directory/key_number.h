// SPDX-License-Identifier: Apache-2.0
// A user key's first symbols as a 64-bit number that is monotone in the order
// of keys: a <= b means number(a) <= number(b). Symbols are the bytes of an
// alphabet, as many as fit: 19 decimal digits, 16 hexadecimal ones, 8 of any
// bytes. A byte outside of the alphabet ends the key: it counts as the next
// greater symbol followed by the least ones, or, above all symbols, as the
// greatest followed by the greatest. The key's end
// counts as the least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace compassdb {

// The bytes of [low, high] without [hole, hole + hole_length): '0' to 'f' without
// the bytes between '9' and 'a'.
struct KeyAlphabet {
  uint8_t low = 0;
  uint8_t high = 255;
  uint8_t hole = 0;
  uint8_t hole_length = 0;  // 0: none

  // A hole is inside, and alphabets that have one span at most 128 bytes.
  bool Valid() const {
    if (low > high) return false;
    if (hole_length == 0) return hole == 0;
    return hole > low && uint32_t{hole} + hole_length <= high && high - low < 128;
  }
  // At least two, so that numbers of symbols stay bounded.
  uint32_t Radix() const { return high > low ? high - low + 1u - hole_length : 2u; }
};

class KeyNumbering {
 public:
  KeyNumbering() = default;
  // `symbols` at most MaxSymbols(alphabet), which is Valid. `descending`: the
  // numbers of the reverse order.
  KeyNumbering(const KeyAlphabet& alphabet, uint8_t symbols, bool descending)
      : radix_(alphabet.Radix()),
        low_(alphabet.low),
        hole_(static_cast<uint8_t>(alphabet.hole_length == 0 ? 0 : alphabet.hole - alphabet.low)),
        hole_length_(alphabet.hole_length),
        symbols_(symbols) {
    if (!descending) return;
    greatest_ = 0;
    for (uint8_t i = 0; i < symbols; ++i) greatest_ = greatest_ * radix_ + radix_ - 1;
    descending_ = true;
  }

  static uint32_t MaxSymbols(const KeyAlphabet& alphabet) {
    const uint32_t radix = alphabet.Radix();
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
    for (uint32_t rest = 0; i < symbols_; ++i) {  // rest: the value of symbols after the key's end
      uint32_t symbol = rest;
      if (i < length) {
        const int distance = static_cast<uint8_t>(key[i]) - low_;
        const int span = static_cast<int>(radix_) + hole_length_;
        if (distance < 0) {
          symbol = rest = 0;
          length = i;
        } else if (distance >= span) {
          symbol = rest = radix_ - 1;
          length = i;
        } else if (hole_length_ == 0 || distance < hole_) {
          symbol = static_cast<uint32_t>(distance);
        } else if (distance >= hole_ + hole_length_) {
          symbol = static_cast<uint32_t>(distance - hole_length_);
        } else {
          symbol = hole_;  // that of the first byte after the hole
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

  uint64_t radix8() const {
    const uint64_t radix2 = uint64_t{radix_} * radix_;
    return radix2 * radix2 * radix2 * radix2;  // 0 for 256, which takes eight symbols once
  }

  // The same for eight bytes at a time. False if one is not of the alphabet.
  bool EightSymbols(const char* p, uint64_t* out) const {
    uint64_t x;
    memcpy(&x, p, 8);
    const uint64_t low = low_ * kOnes;
    // Bytewise x - low.
    uint64_t d = ((x | kHigh) - (low & ~kHigh)) ^ ((x ^ ~low) & kHigh);
    const uint32_t last = radix_ + hole_length_ - 1;
    const uint64_t above = (d & ~kHigh) + (127 - (last & 127)) * kOnes;
    if (((last < 128 ? above | d : above & d) & kHigh) != 0) return false;
    if (hole_length_ != 0) {  // so all bytes of d are below 128
      const uint64_t behind = ((d | kHigh) - (uint64_t{hole_} + hole_length_) * kOnes) & kHigh;
      const uint64_t from_hole = ((d | kHigh) - uint64_t{hole_} * kOnes) & kHigh;
      if (behind != from_hole) return false;
      d -= (behind >> 7) * hole_length_;
    }
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
  uint8_t hole_ = 0;  // of the first byte that is missing, from low_
  uint8_t hole_length_ = 0;
  uint8_t symbols_ = 0;
  bool descending_ = false;
};

}  // namespace compassdb
