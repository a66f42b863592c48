// SPDX-License-Identifier: Apache-2.0
#include "util/elias_fano.h"

#include <bit>

#include "util/coding.h"
#include "util/heap_bytes.h"
#include "util/select_bit.h"

namespace compassdb {

namespace {

struct Shape {
  uint32_t low_bits = 0;
  uint64_t low_words = 0;
  uint64_t high_words = 0;
};

Shape ShapeOf(uint64_t count, uint64_t last) {
  Shape shape;
  if (count == 0) return shape;
  shape.low_bits = last < count ? 0 : static_cast<uint32_t>(std::bit_width(last / count)) - 1;
  shape.low_words = (count * shape.low_bits + 63) / 64;
  // One zero behind the last element, so that every SelectZero has an answer.
  shape.high_words = (count + (last >> shape.low_bits) + 1 + 63) / 64;
  return shape;
}

}  // namespace

void EncodeEliasFano(std::span<const uint64_t> values, std::string* out) {
  const uint64_t count = values.size();
  const uint64_t last = count == 0 ? 0 : values.back();
  const Shape shape = ShapeOf(count, last);
  std::vector<uint64_t> low(shape.low_words + 1, 0);
  std::vector<uint64_t> high(shape.high_words, 0);
  const uint64_t mask = (uint64_t{1} << shape.low_bits) - 1;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bit = i * shape.low_bits;
    const uint64_t v = values[i] & mask;
    low[bit / 64] |= v << (bit % 64);
    if (bit % 64 + shape.low_bits > 64) low[bit / 64 + 1] |= v >> (64 - bit % 64);
    const uint64_t one = (values[i] >> shape.low_bits) + i;
    high[one / 64] |= uint64_t{1} << (one % 64);
  }
  PutVarint64(out, count);
  PutVarint64(out, last);
  for (uint64_t i = 0; i < shape.low_words; ++i) PutFixed64(out, low[i]);
  for (uint64_t word : high) PutFixed64(out, word);
}

bool EliasFano::Parse(rocksdb::Slice* input, uint64_t max_count, EliasFano* out) {
  EliasFano ef;
  rocksdb::Slice in = *input;
  if (!GetVarint64(&in, &ef.count_) || !GetVarint64(&in, &ef.last_) || ef.count_ > max_count ||
      ef.last_ == UINT64_MAX || (ef.count_ == 0 && ef.last_ != 0)) {
    return false;
  }
  // One bit per element at least: bounds every product below.
  if (ef.count_ / 8 > in.size()) return false;
  const Shape shape = ShapeOf(ef.count_, ef.last_);
  const uint64_t words = in.size() / 8;
  if (shape.low_words > words || shape.high_words > words - shape.low_words ||
      shape.high_words > UINT32_MAX) {
    return false;
  }
  ef.low_bits_ = shape.low_bits;
  const char* p = in.data();
  const auto take = [&p](uint64_t n, std::vector<uint64_t>* to) {
    for (uint64_t i = 0; i < n; ++i, p += 8) to->push_back(DecodeFixed64(p));
  };
  ef.low_.reserve(shape.low_words + 1);
  ef.high_.reserve(shape.high_words);
  take(shape.low_words, &ef.low_);
  ef.low_.push_back(0);
  take(shape.high_words, &ef.high_);
  in.remove_prefix((shape.low_words + shape.high_words) * 8);
  ef.Sample();
  if (!ef.CheckOrder()) return false;
  *out = std::move(ef);
  *input = in;
  return true;
}

// There is a one for each element, all within the range, and the elements ascend to `last`.
bool EliasFano::CheckOrder() const {
  uint64_t ones = 0, previous = 0;
  for (size_t w = 0; w < high_.size(); ++w) {
    for (uint64_t rest = high_[w]; rest != 0; rest &= rest - 1) {
      if (ones == count_) return false;
      const uint64_t position = w * 64 + static_cast<uint64_t>(std::countr_zero(rest));
      const uint64_t value = (position - ones) << low_bits_ | Low(ones);
      if (value < previous || value > last_) return false;
      previous = value;
      ++ones;
    }
  }
  return ones == count_ && previous == last_;
}

void EliasFano::Sample() {
  uint64_t ones = 0, zeros = 0;
  for (uint32_t w = 0; w < high_.size(); ++w) {
    const uint64_t in_word = static_cast<uint64_t>(std::popcount(high_[w]));
    if (ones_.size() * kSample < ones + in_word) ones_.push_back({w, static_cast<uint32_t>(ones)});
    if (zeros_.size() * kSample < zeros + 64 - in_word) {
      zeros_.push_back({w, static_cast<uint32_t>(zeros)});
    }
    ones += in_word;
    zeros += 64 - in_word;
  }
  ones_.shrink_to_fit();
  zeros_.shrink_to_fit();
}

uint64_t EliasFano::Low(uint64_t i) const {
  if (low_bits_ == 0) return 0;
  const uint64_t bit = i * low_bits_;
  uint64_t v = low_[bit / 64] >> (bit % 64);
  if (bit % 64 + low_bits_ > 64) v |= low_[bit / 64 + 1] << (64 - bit % 64);
  return v & ((uint64_t{1} << low_bits_) - 1);
}

uint64_t EliasFano::SelectOne(uint64_t i) const {
  uint64_t w = ones_[i / kSample].word;
  uint64_t left = i - ones_[i / kSample].before;
  for (;; ++w) {
    const uint64_t here = static_cast<uint64_t>(std::popcount(high_[w]));
    if (left < here) return w * 64 + SelectInWord(high_[w], static_cast<uint32_t>(left));
    left -= here;
  }
}

uint64_t EliasFano::SelectZero(uint64_t i) const {
  uint64_t w = zeros_[i / kSample].word;
  uint64_t left = i - zeros_[i / kSample].before;
  for (;; ++w) {
    const uint64_t here = 64 - static_cast<uint64_t>(std::popcount(high_[w]));
    if (left < here) return w * 64 + SelectInWord(~high_[w], static_cast<uint32_t>(left));
    left -= here;
  }
}

uint64_t EliasFano::operator[](uint64_t i) const {
  return (SelectOne(i) - i) << low_bits_ | Low(i);
}

uint64_t EliasFano::CountUpTo(uint64_t value) const {
  if (count_ == 0) return 0;
  if (value >= last_) return count_;
  const uint64_t high = value >> low_bits_;
  const uint64_t low = value & ((uint64_t{1} << low_bits_) - 1);
  // The ones between the zeros high - 1 and high are the elements with that upper part.
  uint64_t position = high == 0 ? 0 : SelectZero(high - 1) + 1;
  uint64_t i = position - high;
  for (; i < count_ && (high_[position / 64] >> (position % 64) & 1) != 0; ++i, ++position) {
    if (Low(i) > low) break;
  }
  return i;
}

size_t EliasFano::MemoryBytes() const {
  return HeapBytes(low_) + HeapBytes(high_) + HeapBytes(ones_) + HeapBytes(zeros_);
}

}  // namespace compassdb
