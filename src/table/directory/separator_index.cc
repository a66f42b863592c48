// SPDX-License-Identifier: Apache-2.0
#include "table/directory/separator_index.h"

#include "util/heap_bytes.h"
#include "util/select_bit.h"

namespace compassdb {

Status SeparatorIndex::Parse(const Slice& section, const KeyOrder& order, uint64_t num_blocks,
                             uint64_t data_bytes, const std::string& what, SeparatorIndex* out) {
  *out = SeparatorIndex();
  const auto damaged = [&](const char* why) { return Status::Corruption(what, why); };
  if (section.size() < kSeparatorHeaderBytes || num_blocks >= UINT32_MAX ||
      data_bytes >= uint64_t{1} << 47) {
    return damaged("separators: malformed header");
  }
  const char* p = section.data();
  const auto byte = [p](int i) { return static_cast<uint8_t>(p[i]); };
  const KeyAlphabet alphabet = {
      .low = byte(1), .high = byte(2), .hole = byte(3), .hole_length = byte(4)};
  const uint8_t kind = byte(0), symbols = byte(5);
  SeparatorIndex index;
  index.num_blocks_ = static_cast<uint32_t>(num_blocks);
  index.data_bytes_ = data_bytes;
  index.prefix_length_ = DecodeFixed32(p + 12);
  index.exceptions_ = DecodeFixed32(p + 16);
  index.stream_bytes_ = DecodeFixed32(p + 20);
  index.string_bytes_ = DecodeFixed32(p + 24);
  index.base_ = DecodeFixed64(p + 32);
  const uint32_t groups = index.NumGroups();
  const uint64_t size = kSeparatorHeaderBytes + (8 + kSeparatorGroupBytes) * uint64_t{groups} +
                        uint64_t{5} * index.exceptions_ + index.stream_bytes_ +
                        kSeparatorStreamPadding + uint64_t{index.string_bytes_} +
                        index.prefix_length_;
  if (DecodeFixed32(p + 8) != groups || size != section.size()) {
    return damaged("separators: the parts do not fill the section");
  }
  if (kind > static_cast<uint8_t>(SeparatorKind::kDescending) || !alphabet.Valid() ||
      symbols > KeyNumbering::MaxSymbols(alphabet)) {
    return damaged("separators: malformed numbering");
  }
  index.kind_ = static_cast<SeparatorKind>(kind);
  const SeparatorKind expected = order.bytewise()           ? SeparatorKind::kAscending
                                 : order.reverse_bytewise() ? SeparatorKind::kDescending
                                                            : SeparatorKind::kStrings;
  if (index.kind_ != expected ||
      (index.kind_ == SeparatorKind::kStrings && index.exceptions_ != num_blocks)) {
    return damaged("separators: not those of the comparator");
  }
  index.numbering_ =
      KeyNumbering(alphabet, symbols, index.kind_ == SeparatorKind::kDescending);
  index.size_ = section.size();
  index.bytes_.reset(new char[section.size()]);
  memcpy(index.bytes_.get(), section.data(), section.size());
  if (!index.CheckParts()) return damaged("separators: a group lies outside of its part");
  *out = std::move(index);
  return Status::OK();
}

bool SeparatorIndex::CheckParts() const {
  uint32_t exception = 0;
  for (uint32_t i = 0; i < NumGroups(); ++i) {
    const SeparatorGroup g = Group(i);
    if (g.shift > 63 || g.low_bits > kMaxFieldBits || g.residual_bits > kMaxFieldBits ||
        g.stream > stream_bytes_ || g.StreamBytes(BlocksOf(i)) > stream_bytes_ - g.stream ||
        g.exception < exception || g.exception > exceptions_) {
      return false;
    }
    exception = g.exception;
  }
  uint32_t end = 0;
  for (uint32_t i = 0; i < exceptions_; ++i) {
    const uint32_t next = DecodeFixed32(Ends() + size_t{4} * i);
    if (next < end || next > string_bytes_) return false;
    end = next;
  }
  return true;
}

Slice SeparatorIndex::ExceptionString(uint32_t exception) const {
  const char* const ends = Ends() + size_t{4} * exception;
  const uint32_t begin = exception == 0 ? 0 : DecodeFixed32(ends - 4);
  return Slice(Strings() + begin, DecodeFixed32(ends) - begin);
}

uint32_t SeparatorIndex::FindException(uint32_t begin, uint32_t end, uint32_t position) const {
  while (begin < end) {
    const uint32_t mid = begin + (end - begin) / 2;
    if (Position(mid) < position) {
      begin = mid + 1;
    } else {
      end = mid;
    }
  }
  return begin;
}

bool SeparatorIndex::KeyContinues(uint32_t block) const {
  const uint32_t group = block / kSeparatorGroup, position = block % kSeparatorGroup;
  const uint32_t end = ExceptionsEnd(group);
  const uint32_t x = FindException(Group(group).exception, end, position);
  return x < end && Position(x) == position &&
         (static_cast<uint8_t>(Positions()[x]) & kKeyContinues) != 0;
}

uint64_t SeparatorIndex::BlockOffset(uint32_t i) const {
  if (i >= num_blocks_) return data_bytes_;
  const uint32_t group = i / kSeparatorGroup, position = i % kSeparatorGroup;
  const SeparatorGroup g = Group(group);
  const char* residuals = Streams() + g.stream + g.UpperBytes() + g.LowBytes(BlocksOf(group));
  const uint64_t offset = static_cast<uint64_t>(g.offset) + uint64_t{g.stride} * position +
                          ReadField(residuals, position, g.residual_bits);
  return std::min(offset, data_bytes_);
}

uint32_t SeparatorIndex::LowerBound(const KeyOrder& order, const Slice& user_key) const {
  if (num_blocks_ == 0) return 0;
  if (kind_ == SeparatorKind::kStrings) return FindString(order, user_key);
  const size_t shared = std::min<size_t>(user_key.size(), prefix_length_);
  int side = memcmp(user_key.data(), Prefix(), shared);
  if (side == 0 && shared < prefix_length_) side = -1;  // shorter than all keys
  if (side != 0) {
    return (side < 0) == (kind_ == SeparatorKind::kAscending) ? 0 : num_blocks_;
  }
  const Slice rest(user_key.data() + shared, user_key.size() - shared);
  const uint64_t number = numbering_(rest.data(), rest.size());
  const uint32_t group = FindGroup(order, rest, number);
  return group < NumGroups() ? FindInGroup(order, group, rest, number) : num_blocks_;
}

// Every block has its string.
uint32_t SeparatorIndex::FindString(const KeyOrder& order, const Slice& user_key) const {
  uint32_t low = 0, high = num_blocks_;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (order.Compare(ExceptionString(mid), user_key) < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

bool SeparatorIndex::GroupEndsBefore(const KeyOrder& order, uint32_t group,
                                     const Slice& rest) const {
  const uint32_t end = ExceptionsEnd(group);
  return end > Group(group).exception && Position(end - 1) == BlocksOf(group) - 1 &&
         order.Compare(ExceptionString(end - 1), rest) < 0;
}

// The first group whose last block does not end before the key.
uint32_t SeparatorIndex::FindGroup(const KeyOrder& order, const Slice& rest,
                                   uint64_t number) const {
  const char* const top = TopArray();
  const uint32_t groups = NumGroups();
  // Halving without branches on the outcome.
  size_t first = 0;
  for (size_t n = groups; n > 1;) {
    const size_t half = n / 2;
    first += DecodeFixed64(top + 8 * (first + half - 1)) < number ? half : 0;
    n -= half;
  }
  first += Top(static_cast<uint32_t>(first)) < number ? 1 : 0;
  uint32_t low = static_cast<uint32_t>(first);
  if (low == groups || Top(low) != number) [[likely]] return low;
  // Groups that end in one number: all but the last have an exception there.
  uint32_t high = low;
  for (uint32_t end = groups; high + 1 < end;) {
    const uint32_t mid = high + (end - high) / 2;
    (Top(mid) == number ? high : end) = mid;
  }
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (GroupEndsBefore(order, mid, rest)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return GroupEndsBefore(order, low, rest) ? low + 1 : low;
}

uint32_t SeparatorIndex::FindInGroup(const KeyOrder& order, uint32_t group, const Slice& rest,
                                     uint64_t number) const {
  const SeparatorGroup g = Group(group);
  const uint32_t n = BlocksOf(group);
  uint64_t delta;
  if (g.skip != 0) {
    // All keys of the group share these bytes, and its last block has an exception.
    const uint32_t end = ExceptionsEnd(group);
    const Slice last = end > g.exception ? ExceptionString(end - 1) : Slice();
    const size_t skip = std::min<size_t>({g.skip, rest.size(), last.size()});
    if (skip < g.skip || memcmp(rest.data(), last.data(), skip) != 0) {
      return group * kSeparatorGroup;
    }
    delta = numbering_(rest.data() + skip, rest.size() - skip);
  } else {
    const uint64_t base = group == 0 ? base_ : Top(group - 1);
    delta = number > base ? number - base : 0;
  }
  const uint64_t code = delta >> g.shift;
  const uint64_t upper = code >> g.low_bits;
  const uint64_t low = code & ((uint64_t{1} << g.low_bits) - 1);
  const char* const words = Streams() + g.stream;
  const char* const lows = words + g.UpperBytes();
  // After `upper` zeros come the ones of the codes with these upper bits.
  uint32_t bit = 0;
  const uint32_t bits = uint32_t{g.upper_words} * 64;
  if (upper > 0) {
    uint64_t left = upper - 1;
    for (;; bit += 64) {
      if (bit >= bits) return group * kSeparatorGroup + n - 1;
      const uint64_t zeros = ~DecodeFixed64(words + bit / 8);
      const uint64_t sums = BytewiseSums(zeros);
      const uint32_t count = CountOfSums(sums);
      if (left < count) {
        bit += SelectInWord(zeros, sums, static_cast<uint32_t>(left)) + 1;
        break;
      }
      left -= count;
    }
  }
  for (uint32_t i = bit - static_cast<uint32_t>(upper); i < n; ++i, ++bit) {
    if (bit >= bits || (words[bit / 8] >> (bit & 7) & 1) == 0) return group * kSeparatorGroup + i;
    const uint64_t l = ReadField(lows, i, g.low_bits);
    if (l < low) continue;
    return group * kSeparatorGroup + (l == low ? ResolveTie(order, group, g, i, rest) : i);
  }
  return group * kSeparatorGroup + n - 1;
}

// The key's code is that of the block at `position`: an exception may say that
// the key is behind it.
uint32_t SeparatorIndex::ResolveTie(const KeyOrder& order, uint32_t group, const SeparatorGroup& g,
                                    uint32_t position, const Slice& rest) const {
  const uint32_t end = ExceptionsEnd(group);
  const uint32_t first = FindException(g.exception, end, position);
  uint32_t low = first, high = end;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (Position(mid) - position == mid - first && order.Compare(ExceptionString(mid), rest) < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return std::min(position + (low - first), BlocksOf(group) - 1);
}

size_t SeparatorIndex::MemoryBytes() const { return HeapBytes(size_); }

size_t SeparatorIndex::OffsetBytes() const {
  size_t bytes = size_t{12} * NumGroups();  // offset and stride
  for (uint32_t i = 0; i < NumGroups(); ++i) bytes += Group(i).ResidualBytes(BlocksOf(i));
  return bytes;
}

}  // namespace compassdb
