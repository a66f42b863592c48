// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/cp_view.h"

#include "perfect_hash/byte_io.h"

namespace compassdb::perfect_hash {

bool CpView::Open(std::span<const uint8_t> bytes, CpView* out) {
  *out = CpView();
  CpView view;
  ByteReader in(bytes);
  if (in.Byte() != kCpKind) return false;
  const uint8_t flags = in.Byte();
  if ((flags & ~kCpFlagMixed) != 0) return false;
  view.mixed_ = (flags & kCpFlagMixed) != 0;
  view.keys_ = in.Varint();
  view.slots_ = in.Varint();
  view.size_bytes_ = bytes.size();
  if (!in.ok() || view.keys_ > view.slots_) return false;
  if (view.keys_ == 0) {
    if (view.slots_ != 0 || flags != 0 || in.left() != 0) return false;
    *out = view;
    return true;
  }
  view.seed_ = in.Word();
  view.level_seed_ = LevelSeed(view.seed_, 0);
  const uint64_t segments = in.Varint();
  const uint64_t buckets = in.Varint();
  view.width_ = in.Byte();
  const uint64_t pairs = in.Varint();
  // Bounds that keep the products below from overflowing.
  if (!in.ok() || segments == 0 || segments > bytes.size() || buckets == 0 ||
      buckets > kCpMaxSegmentSlots || view.width_ > kCpPairBits) {
    return false;
  }
  if (segments > 1) {
    view.map_.base = in.Word();
    view.map_.scale = in.Word();
    view.map_.shift = in.Byte();
    view.map_.last = segments - 1;
    if (view.map_.shift > 63) return false;
  }
  view.entries_ = in.TakeArray(segments, kCpEntryBytes);
  if (!in.ok() || pairs > bytes.size() || segments > (uint64_t{1} << 50) / buckets) return false;
  if (pairs > 0) view.pairs_ = in.Take((pairs * kCpPairBits + 7) / 8);
  view.codes_ = in.Take((segments * buckets * view.width_ + 7) / 8 + kCpPaddingBytes);
  if (!in.ok() || in.left() != 0) return false;
  uint64_t next_slot = 0;
  for (uint64_t s = 0; s < segments; ++s) {
    const CpEntry entry = LoadCpEntry(view.entries_ + s * kCpEntryBytes);
    if (entry.first_slot != next_slot || entry.slots < 2 || entry.slots > kCpMaxSegmentSlots) {
      return false;
    }
    next_slot += entry.slots;
  }
  if (next_slot != view.slots_) return false;
  view.buckets_ = static_cast<uint32_t>(buckets);
  view.dense_ = DenseBuckets(view.buckets_);
  view.mask_ = (1u << view.width_) - 1;
  view.last_pair_ = pairs == 0 ? 0 : pairs - 1;
  *out = view;
  return true;
}

void CpView::Batch(const uint64_t* hashes, uint64_t* slots, size_t n) const {
  constexpr size_t kGroup = 32;
  if (slots_ == 0) {
    std::fill_n(slots, n, 0);
    return;
  }
  Address at[kGroup];
  while (n > 0) {
    const size_t count = std::min(n, kGroup);
    for (size_t i = 0; i < count; ++i) {
      at[i] = AddressOf(hashes[i]);
      PrefetchRead(codes_ + at[i].code / 8);
      PrefetchRead(entries_ + at[i].segment * kCpEntryBytes);
    }
    for (size_t i = 0; i < count; ++i) slots[i] = SlotAt(at[i]);
    hashes += count;
    slots += count;
    n -= count;
  }
}

}  // namespace compassdb::perfect_hash
