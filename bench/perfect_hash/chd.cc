// SPDX-License-Identifier: Apache-2.0
#include "chd.h"

#include <bit>
#include <cmath>

#include "buckets.h"
#include "perfect_hash/hash_mapping.h"

namespace perfect_hash_bench {

namespace ph = compassdb::perfect_hash;

namespace {

uint64_t KeyOf(uint64_t hash, uint64_t seed) {
  const ph::CpHash h = ph::CpHashOf(ph::LevelBits(hash, seed), 0);
  return uint64_t{h.h0} << 32 | h.h1;
}

}  // namespace

bool Chd::TryBuild(std::span<const uint64_t> hashes, std::vector<uint32_t>* pairs) {
  Buckets buckets;
  buckets.Fill(
      hashes, buckets_, [&](uint64_t hash) { return BucketOf(ph::LevelBits(hash, seed_)); },
      [&](uint64_t hash) { return KeyOf(hash, seed_); });
  Bitmap taken(slots_);
  pairs->assign(buckets_, 0);
  for (uint32_t o = 0; o < buckets_; ++o) {
    const std::span<const uint64_t> keys(buckets.keys.data() + buckets.begin[o],
                                         buckets.begin[o + 1] - buckets.begin[o]);
    const uint32_t pair = Place(keys, kPairs, &taken,
                                [&](uint64_t key, uint32_t c) { return Position(key, c); });
    if (pair == kPairs) return false;
    (*pairs)[buckets.order[o]] = pair;
  }
  return true;
}

void Chd::Encode(const std::vector<uint32_t>& pairs) {
  uint64_t best = ~uint64_t{0};
  for (uint32_t rice = 0; rice < 16; ++rice) {
    uint64_t bits = 0;
    for (const uint32_t pair : pairs) bits += (pair >> rice) + 1 + rice;
    if (bits < best) {
      best = bits;
      rice_ = rice;
    }
  }
  code_.assign(best / 64 + 2, 0);
  sample_.clear();
  uint64_t at = 0;
  for (size_t b = 0; b < pairs.size(); ++b) {
    if (b % kSampleEvery == 0) sample_.push_back(static_cast<uint32_t>(at));
    for (uint32_t i = 0; i < rice_; ++i, ++at) {
      code_[at >> 6] |= uint64_t{pairs[b] >> i & 1} << (at & 63);
    }
    at += pairs[b] >> rice_;  // zeros, then a one
    code_[at >> 6] |= uint64_t{1} << (at & 63);
    ++at;
  }
}

uint32_t Chd::PairOf(uint32_t bucket) const {
  const auto next_one = [&](uint64_t at) {
    uint64_t word = code_[at >> 6] >> (at & 63) << (at & 63);
    while (word == 0) word = code_[((at = (at | 63) + 1)) >> 6];
    return (at & ~uint64_t{63}) + static_cast<uint64_t>(std::countr_zero(word));
  };
  uint64_t at = sample_[bucket / kSampleEvery];
  for (uint32_t skip = bucket % kSampleEvery; skip > 0; --skip) at = next_one(at + rice_) + 1;
  uint64_t low = code_[at >> 6] >> (at & 63);
  if ((at & 63) != 0) low |= code_[(at >> 6) + 1] << (64 - (at & 63));
  const uint64_t high = next_one(at + rice_) - (at + rice_);
  return static_cast<uint32_t>(high << rice_ | (low & ((uint64_t{1} << rice_) - 1)));
}

uint64_t Chd::operator()(uint64_t hash) const {
  return Position(KeyOf(hash, seed_), PairOf(BucketOf(ph::LevelBits(hash, seed_))));
}

Chd Chd::Build(std::span<const uint64_t> hashes, double keys_per_bucket, double load) {
  Chd f;
  const double n = static_cast<double>(hashes.size());
  f.slots_ = static_cast<uint32_t>(std::ceil(n / load));
  f.multiplier_ = ph::FastModMultiplier(f.slots_);
  f.buckets_ = static_cast<uint32_t>(std::ceil(n / keys_per_bucket));
  std::vector<uint32_t> pairs;
  while (!f.TryBuild(hashes, &pairs)) ++f.seed_;
  f.Encode(pairs);
  return f;
}

}  // namespace perfect_hash_bench
