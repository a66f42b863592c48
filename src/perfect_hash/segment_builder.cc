// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/segment_builder.h"

#include <algorithm>
#include <bit>

#include "perfect_hash/pilot_format.h"

namespace compassdb::perfect_hash {
namespace {

// 64 bits of the bitmap from bit `at` on.
inline uint64_t Window(const uint64_t* bitmap, uint32_t at) {
  const uint64_t* word = bitmap + (at >> 6);
  const uint32_t shift = at & 63;
  return (word[0] >> shift) | ((word[1] << 1) << (63 - shift));
}

}  // namespace

void SegmentBuilder::MapToBuckets(std::span<const uint64_t> keys, const SegmentSpec& spec) {
  const size_t n = keys.size();
  key_bits_.resize(n);
  key_bucket_.resize(n);
  bits_.resize(n);
  positions_.resize(n);
  bucket_begin_.assign(spec.buckets + 1, 0);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bits = LevelBits(keys[i], spec.level_seed);
    const uint32_t bucket = BucketOf(bits, spec.buckets);
    key_bits_[i] = bits;
    key_bucket_[i] = bucket;
    ++bucket_begin_[bucket];
  }
  OrderBuckets(spec);
  cursor_.resize(spec.buckets + 1);
  uint32_t sum = 0;
  for (uint32_t b = 0; b <= spec.buckets; ++b) {
    const uint32_t size = bucket_begin_[b];
    bucket_begin_[b] = cursor_[b] = sum;
    sum += size;
  }
  for (size_t i = 0; i < n; ++i) bits_[cursor_[key_bucket_[i]]++] = key_bits_[i];
}

// Counting sort by size, descending; bucket_begin_ holds the sizes still.
void SegmentBuilder::OrderBuckets(const SegmentSpec& spec) {
  run_end_.assign(kMaxBucketSize + 2, 0);
  for (uint32_t b = 0; b < spec.buckets; ++b) {
    ++run_end_[std::min(bucket_begin_[b], kMaxBucketSize + 1)];
  }
  uint32_t sum = 0;
  for (uint32_t size = kMaxBucketSize + 2; size-- > 0;) {
    const uint32_t count = run_end_[size];
    run_end_[size] = sum;
    sum += count;
  }
  order_.resize(spec.buckets);
  for (uint32_t b = 0; b < spec.buckets; ++b) {
    order_[run_end_[std::min(bucket_begin_[b], kMaxBucketSize + 1)]++] = b;
  }
}

// Marks the slots of one bucket. False, with nothing marked, if two of its keys meet.
inline bool SegmentBuilder::Occupy(const uint64_t* positions, uint32_t size, uint32_t shift,
                                   uint32_t beta) {
  uint64_t* bitmap = occupied_.data();
  const uint32_t slots = slots_;
  for (uint32_t i = 0; i < size; ++i) {
    uint32_t at = (static_cast<uint32_t>(positions[i] >> shift) & 0xffff) + beta;
    at -= at >= slots ? slots : 0;
    const uint64_t bit = uint64_t{1} << (at & 63);
    if ((bitmap[at >> 6] & bit) != 0) [[unlikely]] {
      while (i-- > 0) {
        uint32_t undo = (static_cast<uint32_t>(positions[i] >> shift) & 0xffff) + beta;
        undo -= undo >= slots ? slots : 0;
        bitmap[undo >> 6] &= ~(uint64_t{1} << (undo & 63));
        if (undo < 64) bitmap[(undo + slots) >> 6] &= ~(uint64_t{1} << ((undo + slots) & 63));
      }
      return false;
    }
    bitmap[at >> 6] |= bit;
    const uint32_t mirror = at < 64 ? at + slots : at;
    bitmap[mirror >> 6] |= uint64_t{1} << (mirror & 63);
  }
  return true;
}

// Buckets order_[begin, end) hold `size` keys each (kSize, unless that is 0). Returns the number
// of keys bumped.
template <uint32_t kSize>
uint32_t SegmentBuilder::SearchRun(uint32_t begin, uint32_t end, uint32_t size, uint8_t* pilots) {
  if constexpr (kSize != 0) size = kSize;
  uint32_t bumped = 0;
  const uint64_t* bitmap = occupied_.data();
  for (uint32_t o = begin; o < end; ++o) {
    const uint32_t bucket = order_[o];
    const uint64_t* positions = positions_.data() + bucket_begin_[bucket];
    uint32_t pilot = kBumpedPilot;
    for (uint32_t alpha = 0; alpha < 4; ++alpha) {
      const uint32_t shift = alpha * 16;
      uint64_t busy = alpha == 3 ? uint64_t{1} << 63 : 0;  // that pilot means bumped
      for (uint32_t i = 0; i < size; ++i) {
        busy |= Window(bitmap, static_cast<uint32_t>(positions[i] >> shift) & 0xffff);
      }
      if (busy == ~uint64_t{0}) continue;
      const uint32_t beta = static_cast<uint32_t>(std::countr_one(busy));
      if (!Occupy(positions, size, shift, beta)) [[unlikely]] continue;
      pilot = alpha << kBetaBits | beta;
      break;
    }
    pilots[bucket] = static_cast<uint8_t>(pilot);
    bumped += pilot == kBumpedPilot ? size : 0;
  }
  return bumped;
}

