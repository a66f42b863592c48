// SPDX-License-Identifier: Apache-2.0
// What the tests of all kinds of functions share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "perfect_hash/perfect_hash.h"

namespace compassdb::perfect_hash {

using Hashes = std::vector<uint64_t>;

inline std::span<const uint8_t> AsBytes(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

inline Hashes RandomHashes(size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Hashes hashes(n);
  for (uint64_t& hash : hashes) hash = rng();
  return hashes;
}

inline Hashes Sorted(Hashes hashes) {
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

inline std::string BuildOk(const Hashes& hashes, bool sorted = false, uint64_t seed = 0,
                           Kind kind = Kind::kPilot) {
  std::string bytes;
  BuildOptions options;
  options.kind = kind;
  options.sorted = sorted;
  options.seed = seed;
  const BuildResult result = Build(hashes, options, &bytes);
  EXPECT_TRUE(result.ok);
  Hashes set = Sorted(hashes);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  EXPECT_EQ(result.distinct, set.size());
  return bytes;
}

// Opens the function and checks that it sends the set to distinct slots within the stated bound.
inline void ExpectPerfect(const Hashes& hashes, const std::string& bytes, double slack = 1.04) {
  Function f;
  ASSERT_TRUE(Function::Open(AsBytes(bytes), &f));
  Hashes set = Sorted(hashes);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  ASSERT_EQ(f.keys(), set.size());
  ASSERT_GE(f.slots(), set.size());
  ASSERT_LE(static_cast<double>(f.slots()), slack * static_cast<double>(set.size()) + 4);
  ASSERT_EQ(f.SizeBytes(), bytes.size());
  std::vector<bool> taken(f.slots());
  for (const uint64_t hash : set) {
    const uint64_t slot = f(hash);
    ASSERT_LT(slot, f.slots());
    ASSERT_FALSE(taken[slot]) << "two keys of " << set.size() << " in slot " << slot;
    taken[slot] = true;
  }
}

inline void ExpectInBounds(const Function& f, uint64_t seed, size_t queries) {
  std::mt19937_64 rng(seed);
  Hashes hashes(queries);
  for (size_t i = 0; i < queries; ++i) hashes[i] = i % 4 == 0 ? i * (~0ull / queries) : rng();
  Hashes slots(queries);
  f.Batch(hashes.data(), slots.data(), queries);
  for (size_t i = 0; i < queries; ++i) {
    const uint64_t slot = f(hashes[i]);
    ASSERT_EQ(slot, slots[i]);
    if (f.slots() == 0) {
      ASSERT_EQ(slot, 0u);
    } else {
      ASSERT_LT(slot, f.slots());
    }
  }
}

// A copy of exactly the given bytes, so that address sanitizer sees any read past the end.
inline std::unique_ptr<uint8_t[]> Exact(const std::string& bytes) {
  auto copy = std::make_unique<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return copy;
}

// Nothing that was cut short opens, nor anything with bytes after its end.
inline void ExpectCutsRefused(const std::string& bytes) {
  const size_t step = std::max<size_t>(1, bytes.size() / 1000);
  for (size_t size = 0; size < bytes.size(); size += step) {
    const auto copy = Exact(bytes.substr(0, size));
    Function f;
    ASSERT_FALSE(Function::Open({copy.get(), size}, &f)) << size << " of " << bytes.size() << " bytes";
    ASSERT_EQ(f(1), 0u);
  }
  Function f;
  EXPECT_FALSE(Function::Open(AsBytes(bytes + '\0'), &f)) << "trailing bytes";
}

// Bits are flipped, every other time in the first `head` bytes. How many times it opens nevertheless.
inline size_t ExpectFlipsInBounds(const std::string& bytes, size_t head) {
  std::mt19937_64 rng(7);
  size_t opened = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    const size_t reach = round % 2 == 0 ? std::min<size_t>(damaged.size(), head) : damaged.size();
    for (int flips = round % 3; flips >= 0; --flips) {
      damaged[rng() % reach] ^= static_cast<char>(1 << rng() % 8);
    }
    const auto copy = Exact(damaged);
    Function f;
    if (!Function::Open({copy.get(), damaged.size()}, &f)) continue;
    ++opened;
    ExpectInBounds(f, static_cast<uint64_t>(round), 64);
  }
  return opened;
}

}  // namespace compassdb::perfect_hash
