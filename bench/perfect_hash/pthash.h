// SPDX-License-Identifier: Apache-2.0
// Plain PTHash (Pibiri, Trani, 2021), for comparison only: 60 % of the keys in 30 % of the buckets,
// position = (hash xor hash(pilot)) mod slots by a 64-bit fast-mod, pilots at two fixed widths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perfect_hash/bits.h"

namespace perfect_hash_bench {

class PtHash {
 public:
  static PtHash Build(std::span<const uint64_t> hashes, double keys_per_bucket, double load);

  uint64_t operator()(uint64_t hash) const;
  uint64_t slots() const { return slots_; }
  size_t SizeBytes() const { return codes_.size() + 40; }

 private:
  using uint128 = compassdb::perfect_hash::uint128;

  bool TryBuild(std::span<const uint64_t> hashes, std::vector<uint32_t>* pilots);
  void Encode(const std::vector<uint32_t>& pilots);
  uint64_t Mod(uint64_t x) const;

  uint64_t seed_ = 0;
  uint64_t slots_ = 0;
  uint128 multiplier_ = 0;
  uint32_t buckets_ = 0;
  uint32_t dense_ = 0;
  uint32_t dense_width_ = 0;
  uint32_t sparse_width_ = 0;
  std::vector<uint8_t> codes_;
};

}  // namespace perfect_hash_bench
