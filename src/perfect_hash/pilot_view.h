// SPDX-License-Identifier: Apache-2.0
// Queries on the serialised pilot function (layout and rules: pilot_format.h).
//
// Thread safety: immutable after Open.
// Invariants: every segment's [first_slot, first_slot + slots) is within [0, slots()), and every
// pointer below covers its declared length inside the bytes given to Open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "perfect_hash/bits.h"
#include "perfect_hash/pilot_format.h"

namespace compassdb::perfect_hash {

class ByteReader;

class PilotView {
 public:
  static bool Open(std::span<const uint8_t> bytes, PilotView* out);

  uint64_t keys() const { return keys_; }
  uint64_t slots() const { return slots_; }
  size_t size_bytes() const { return size_bytes_; }

  uint64_t Slot(uint64_t hash) const {
    if (mixed_) hash = MixHash(hash, seed_);
    uint64_t slot = 0;
    if (level_count_ > 0 && first_.Find(hash, &slot)) [[likely]] return slot;
    return BumpedSlot(hash);
  }

  void Prefetch(uint64_t hash) const {
    if (level_count_ == 0) return;
    if (mixed_) hash = MixHash(hash, seed_);
    const Level& level = first_;
    const uint64_t segment = level.map(hash);
    PrefetchRead(level.pilots + segment * level.buckets +
                 BucketOf(LevelBits(hash, level.seed), level.buckets));
    PrefetchRead(level.entries + segment * 8);
  }

  void Batch(const uint64_t* hashes, uint64_t* slots, size_t n) const;

 private:
  struct Level {
    SegmentMap map;
    const uint8_t* entries = nullptr;
    const uint8_t* pilots = nullptr;
    uint64_t seed = 0;
    uint32_t buckets = 0;
    uint32_t beta_bits = 0;

    // False if the hash's bucket was bumped to the next level.
    bool Find(uint64_t hash, uint64_t* slot) const {
      const uint64_t level_bits = LevelBits(hash, seed);
      const uint64_t segment = map(hash);
      const uint8_t pilot = pilots[segment * buckets + BucketOf(level_bits, buckets)];
      if (pilot == kBumpedPilot) [[unlikely]] return false;
      *slot = SlotOf(level_bits, LoadWord(entries + segment * 8), pilot);
      return true;
    }
    uint64_t SlotOf(uint64_t bits, uint64_t entry, uint32_t pilot) const {
      const uint32_t slots = EntrySlots(entry);
      const uint64_t position_bits = PositionBits(bits, EntrySeed(entry));
      uint32_t position = Position(position_bits, pilot >> beta_bits, slots);
      position += pilot & ((1u << beta_bits) - 1);
      position -= position >= slots ? slots : 0;
      return EntryFirstSlot(entry) + position;
    }
  };

  // Level i, which begins at `in`. Its contents are not checked.
  static bool ReadLevel(uint64_t function_seed, uint32_t i, ByteReader* in, uint64_t* segments,
                        Level* level);
  // The slot of a (mixed) hash that the first level does not place. Other levels are parsed only
  // then: few hashes need them, and parsed levels would be most of a function's memory.
  uint64_t BumpedSlot(uint64_t hash) const;
  uint64_t ListSlot(uint64_t hash) const;

  Level first_;
  const uint8_t* rest_ = nullptr;  // the levels behind it
  uint64_t rest_size_ = 0;
  uint32_t level_count_ = 0;
  bool mixed_ = false;
  uint64_t seed_ = 0;
  uint64_t keys_ = 0;
  uint64_t slots_ = 0;
  const uint8_t* list_ = nullptr;
  uint64_t list_size_ = 0;
  size_t size_bytes_ = 0;
};

}  // namespace compassdb::perfect_hash
