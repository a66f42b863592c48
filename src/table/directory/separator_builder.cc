// SPDX-License-Identifier: Apache-2.0
#include "table/directory/separator_builder.h"

#include <algorithm>
#include <bit>
#include <bitset>

#include "table/block/block_offsets.h"

namespace compassdb {

namespace {

constexpr uint64_t kExceptionBits = 40;  // of an exception, without its string
constexpr size_t kMaxSkip = UINT16_MAX;

// Code bits of n codes up to `greatest` with `low_bits` lower bits stored separately.
uint64_t CodeBits(uint64_t n, uint64_t greatest, uint32_t low_bits) {
  return n * low_bits + n + (greatest >> low_bits) + 1;
}

uint32_t BestLowBits(uint64_t n, uint64_t greatest) {
  uint32_t bits = static_cast<uint32_t>(std::max(0, static_cast<int>(std::bit_width(greatest)) - 20));
  while (bits < kMaxFieldBits && CodeBits(n, greatest, bits + 1) < CodeBits(n, greatest, bits)) {
    ++bits;
  }
  return bits;
}

// The least alphabet around the bytes that are used.
KeyAlphabet AlphabetOf(const std::bitset<256>& used) {
  if (used.none()) return {.low = 0, .high = 0};
  KeyAlphabet alphabet;
  int last = -1;
  for (int byte = 0; byte < 256; ++byte) {
    if (!used[static_cast<size_t>(byte)]) continue;
    if (last < 0) alphabet.low = static_cast<uint8_t>(byte);
    if (last >= 0 && byte - last - 1 > alphabet.hole_length) {
      alphabet.hole = static_cast<uint8_t>(last + 1);
      alphabet.hole_length = static_cast<uint8_t>(byte - last - 1);
    }
    last = byte;
  }
  alphabet.high = static_cast<uint8_t>(last);
  if (!alphabet.Valid()) alphabet.hole = alphabet.hole_length = 0;
  return alphabet;
}

}  // namespace

struct SeparatorBuilder::Group {
  uint32_t first = 0;  // block
  uint32_t n = 0;
  SeparatorGroup header;
  std::vector<uint64_t> values;      // of the blocks' last keys, before the shift
  std::vector<uint32_t> tied_below;  // block i is an exception if the shift is at least this
};

void SeparatorBuilder::Add(const Slice& first, const Slice& last, uint64_t stored_length) {
  for (const Slice& key : {first, last}) {
    keys_.append(key.data(), key.size());
    key_ends_.push_back(keys_.size());
  }
  offsets_.push_back(offsets_.back() + stored_length);
}

Slice SeparatorBuilder::Rest(const Slice& key, size_t skip) const {
  const size_t cut = std::min(key.size(), prefix_ + skip);
  return Slice(key.data() + cut, key.size() - cut);
}

uint64_t SeparatorBuilder::Number(const KeyNumbering& numbering, const Slice& key,
                                  size_t skip) const {
  const Slice rest = Rest(key, skip);
  return numbering(rest.data(), rest.size());
}

SeparatorKind SeparatorBuilder::Kind() const {
  if (order_.bytewise()) return SeparatorKind::kAscending;
  return order_.reverse_bytewise() ? SeparatorKind::kDescending : SeparatorKind::kStrings;
}

// The bytes that occur where neighbouring blocks' keys differ, and as many
// symbols as it takes to distinguish them.
KeyNumbering SeparatorBuilder::ChooseNumbering() {
  prefix_ = CommonPrefixLength(First(0), Last(num_blocks() - 1));
  size_t needed = 1;
  std::bitset<256> used;
  const auto include = [&](const Slice& key, size_t length) {
    for (size_t i = prefix_; i < std::min(length, key.size()); ++i) {
      used.set(static_cast<uint8_t>(key[i]));
    }
  };
  for (uint32_t b = 0; b < num_blocks(); ++b) {
    const Slice next = b + 1 < num_blocks() ? First(b + 1) : First(0);
    const size_t length = CommonPrefixLength(Last(b), next) + 2;
    needed = std::max(needed, length - std::min(length, prefix_));
    include(Last(b), length);
    include(next, length);
  }
  alphabet_ = AlphabetOf(used);
  symbols_ = static_cast<uint8_t>(
      std::min<size_t>(needed, KeyNumbering::MaxSymbols(alphabet_)));
  return KeyNumbering(alphabet_, symbols_, Kind() == SeparatorKind::kDescending);
}

// How many bytes after the prefix the group should skip: those that all its
// keys share, if its keys could not be distinguished otherwise.
size_t SeparatorBuilder::ChooseSkip(const KeyNumbering& numbering, uint32_t first,
                                    uint32_t end) const {
  const size_t skip =
      std::min(kMaxSkip, CommonPrefixLength(First(first), Last(end - 1)) - prefix_);
  if (skip == 0) return 0;
  size_t tied = 0, tied_with_skip = 0;
  for (uint32_t b = first; b + 1 < end; ++b) {
    tied += Number(numbering, Last(b)) == Number(numbering, First(b + 1));
    tied_with_skip += Number(numbering, Last(b), skip) == Number(numbering, First(b + 1), skip);
  }
  return tied_with_skip + 2 < tied ? skip : 0;
}

void SeparatorBuilder::AppendException(uint32_t block, const Slice& separator) {
  positions_.push_back(static_cast<char>(block % kSeparatorGroup |
                                         (KeyContinues(block) ? kKeyContinues : 0)));
  strings_.append(separator.data(), separator.size());
  exception_ends_.push_back(strings_.size());
}

void SeparatorBuilder::EncodeStrings() {
  for (uint32_t first = 0; first < num_blocks(); first += kSeparatorGroup) {
    Group group;
    group.first = first;
    group.n = std::min(kSeparatorGroup, num_blocks() - first);
    group.header.exception = static_cast<uint32_t>(exception_ends_.size());
    group.header.stream = static_cast<uint32_t>(streams_.size());
    for (uint32_t b = first; b < first + group.n; ++b) {
      std::string separator = Last(b).ToString();
      if (b + 1 < num_blocks()) order_.ShortenSeparator(First(b + 1), &separator);
      AppendException(b, separator);
    }
    AppendOffsets(&group);
    top_.push_back(0);
    groups_.push_back(group.header);
  }
}

void SeparatorBuilder::EncodeCodes(const KeyNumbering& numbering) {
  base_ = Number(numbering, First(0));
  const uint32_t count = (num_blocks() + kSeparatorGroup - 1) / kSeparatorGroup;
  for (uint32_t g = 0; g < count; ++g) {
    Group group;
    group.first = g * kSeparatorGroup;
    group.n = std::min(kSeparatorGroup, num_blocks() - group.first);
    group.header.skip = static_cast<uint32_t>(
        ChooseSkip(numbering, group.first, group.first + group.n));
    EncodeGroup(numbering, &group);
  }
}

void SeparatorBuilder::EncodeGroup(const KeyNumbering& numbering, Group* group) {
  SeparatorGroup& header = group->header;
  const uint32_t end = group->first + group->n;
  const uint64_t base = header.skip != 0 ? 0 : (top_.empty() ? base_ : top_.back());
  for (uint32_t b = group->first; b < end; ++b) {
    const uint64_t last = Number(numbering, Last(b), header.skip) - base;
    group->values.push_back(last);
    uint32_t tied_below = UINT32_MAX;
    if (b + 1 < end) {
      const uint64_t next = Number(numbering, First(b + 1), header.skip) - base;
      tied_below = static_cast<uint32_t>(std::bit_width(last ^ next));
    } else if (header.skip != 0 ||
               (b + 1 < num_blocks() &&
                Number(numbering, Last(b)) == Number(numbering, First(b + 1)))) {
      tied_below = 0;  // a group that skips is recognised by its last key
    }
    group->tied_below.push_back(tied_below);
  }
  ChooseWidths(group);
  header.exception = static_cast<uint32_t>(exception_ends_.size());
  header.stream = static_cast<uint32_t>(streams_.size());
  for (uint32_t i = 0; i < group->n; ++i) {
    if (group->tied_below[i] > header.shift) continue;
    const uint32_t b = group->first + i;
    std::string separator = Last(b).ToString();
    if (header.skip == 0) {
      order_.ShortenSeparator(First(b + 1), &separator);
      if (Number(numbering, separator) != Number(numbering, Last(b))) {
        separator = Last(b).ToString();
      }
    }
    AppendException(b, Rest(separator));
  }
  AppendCodes(group);
  AppendOffsets(group);
  top_.push_back(Number(numbering, Last(end - 1)));
  groups_.push_back(header);
}

// The shift at which codes and exceptions together take the fewest bits.
void SeparatorBuilder::ChooseWidths(Group* group) const {
  uint64_t exception_bits[65] = {};  // at shift s: those of 0..s
  for (uint32_t i = 0; i < group->n; ++i) {
    if (group->tied_below[i] > 64) continue;
    exception_bits[group->tied_below[i]] +=
        kExceptionBits + 8 * Rest(Last(group->first + i)).size();
  }
  const uint64_t greatest = group->values.back();
  uint64_t best = UINT64_MAX, exceptions = 0;
  for (uint32_t shift = 0; shift < 64; ++shift) {
    exceptions += exception_bits[shift];
    const uint32_t low_bits = BestLowBits(group->n, greatest >> shift);
    const uint64_t code_bits = CodeBits(group->n, greatest >> shift, low_bits);
    // The upper bits are counted in words of eight bits.
    if (code_bits - group->n * uint64_t{low_bits} > 64 * 255) continue;
    if (code_bits + exceptions < best) {
      best = code_bits + exceptions;
      group->header.shift = static_cast<uint8_t>(shift);
      group->header.low_bits = static_cast<uint8_t>(low_bits);
    }
  }
}

void SeparatorBuilder::AppendCodes(Group* group) {
  SeparatorGroup& header = group->header;
  const auto upper = [&](uint32_t i) {
    return group->values[i] >> header.shift >> header.low_bits;
  };
  const uint64_t bits = group->n + upper(group->n - 1) + 1;
  header.upper_words = static_cast<uint8_t>((bits + 63) / 64);
  const size_t begin = streams_.size();
  streams_.append(header.UpperBytes(), '\0');
  for (uint32_t i = 0; i < group->n; ++i) {
    const uint64_t bit = upper(i) + i;
    char& byte = streams_[begin + bit / 8];
    byte = static_cast<char>(byte | 1 << (bit & 7));
  }
  FieldWriter lows(&streams_, group->n, header.low_bits);
  for (uint64_t value : group->values) {
    lows.Put(value >> header.shift & ((uint64_t{1} << header.low_bits) - 1));
  }
  lows.Finish();
}

void SeparatorBuilder::AppendOffsets(Group* group) {
  const uint64_t* const offsets = offsets_.data() + group->first;
  const OffsetLine line = OffsetLine::Fit(offsets, group->n);
  group->header.offset = line.offset;
  group->header.stride = line.stride;
  group->header.residual_bits = line.residual_bits;
  line.AppendResiduals(offsets, group->n, &streams_);
}

bool SeparatorBuilder::Finish(std::string* out) {
  out->clear();
  if (num_blocks() > 0) {
    if (Kind() == SeparatorKind::kStrings) {
      EncodeStrings();
    } else {
      EncodeCodes(ChooseNumbering());
    }
  }
  if (streams_.size() > UINT32_MAX || strings_.size() > UINT32_MAX || prefix_ > UINT32_MAX ||
      exception_ends_.size() > UINT32_MAX || offsets_.back() >= uint64_t{1} << 47) {
    return false;
  }
  for (uint8_t byte : {static_cast<uint8_t>(Kind()), alphabet_.low, alphabet_.high, alphabet_.hole,
                       alphabet_.hole_length, symbols_, uint8_t{0}, uint8_t{0}}) {
    out->push_back(static_cast<char>(byte));
  }
  for (size_t number : {groups_.size(), prefix_, exception_ends_.size(), streams_.size(),
                        strings_.size()}) {
    PutFixed32(out, static_cast<uint32_t>(number));
  }
  PutFixed32(out, 0);
  PutFixed64(out, base_);
  for (uint64_t number : top_) PutFixed64(out, number);
  for (const SeparatorGroup& group : groups_) group.AppendTo(out);
  for (size_t end : exception_ends_) PutFixed32(out, static_cast<uint32_t>(end));
  out->append(positions_);
  out->append(streams_);
  out->append(kSeparatorStreamPadding, '\0');
  out->append(strings_);
  if (prefix_ > 0) out->append(First(0).data(), prefix_);
  return true;
}

}  // namespace compassdb
