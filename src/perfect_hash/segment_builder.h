// SPDX-License-Identifier: Apache-2.0
// Finds the pilots of one segment.
//
// Keys fall into buckets; the largest buckets choose first. A bucket tries its 256 - 1 pilots
// 64 at a time: for one alpha, OR together the 64-bit windows of the occupancy bitmap that begin
// at its keys' positions; each zero bit of the result is a beta that collides with nothing.
// The bitmap repeats its beginning after its end, so that windows need no wrapping.
// A bucket for which no pilot is left is bumped: its keys go to the next level.
//
// Thread safety: none; one builder per thread, reused for many segments.
// Invariants: the result depends on the set of keys and the parameters only, not on their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace compassdb::perfect_hash {

struct SegmentSpec {
  uint64_t level_seed = 0;
  uint32_t buckets = 0;   // 1..kMaxBuckets
  uint32_t slots = 0;     // 1..kMaxSegmentSlots
  uint32_t beta_bits = 0;
  uint32_t max_bumped = 0;  // try further seeds while more keys than this are bumped,
  uint32_t tries = 1;       // up to this many seeds (at most 256), and keep the best
};

class SegmentBuilder {
 public:
  // Writes spec.buckets pilots, appends the bumped keys in input order, and returns the seed.
  // Keys may repeat; all copies of a repeated key are bumped.
  uint8_t Build(std::span<const uint64_t> keys, const SegmentSpec& spec, uint8_t* pilots,
                std::vector<uint64_t>* bumped);

 private:
  static constexpr uint32_t kMaxBucketSize = 48;  // larger buckets are bumped unseen

  void MapToBuckets(std::span<const uint64_t> keys, const SegmentSpec& spec);
  void OrderBuckets(const SegmentSpec& spec);
  uint32_t TrySeed(uint8_t seed, const SegmentSpec& spec, uint8_t* pilots);
  uint32_t Search(const SegmentSpec& spec, uint8_t* pilots);
  uint32_t SearchTiny(uint8_t seed, const SegmentSpec& spec, uint8_t* pilots);
  template <uint32_t kSize>
  uint32_t SearchRun(uint32_t begin, uint32_t end, uint32_t size, uint8_t* pilots);
  bool Occupy(const uint64_t* positions, uint32_t size, uint32_t shift, uint32_t beta);

  uint32_t slots_ = 0;
  std::vector<uint64_t> key_bits_;         // per key: LevelBits
  std::vector<uint32_t> key_bucket_;       // per key
  std::vector<uint32_t> bucket_begin_;     // per bucket, and one past: its keys' first place
  std::vector<uint64_t> bits_;             // LevelBits, grouped by bucket
  std::vector<uint64_t> positions_;        // four 16-bit positions (one per alpha), likewise
  std::vector<uint32_t> order_;            // buckets that hold keys, largest first
  std::vector<uint32_t> run_end_;          // by size: where its run in order_ ends
  std::vector<uint64_t> occupied_;         // bitmap of slots
  std::vector<uint32_t> cursor_;
};

}  // namespace compassdb::perfect_hash
