// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/cp_segment.h"

#include <algorithm>
#include <array>

#include "perfect_hash/hash_mapping.h"

namespace compassdb::perfect_hash {
namespace {

constexpr uint32_t kMaxTries = 64;

// All pairs, in the order in which fresh ones are tried.
const Candidate* AllPairs() {
  static const auto all = [] {
    std::array<Candidate, kCpPairs + kCandidatePadding> a{};
    for (uint32_t i = 0; i < kCpPairs; ++i) a[i] = MakeCandidate(i, i);
    return a;
  }();
  return all.data();
}

}  // namespace

// False if a bucket is too large to be worth a search.
bool CpSegmentBuilder::MapAndOrder(std::span<const uint64_t> keys, uint64_t level_seed,
                                   uint32_t buckets) {
  const size_t n = keys.size();
  key_bits_.resize(n);
  key_bucket_.resize(n);
  bits_.resize(n);
  h0_.resize(n);
  h1_.resize(n);
  size_.assign(buckets, 0);
  const uint32_t dense = DenseBuckets(buckets);
  for (size_t i = 0; i < n; ++i) {
    key_bits_[i] = LevelBits(keys[i], level_seed);
    key_bucket_[i] = CpBucketOf(key_bits_[i], buckets, dense);
    ++size_[key_bucket_[i]];
  }
  std::array<uint32_t, kCpMaxBucketSize + 2> place{};  // counting sort by size, descending
  for (const uint32_t size : size_) {
    if (size > kCpMaxBucketSize) return false;
    ++place[kCpMaxBucketSize - size + 1];
  }
  for (uint32_t i = 0; i <= kCpMaxBucketSize; ++i) place[i + 1] += place[i];
  order_.resize(buckets);
  for (uint32_t b = 0; b < buckets; ++b) order_[place[kCpMaxBucketSize - size_[b]]++] = b;
  order_begin_.resize(buckets + 1);
  cursor_.resize(buckets);
  uint32_t sum = 0;
  for (uint32_t o = 0; o < buckets; ++o) {
    order_begin_[o] = cursor_[order_[o]] = sum;
    sum += size_[order_[o]];
  }
  order_begin_[buckets] = sum;
  for (size_t i = 0; i < n; ++i) bits_[cursor_[key_bucket_[i]]++] = key_bits_[i];
  return true;
}

void CpSegmentBuilder::HashUnder(uint8_t seed) {
  for (size_t i = 0; i < bits_.size(); ++i) {
    const CpHash hash = CpHashOf(bits_[i], seed);
    h0_[i] = hash.h0;
    h1_[i] = hash.h1;
  }
}

// The index of the pair in the dictionary, kNoCandidate if there is none.
uint32_t CpSegmentBuilder::PairFor(const uint32_t* h0, const uint32_t* h1, uint32_t size,
                                   const CpSlots& slots, CpSegment* out) {
  const uint32_t known = static_cast<uint32_t>(out->pairs.size());
  const uint32_t reused = find_pair_(h0, h1, size, dictionary_.data(), known, slots);
  if (reused != kNoCandidate) return reused;
  const uint32_t pair = find_pair_(h0, h1, size, AllPairs(), kCpPairs, slots);
  if (pair == kNoCandidate) return kNoCandidate;
  dictionary_[known] = MakeCandidate(known, pair);
  out->pairs.push_back(static_cast<uint16_t>(pair));
  return known;
}

CpSegmentBuilder::Failure CpSegmentBuilder::ExplainFailure(uint32_t begin, uint32_t end,
                                                    uint32_t slots) const {
  Failure failure = Failure::kFull;
  for (uint32_t i = begin; i < end; ++i) {
    for (uint32_t k = begin; k < i; ++k) {
      if (bits_[i] == bits_[k]) return Failure::kRepeats;
      if (h0_[i] % slots == h0_[k] % slots && h1_[i] % slots == h1_[k] % slots) {
        failure = Failure::kInseparable;
      }
    }
  }
  return failure;
}

CpSegmentBuilder::Failure CpSegmentBuilder::Search(CpSegment* out) {
  occupied_.assign(out->slots / 32 + 1, 0);
  dictionary_.assign(kCpPairs + kCandidatePadding, 0);
  out->pairs.clear();
  const CpSlots slots{occupied_.data(), out->slots, FastModMultiplier(out->slots)};
  for (size_t o = 0; o < order_.size(); ++o) {
    const uint32_t begin = order_begin_[o];
    const uint32_t size = order_begin_[o + 1] - begin;
    if (size == 0) break;  // so are all that follow
    const uint32_t index = PairFor(&h0_[begin], &h1_[begin], size, slots, out);
    if (index == kNoCandidate) return ExplainFailure(begin, begin + size, out->slots);
    out->codes[order_[o]] = static_cast<uint16_t>(index);
    const uint32_t pair = out->pairs[index];
    for (uint32_t i = begin; i < begin + size; ++i) {
      const uint32_t at = FastMod(CpSum({h0_[i], h1_[i]}, pair), slots.slots, slots.multiplier);
      occupied_[at >> 5] |= 1u << (at & 31);
    }
  }
  return Failure::kNone;
}

CpSegmentBuilder::Result CpSegmentBuilder::Build(std::span<const uint64_t> keys,
                                                 uint64_t level_seed, uint32_t buckets,
                                                 uint32_t slots, CpSegment* out) {
  out->codes.assign(buckets, 0);
  out->slots = slots;
  out->seed = 0;
  if (!MapAndOrder(keys, level_seed, buckets)) return Result::kHopeless;
  HashUnder(0);
  for (uint32_t tries = 0; tries < kMaxTries; ++tries) {
    switch (Search(out)) {
      case Failure::kNone:
        return Result::kDone;
      case Failure::kRepeats:
        return Result::kRepeats;
      case Failure::kInseparable:
        HashUnder(++out->seed);
        break;
      case Failure::kFull:
        out->slots += out->slots / 64 + 1;
        break;
    }
  }
  return Result::kHopeless;
}

}  // namespace compassdb::perfect_hash
