// SPDX-License-Identifier: Apache-2.0
// A small, fast generator (xoshiro256++ seeded by splitmix64). The sequence of
// a seed never changes: tests print seeds. Not for secrets. One thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "util/hash.h"

namespace compassdb {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // In [0, n); n > 0.
  uint64_t Uniform(uint64_t n) { return FastRange64(Next(), n); }
  // In [low, high].
  uint64_t Between(uint64_t low, uint64_t high) { return low + Uniform(high - low + 1); }
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }  // [0, 1)
  // Favours small numbers: uniform in [0, 2^k) for a uniform k in [0, max_log].
  uint64_t Skewed(int max_log) { return Uniform(uint64_t{1} << Uniform(max_log + 1)); }
  std::string Bytes(size_t n) {
    std::string s(n, '\0');
    for (char& c : s) c = static_cast<char>(Next() >> 56);
    return s;
  }
  // Printable, so that failures can be read.
  std::string Text(size_t n) {
    std::string s(n, '\0');
    for (char& c : s) c = static_cast<char>('a' + Uniform(26));
    return s;
  }

  // For std::shuffle and the distributions.
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return Next(); }

 private:
  uint64_t state_[4];
};

}  // namespace compassdb
