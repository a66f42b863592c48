// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/pilot_view.h"

#include <algorithm>

#include "perfect_hash/byte_io.h"

namespace compassdb::perfect_hash {
namespace {

// The segments' slot ranges must follow each other from *next_slot on.
bool CheckEntries(const uint8_t* entries, uint64_t segments, uint64_t* next_slot) {
  for (uint64_t s = 0; s < segments; ++s) {
    const uint64_t entry = LoadWord(entries + s * 8);
    const uint32_t slots = EntrySlots(entry);
    if (EntryFirstSlot(entry) != *next_slot) return false;
    if (slots < (segments > 1 ? kMinSlotsOfMany : 1)) return false;
    *next_slot += slots;
  }
  return true;
}

}  // namespace

bool PilotView::Open(std::span<const uint8_t> bytes, PilotView* out) {
  *out = PilotView();
  PilotView view;
  ByteReader in(bytes);
  if (in.Byte() != kPilotKind) return false;
  const uint8_t flags = in.Byte();
  if ((flags & ~(kFlagMixed | kFlagList)) != 0) return false;
  view.mixed_ = (flags & kFlagMixed) != 0;
  view.level_count_ = in.Byte();
  view.keys_ = in.Varint();
  view.slots_ = in.Varint();
  if (!in.ok() || view.level_count_ > kMaxLevels || view.keys_ > view.slots_) return false;
  view.seed_ = (view.level_count_ > 0 || flags != 0) ? in.Word() : 0;

  uint64_t next_slot = 0;
  for (uint32_t i = 0; i < view.level_count_; ++i) {
    Level level;
    uint64_t segments = 0;
    if (!ReadLevel(view.seed_, i, &in, &segments, &level)) return false;
    if (!CheckEntries(level.entries, segments, &next_slot)) return false;
    if (i > 0) continue;
    view.first_ = level;
    view.rest_size_ = in.left();
    view.rest_ = bytes.data() + (bytes.size() - in.left());
  }
  if ((flags & kFlagList) != 0) {
    view.list_size_ = in.Varint();
    view.list_ = in.TakeArray(view.list_size_, 8);
    if (!in.ok() || view.list_size_ == 0) return false;
    next_slot += view.list_size_;
  } else if (view.level_count_ == 0) {
    next_slot = std::min<uint64_t>(view.slots_, 1);  // no key, or one: nothing to distinguish
  }
  if (!in.ok() || in.left() != 0 || next_slot != view.slots_) return false;
  view.size_bytes_ = bytes.size();
  *out = view;
  return true;
}

bool PilotView::ReadLevel(uint64_t function_seed, uint32_t i, ByteReader* in, uint64_t* segments,
                          Level* level) {
  *segments = in->Varint();
  const uint64_t buckets = in->Varint();
  if (!in->ok() || *segments == 0 || buckets == 0 || buckets > kMaxBuckets) return false;
  if (*segments > 1) {
    level->map.base = in->Word();
    level->map.scale = in->Word();
    level->map.shift = in->Byte();
    level->map.last = *segments - 1;
    if (level->map.shift > 63) return false;
  }
  level->entries = in->TakeArray(*segments, 8);
  level->pilots = in->TakeArray(*segments, buckets);
  if (!in->ok()) return false;
  level->seed = LevelSeed(function_seed, i);
  level->buckets = static_cast<uint32_t>(buckets);
  level->beta_bits = *segments > 1 ? kBetaBits : BetaBitsFor(EntrySlots(LoadWord(level->entries)));
  return true;
}

uint64_t PilotView::BumpedSlot(uint64_t hash) const {
  ByteReader in({rest_, rest_size_});
  for (uint32_t i = 1; i < level_count_; ++i) {
    Level level;
    uint64_t segments = 0, slot = 0;
    if (!ReadLevel(seed_, i, &in, &segments, &level)) break;  // Open has read them
    if (level.Find(hash, &slot)) return slot;
  }
  return ListSlot(hash);
}

uint64_t PilotView::ListSlot(uint64_t hash) const {
  if (list_size_ == 0) return 0;
  uint64_t low = 0;
  uint64_t count = list_size_;
  while (count > 1) {
    const uint64_t half = count / 2;
    if (LoadWord(list_ + (low + half) * 8) <= hash) low += half;
    count -= half;
  }
  return slots_ - list_size_ + low;
}

void PilotView::Batch(const uint64_t* hashes, uint64_t* slots, size_t n) const {
  constexpr size_t kGroup = 32;
  if (level_count_ == 0) {
    for (size_t i = 0; i < n; ++i) slots[i] = Slot(hashes[i]);
    return;
  }
  const Level& level = first_;
  uint64_t bits[kGroup];
  const uint8_t* pilots[kGroup];
  const uint8_t* entries[kGroup];
  while (n > 0) {
    const size_t count = std::min(n, kGroup);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t hash = mixed_ ? MixHash(hashes[i], seed_) : hashes[i];
      const uint64_t segment = level.map(hash);
      bits[i] = LevelBits(hash, level.seed);
      pilots[i] = level.pilots + segment * level.buckets + BucketOf(bits[i], level.buckets);
      entries[i] = level.entries + segment * 8;
      PrefetchRead(pilots[i]);
      PrefetchRead(entries[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint8_t pilot = *pilots[i];
      slots[i] = pilot != kBumpedPilot ? level.SlotOf(bits[i], LoadWord(entries[i]), pilot)
                                       : Slot(hashes[i]);
    }
    hashes += count;
    slots += count;
    n -= count;
  }
}

}  // namespace compassdb::perfect_hash
