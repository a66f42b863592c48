// SPDX-License-Identifier: Apache-2.0
#include "pthash.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "buckets.h"
#include "perfect_hash/cp_format.h"
#include "perfect_hash/hash_mapping.h"

namespace perfect_hash_bench {

namespace ph = compassdb::perfect_hash;

namespace {

constexpr uint32_t kMaxPilots = 1u << 22;
constexpr uint32_t kTabled = 1024;  // pilots whose hash is looked up, as in the original

uint64_t HashOfPilot(uint32_t pilot) { return ph::Mix(pilot * 0x9e3779b97f4a7c15ull + 1); }

const uint64_t* PilotHashes() {
  static const auto* const table = [] {
    auto* t = new std::vector<uint64_t>(kTabled);
    for (uint32_t i = 0; i < kTabled; ++i) (*t)[i] = HashOfPilot(i);
    return t;
  }();
  return table->data();
}

uint64_t KeyOf(uint64_t bits) { return ph::FoldMultiply(bits, 0xc2b2ae3d27d4eb4full); }

}  // namespace

inline uint64_t PtHash::Mod(uint64_t x) const {
  const uint128 low = multiplier_ * x;
  const uint128 bottom = (static_cast<uint128>(static_cast<uint64_t>(low)) * slots_) >> 64;
  const uint128 top = static_cast<uint128>(static_cast<uint64_t>(low >> 64)) * slots_;
  return static_cast<uint64_t>((bottom + top) >> 64);
}

bool PtHash::TryBuild(std::span<const uint64_t> hashes, std::vector<uint32_t>* pilots) {
  Buckets buckets;
  buckets.Fill(
      hashes, buckets_,
      [&](uint64_t hash) { return ph::CpBucketOf(ph::LevelBits(hash, seed_), buckets_, dense_); },
      [&](uint64_t hash) { return KeyOf(ph::LevelBits(hash, seed_)); });
  Bitmap taken(slots_);
  pilots->assign(buckets_, 0);
  const uint64_t* table = PilotHashes();
  for (uint32_t o = 0; o < buckets_; ++o) {
    const std::span<const uint64_t> keys(buckets.keys.data() + buckets.begin[o],
                                         buckets.begin[o + 1] - buckets.begin[o]);
    const uint32_t pilot = Place(keys, kMaxPilots, &taken, [&](uint64_t key, uint32_t c) {
      return Mod(key ^ (c < kTabled ? table[c] : HashOfPilot(c)));
    });
    if (pilot == kMaxPilots) return false;
    (*pilots)[buckets.order[o]] = pilot;
  }
  return true;
}

void PtHash::Encode(const std::vector<uint32_t>& pilots) {
  dense_width_ = sparse_width_ = 1;
  for (uint32_t b = 0; b < buckets_; ++b) {
    uint32_t* width = b < dense_ ? &dense_width_ : &sparse_width_;
    *width = std::max<uint32_t>(*width, std::bit_width(pilots[b]));
  }
  const uint64_t bits = uint64_t{dense_} * dense_width_ +
                        uint64_t{buckets_ - dense_} * sparse_width_;
  codes_.assign(bits / 8 + 9, 0);
  uint64_t at = 0;
  for (uint32_t b = 0; b < buckets_; ++b) {
    uint8_t* p = codes_.data() + at / 8;
    ph::StoreWord(p, ph::LoadWord(p) | uint64_t{pilots[b]} << (at & 7));
    at += b < dense_ ? dense_width_ : sparse_width_;
  }
}

uint64_t PtHash::operator()(uint64_t hash) const {
  const uint64_t bits = ph::LevelBits(hash, seed_);
  const uint32_t b = ph::CpBucketOf(bits, buckets_, dense_);
  const bool in_dense = b < dense_;
  const uint32_t width = in_dense ? dense_width_ : sparse_width_;
  const uint64_t at = in_dense ? uint64_t{b} * width
                               : uint64_t{dense_} * dense_width_ + uint64_t{b - dense_} * width;
  const uint64_t word = ph::LoadWord(codes_.data() + at / 8) >> (at & 7);
  const uint32_t pilot = static_cast<uint32_t>(word & ((uint64_t{1} << width) - 1));
  return Mod(KeyOf(bits) ^ HashOfPilot(pilot));
}

PtHash PtHash::Build(std::span<const uint64_t> hashes, double keys_per_bucket, double load) {
  PtHash f;
  const double n = static_cast<double>(hashes.size());
  f.slots_ = static_cast<uint64_t>(std::ceil(n / load));
  f.multiplier_ = ~uint128{0} / f.slots_ + 1;
  f.buckets_ = static_cast<uint32_t>(std::ceil(n / keys_per_bucket));
  f.dense_ = ph::DenseBuckets(f.buckets_);
  std::vector<uint32_t> pilots;
  while (!f.TryBuild(hashes, &pilots)) ++f.seed_;
  f.Encode(pilots);
  return f;
}

}  // namespace perfect_hash_bench
