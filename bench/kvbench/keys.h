// SPDX-License-Identifier: Apache-2.0
// Keys and values made from record numbers.
//
// A record number becomes a key by one of two maps, fixed when the database is
// filled: hashed (YCSB's way; a bijection of 64 bits, so no two numbers share
// a key) or ordered (fillseq, fillrandom; key order is number order).
//
//   key size >= 24   "user" + 20 decimal digits + padding 'x'
//   key size 16..23  16 hex digits + padding 'x'
//   key size 8..15   8 bytes big endian + padding 'x'
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "value_sizes.h"

namespace kvbench {

inline constexpr uint64_t kMinKeySize = 8;

enum class KeyOrder { kHashed, kOrdered };

// A bijection of 64-bit numbers that looks random.
uint64_t Mix64(uint64_t x);

class KeyMaker {
 public:
  KeyMaker(uint64_t key_size, KeyOrder order) : key_size_(key_size), order_(order) {}

  // The key of record `number`.
  void Make(uint64_t number, std::string* key) const;
  // A key near that of `number` that is in no database (one byte longer).
  void MakeMissing(uint64_t number, std::string* key) const;

 private:
  const uint64_t key_size_;
  const KeyOrder order_;
};

// Fast pseudo-random numbers; one per thread, fully determined by the seed.
class Random64 {
 public:
  explicit Random64(uint64_t seed) : state_(Mix64(seed ^ 0x9e3779b97f4a7c15ULL)) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return Mix64(state_);
  }
  // Uniform in [0, n), n > 0.
  uint64_t Uniform(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);
  }
  // Uniform in [0, 1).
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

// Values: random bytes that begin with a tag of their record, so that a read can recognise a wrong
// value from the right one. Printable bytes, or, to compress by about `compressible` percent, bytes of full
// entropy and then this percentage of zeros.
class ValueMaker {
 public:
  ValueMaker(ValueSizes sizes, uint64_t seed, uint64_t compressible = 0);

  // A fresh value for record `number`, valid until the next call.
  std::string_view Make(uint64_t number);
  // True if `value` can be a value of record `number`.
  bool Matches(uint64_t number, std::string_view value) const;

 private:
  const ValueSizes sizes_;
  const uint64_t compressible_;  // percent of each value that are zeros, behind the rest
  Random64 random_;
  std::string pool_;
  std::string buffer_;
};

}  // namespace kvbench
