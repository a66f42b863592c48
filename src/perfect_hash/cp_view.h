// SPDX-License-Identifier: Apache-2.0
// Queries on serialised CPHash (layout and rules: cp_format.h).
//
// Thread safety: immutable after Open.
// Invariants: every segment's [first_slot, first_slot + slots) is within [0, slots()), and every
// pointer below covers its declared length inside the bytes given to Open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "perfect_hash/cp_format.h"
#include "perfect_hash/hash_mapping.h"

namespace compassdb::perfect_hash {

class CpView {
 public:
  static bool Open(std::span<const uint8_t> bytes, CpView* out);

  uint64_t keys() const { return keys_; }
  uint64_t slots() const { return slots_; }
  size_t size_bytes() const { return size_bytes_; }

  uint64_t Slot(uint64_t hash) const {
    if (slots_ == 0) return 0;
    const Address at = AddressOf(hash);
    return SlotAt(at);
  }

  void Prefetch(uint64_t hash) const {
    if (slots_ == 0) return;
    const Address at = AddressOf(hash);
    PrefetchRead(codes_ + at.code / 8);
    PrefetchRead(entries_ + at.segment * kCpEntryBytes);
  }

  void Batch(const uint64_t* hashes, uint64_t* slots, size_t n) const;

 private:
  struct Address {
    uint64_t bits;     // LevelBits
    uint64_t segment;
    uint64_t code;     // first bit
  };

  Address AddressOf(uint64_t hash) const {
    if (mixed_) hash = MixHash(hash, seed_);
    const uint64_t bits = LevelBits(hash, level_seed_);
    const uint64_t segment = map_(hash);
    const uint64_t bucket = segment * buckets_ + CpBucketOf(bits, buckets_, dense_);
    return {bits, segment, bucket * width_};
  }

  uint64_t SlotAt(const Address& at) const {
    uint32_t pair = static_cast<uint32_t>(LoadWord(codes_ + at.code / 8) >> (at.code & 7)) & mask_;
    const CpEntry entry = LoadCpEntry(entries_ + at.segment * kCpEntryBytes);
    if (pairs_ != nullptr) {
      // Within the bytes also if a damaged code points past all dictionaries.
      const uint64_t bit = std::min<uint64_t>(uint64_t{entry.first_pair} + pair, last_pair_) *
                           kCpPairBits;
      const uint8_t* at_pair = pairs_ + bit / 8;
      pair = (at_pair[0] | uint32_t{at_pair[1]} << 8) >> (bit & 7) & (kCpPairs - 1);
    }
    return entry.first_slot + CpSum(CpHashOf(at.bits, entry.seed), pair) % entry.slots;
  }

  SegmentMap map_;
  const uint8_t* entries_ = nullptr;
  const uint8_t* codes_ = nullptr;
  const uint8_t* pairs_ = nullptr;  // null: codes are pairs
  uint64_t last_pair_ = 0;
  uint64_t level_seed_ = 0;
  uint32_t buckets_ = 0;
  uint32_t dense_ = 0;
  uint32_t width_ = 0;
  uint32_t mask_ = 0;
  bool mixed_ = false;
  uint64_t seed_ = 0;
  uint64_t keys_ = 0;
  uint64_t slots_ = 0;
  size_t size_bytes_ = 0;
};

}  // namespace compassdb::perfect_hash