uint32_t SegmentBuilder::Search(const SegmentSpec& spec, uint8_t* pilots) {
  occupied_.assign((spec.slots + 64) / 64 + 2, 0);
  uint32_t begin = run_end_[kMaxBucketSize + 1];
  uint32_t bumped = 0;
  for (uint32_t o = 0; o < begin; ++o) {
    const uint32_t bucket = order_[o];
    pilots[bucket] = kBumpedPilot;
    bumped += bucket_begin_[bucket + 1] - bucket_begin_[bucket];
  }
  for (uint32_t size = kMaxBucketSize; size > 0; --size) {
    const uint32_t end = run_end_[size];
    switch (size) {
      case 1: bumped += SearchRun<1>(begin, end, 1, pilots); break;
      case 2: bumped += SearchRun<2>(begin, end, 2, pilots); break;
      case 3: bumped += SearchRun<3>(begin, end, 3, pilots); break;
      case 4: bumped += SearchRun<4>(begin, end, 4, pilots); break;
      case 5: bumped += SearchRun<5>(begin, end, 5, pilots); break;
      case 6: bumped += SearchRun<6>(begin, end, 6, pilots); break;
      case 7: bumped += SearchRun<7>(begin, end, 7, pilots); break;
      case 8: bumped += SearchRun<8>(begin, end, 8, pilots); break;
      default: bumped += SearchRun<0>(begin, end, size, pilots); break;
    }
    begin = end;
  }
  return bumped;
}

// Segments of fewer than 64 slots: one word of bitmap, fewer betas and more alphas.
uint32_t SegmentBuilder::SearchTiny(uint8_t seed, const SegmentSpec& spec, uint8_t* pilots) {
  uint64_t occupied = 0;
  uint32_t bumped = 0;
  for (const uint32_t bucket : order_) {
    const uint32_t begin = bucket_begin_[bucket];
    const uint32_t end = bucket_begin_[bucket + 1];
    uint32_t pilot = 0;
    for (; begin != end && pilot < kBumpedPilot; ++pilot) {
      uint64_t taken = occupied;
      uint32_t i = begin;
      for (; i < end; ++i) {
        uint32_t at = Position(PositionBits(bits_[i], seed), pilot >> spec.beta_bits, spec.slots);
        at += pilot & ((1u << spec.beta_bits) - 1);
        at -= at >= spec.slots ? spec.slots : 0;
        if ((taken >> at & 1) != 0) break;
        taken |= uint64_t{1} << at;
      }
      if (i == end) {
        occupied = taken;
        break;
      }
    }
    pilots[bucket] = static_cast<uint8_t>(pilot);
    bumped += pilot == kBumpedPilot ? end - begin : 0;
  }
  return bumped;
}

uint32_t SegmentBuilder::TrySeed(uint8_t seed, const SegmentSpec& spec, uint8_t* pilots) {
  slots_ = spec.slots;
  std::fill_n(pilots, spec.buckets, uint8_t{0});
  if (spec.slots < kMinSlotsOfMany) return SearchTiny(seed, spec, pilots);
  for (size_t i = 0; i < bits_.size(); ++i) {
    const uint64_t bits = PositionBits(bits_[i], seed);
    uint64_t packed = 0;
    for (uint32_t alpha = 0; alpha < 4; ++alpha) {
      packed |= uint64_t{Position(bits, alpha, spec.slots)} << (alpha * 16);
    }
    positions_[i] = packed;
  }
  return Search(spec, pilots);
}

uint8_t SegmentBuilder::Build(std::span<const uint64_t> keys, const SegmentSpec& spec,
                              uint8_t* pilots, std::vector<uint64_t>* bumped) {
  MapToBuckets(keys, spec);
  uint32_t best_seed = 0;
  uint32_t best = TrySeed(0, spec, pilots);
  uint32_t last = 0;
  for (uint32_t seed = 1; best > spec.max_bumped && seed < spec.tries; ++seed) {
    const uint32_t count = TrySeed(static_cast<uint8_t>(seed), spec, pilots);
    last = seed;
    if (count < best) {
      best = count;
      best_seed = seed;
    }
  }
  if (last != best_seed) best = TrySeed(static_cast<uint8_t>(best_seed), spec, pilots);
  if (best > 0) {
    const size_t old = bumped->size();
    bumped->resize(old + best + 1);  // one past the end is written, then dropped
    uint64_t* to = bumped->data() + old;
    const uint64_t* const end = to + best;
    for (size_t i = 0; i < keys.size() && to != end; ++i) {
      *to = keys[i];
      to += pilots[key_bucket_[i]] == kBumpedPilot;
    }
    bumped->resize(old + best);
  }
  return static_cast<uint8_t>(best_seed);
}

}  // namespace compassdb::perfect_hash
