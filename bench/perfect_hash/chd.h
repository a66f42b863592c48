// SPDX-License-Identifier: Apache-2.0
// Plain CHD (Belazzougui, Botelho, Dietzfelbinger, 2009), for comparison only: uniform buckets,
// largest first, displacement pairs in one fixed order, positions by scalar fast-mod, displacements
// compressed by a Rice code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perfect_hash/cp_format.h"

namespace perfect_hash_bench {

class Chd {
 public:
  static Chd Build(std::span<const uint64_t> hashes, double keys_per_bucket, double load);

  uint64_t operator()(uint64_t hash) const;
  uint64_t slots() const { return slots_; }
  size_t SizeBytes() const { return code_.size() * 8 + sample_.size() * 4 + 24; }

 private:
  static constexpr uint32_t kSampleEvery = 64;
  static constexpr uint32_t kPairs = 1u << 16;  // alpha 6 bits, beta 10

  bool TryBuild(std::span<const uint64_t> hashes, std::vector<uint32_t>* pairs);
  void Encode(const std::vector<uint32_t>& pairs);
  uint32_t PairOf(uint32_t bucket) const;
  uint32_t BucketOf(uint64_t bits) const {
    return static_cast<uint32_t>(((bits >> 32) * buckets_) >> 32);
  }
  uint32_t Position(uint64_t key, uint32_t pair) const {
    const uint32_t sum = static_cast<uint32_t>(key >> 32) +
                         static_cast<uint32_t>(key & 0xffffff) * (pair >> 10) + (pair & 1023);
    return compassdb::perfect_hash::FastMod(sum, slots_, multiplier_);
  }

  uint64_t seed_ = 0;
  uint32_t slots_ = 0;
  uint32_t multiplier_ = 0;
  uint32_t buckets_ = 0;
  uint32_t rice_ = 0;
  std::vector<uint64_t> code_;
  std::vector<uint32_t> sample_;  // bit of every 64th bucket's code
};

}  // namespace perfect_hash_bench
