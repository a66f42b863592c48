// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace compassdb_test {

// A small deterministic generator (splitmix64): the same seed gives the same
// stream on every machine and library, which std::<distribution>s do not.
// Thread safety: none; one per thread.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // In [0, n); n > 0.
  uint64_t Uniform(uint64_t n) { return Next() % n; }
  // In [low, high].
  uint64_t Range(uint64_t low, uint64_t high) { return low + Uniform(high - low + 1); }
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }
  bool Percent(uint64_t p) { return Uniform(100) < p; }
  // Mostly small numbers, sometimes up to 2^max_log.
  uint64_t Skewed(int max_log) { return Uniform(uint64_t{1} << Uniform(max_log + 1)); }

  template <size_t N, typename T>
  const T& Pick(const T (&choices)[N]) {
    return choices[Uniform(N)];
  }

  std::string Text(size_t length) {
    std::string text(length, '\0');
    for (char& c : text) c = static_cast<char>('a' + Uniform(26));
    return text;
  }
  // Half compressible, half not, any byte value.
  std::string Bytes(size_t length) {
    std::string bytes(length, '\0');
    char repeated = static_cast<char>(Next());
    for (size_t i = 0; i < length; i++) {
      bytes[i] = (i / 16) % 2 == 0 ? repeated : static_cast<char>(Next());
    }
    return bytes;
  }

 private:
  uint64_t state_;
};

}  // namespace compassdb_test
