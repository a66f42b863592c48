// SPDX-License-Identifier: Apache-2.0
#include "table/piece/order_page.h"

#include <bit>

namespace compassdb {

namespace {

// Every number can be read as 8 bytes.
uint64_t PackedBytes(uint64_t count, uint32_t width) { return (count * width + 7) / 8 + 8; }

void Pack(uint64_t i, uint32_t width, uint64_t value, std::string* bytes) {
  const uint64_t bit = i * width;
  char* p = bytes->data() + bit / 8;
  EncodeFixed64(p, DecodeFixed64(p) | value << (bit % 8));
}

}  // namespace

void OrderPage::Encode(std::span<const RecordPlace> places, std::span<const uint32_t> differences,
                       const OrderWidths& widths, std::string* payload) {
  std::string packed(PackedBytes(places.size(), widths.place()), '\0');
  for (size_t i = 0; i < places.size(); ++i) {
    Pack(i, widths.place(), uint64_t{places[i].block} << widths.index | places[i].index, &packed);
  }
  BlockBuilder block(/*share_prefix=*/false, /*fingerprints=*/false);
  block.Add(Slice(), 0, 0, kTypeValue, packed);
  if (widths.difference > 0) {
    packed.assign(PackedBytes(differences.size(), widths.difference), '\0');
    for (size_t i = 0; i < differences.size(); ++i) {
      Pack(i, widths.difference, differences[i], &packed);
    }
    block.Add(Slice(), 0, 0, kTypeValue, packed);
  }
  block.Finish(payload);
}

bool OrderPage::Parse(const Block& block, uint32_t count, const OrderWidths& widths,
                      OrderPage* out) {
  const uint32_t records = widths.difference > 0 ? 2 : 1;
  Block::Record places, differences;
  if (block.count() != records || !block.Get(0, &places) ||
      places.value.size() != PackedBytes(count, widths.place())) {
    return false;
  }
  if (records == 2 && (!block.Get(1, &differences) ||
                       differences.value.size() != PackedBytes(count, widths.difference))) {
    return false;
  }
  out->widths_ = widths;
  out->count_ = count;
  out->places_ = places.value.data();
  out->differences_ = differences.value.data();
  return true;
}

uint32_t OrderPage::Candidate(uint32_t begin, uint32_t end, const Slice& user_key) const {
  uint32_t best = begin;
  for (uint32_t i = begin + 1; i < end;) {
    const uint64_t d = difference(i);
    if (BitAt(user_key, d)) {
      best = i++;
    } else {
      // Keys that share the bit with key i are on the wrong side, too.
      do {
        ++i;
      } while (i < end && difference(i) > d);
    }
  }
  return best;
}

// The keys around the candidate share their first d bits with it while neighbours differ only behind
// `d`. So all of them are on its side of user_key.
uint32_t OrderPage::LowerBound(uint32_t begin, uint32_t end, uint32_t candidate, uint64_t d,
                               bool candidate_is_smaller) const {
  uint32_t i = candidate;
  if (candidate_is_smaller) {
    do {
      ++i;
    } while (i < end && difference(i) > d);
    return i;
  }
  while (i > begin && difference(i) > d) --i;
  return i;
}

uint64_t FirstDifference(const Slice& a, const Slice& b) {
  const size_t n = CommonPrefixLength(a, b);
  if (n == a.size() || n == b.size()) return a.size() == b.size() ? UINT64_MAX : uint64_t{n} * 9;
  const unsigned bits = static_cast<unsigned char>(a[n]) ^ static_cast<unsigned char>(b[n]);
  return uint64_t{n} * 9 + 1 + static_cast<uint64_t>(8 - std::bit_width(bits));
}

bool BitAt(const Slice& key, uint64_t position) {
  const uint64_t byte = position / 9, bit = position % 9;
  if (byte >= key.size()) return false;
  return bit == 0 || (static_cast<unsigned char>(key[byte]) >> (8 - bit) & 1) != 0;
}

}  // namespace compassdb
