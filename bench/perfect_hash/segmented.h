// SPDX-License-Identifier: Apache-2.0
// CHD or PTHash over segments as CPHash has them, to measure what segmentation alone brings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perfect_hash/bits.h"

namespace perfect_hash_bench {

template <typename Part>
class Segmented {
 public:
  static Segmented Build(std::span<const uint64_t> hashes, double keys_per_bucket, double load) {
    Segmented f;
    const size_t n = hashes.size();
    const uint64_t count = std::max<uint64_t>((n + 65535) / 65536,
                                              std::clamp<uint64_t>(n / 16384, 1, 64));
    std::vector<uint64_t> begin(count + 1, 0);
    for (const uint64_t hash : hashes) ++begin[SegmentOf(hash, count) + 1];
    for (uint64_t s = 0; s < count; ++s) begin[s + 1] += begin[s];
    std::vector<uint64_t> cursor = begin;
    std::vector<uint64_t> grouped(n);
    for (const uint64_t hash : hashes) grouped[cursor[SegmentOf(hash, count)]++] = hash;
    for (uint64_t s = 0; s < count; ++s) {
      const std::span<const uint64_t> part(grouped.data() + begin[s], begin[s + 1] - begin[s]);
      f.parts_.push_back(Part::Build(part, keys_per_bucket, load));
      f.first_slot_.push_back(f.slots_);
      f.slots_ += f.parts_.back().slots();
    }
    return f;
  }

  uint64_t operator()(uint64_t hash) const {
    const uint64_t s = SegmentOf(hash, parts_.size());
    return first_slot_[s] + parts_[s](hash);
  }
  uint64_t slots() const { return slots_; }
  size_t SizeBytes() const {
    size_t bytes = first_slot_.size() * 8;
    for (const Part& part : parts_) bytes += part.SizeBytes();
    return bytes;
  }

 private:
  static uint64_t SegmentOf(uint64_t hash, uint64_t count) {
    return compassdb::perfect_hash::MulHigh(hash, count);
  }

  std::vector<Part> parts_;
  std::vector<uint64_t> first_slot_;
  uint64_t slots_ = 0;
};

}  // namespace perfect_hash_bench
