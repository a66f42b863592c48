// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow/overflow_list.h"

#include <algorithm>

#include "format/format_version.h"
#include "tableless/page/place_checksum.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kNameBytes = 12;
constexpr uint64_t kMagic = FormatMagic("CsPgovl1");

}  // namespace

void AppendOverflowList(const OverflowList& list, uint64_t file_id, uint64_t offset, std::string* dst) {
  const size_t begin = dst->size();
  dst->reserve(begin + list.slots.size() * kOverflowSlotBytes + list.replaced.size() * kNameBytes + kOverflowListTrailer);
  for (const OverflowSlot& slot : list.slots) {
    PutFixed64(dst, slot.hash);
    PutFixed32(dst, slot.place.size);
    PutFixed32(dst, slot.section << 1 | (slot.removal ? 1 : 0));
  }
  for (const auto& [run_id, at] : list.replaced) {
    PutFixed64(dst, run_id);
    PutFixed32(dst, at);
  }
  PutFixed64(dst, list.replaced.size());
  PutFixed32(dst, PlaceChecksum(file_id, offset, Slice(dst->data() + begin, dst->size() - begin)));
  PutFixed64(dst, kMagic);
}

uint64_t OverflowListBytes(const Slice& trailer, uint64_t count, uint64_t length) {
  if (trailer.size() != kOverflowListTrailer || DecodeFixed64(trailer.data() + 12) != kMagic) return 0;
  const uint64_t names = DecodeFixed64(trailer.data());
  if (count > length / kOverflowSlotBytes || names > length / kNameBytes) return 0;
  const uint64_t bytes = count * kOverflowSlotBytes + names * kNameBytes + kOverflowListTrailer;
  return bytes <= length ? bytes : 0;
}

bool ParseOverflowList(const Slice& bytes, uint64_t count, uint64_t file_id, uint64_t offset, OverflowList* list) {
  const char* const trailer = bytes.data() + bytes.size() - kOverflowListTrailer;
  // Slots, names and their number.
  const Slice covered(bytes.data(), bytes.size() - kOverflowListTrailer + 8);
  if (!ChecksumHolds(DecodeFixed32(trailer + 8), PlaceChecksum(file_id, offset, covered))) return false;
  list->slots.resize(count);
  const char* at = bytes.data();
  uint64_t end = 0;
  for (OverflowSlot& slot : list->slots) {
    slot.hash = DecodeFixed64(at);
    slot.place = {static_cast<uint32_t>(end), DecodeFixed32(at + 8)};
    slot.section = DecodeFixed32(at + 12) >> 1;
    slot.removal = (DecodeFixed32(at + 12) & 1) != 0;
    if (end > UINT32_MAX) return false;
    end += slot.place.size;
    at += kOverflowSlotBytes;
  }
  list->replaced.resize(DecodeFixed64(trailer));
  for (auto& [run_id, place] : list->replaced) {
    run_id = DecodeFixed64(at);
    place = DecodeFixed32(at + 8);
    at += kNameBytes;
  }
  return end == offset && std::is_sorted(list->replaced.begin(), list->replaced.end());
}

}  // namespace compassdb
