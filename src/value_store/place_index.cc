// SPDX-License-Identifier: Apache-2.0
#include "value_store/place_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "util/coding.h"
#include "util/heap_bytes.h"
#include "value_store/value_format.h"

namespace compassdb {

namespace {

constexpr uint32_t kPerSample = 64;
constexpr size_t kSampleBytes = 16;

uint32_t SamplesOf(uint64_t values) { return static_cast<uint32_t>((values + kPerSample - 1) / kPerSample); }

// Reads the section once, from its first value to its last.
class Section {
 public:
  // False if it is malformed.
  bool Open(const rocksdb::Slice& section, uint64_t values) {
    if (section.size() < 8) return false;
    const uint64_t samples = (values + kPlacesPerSample - 1) / kPlacesPerSample;
    if (DecodeFixed32(section.data()) != values || DecodeFixed32(section.data() + 4) != samples ||
        samples > (section.size() - 8) / kPlaceSampleBytes) {
      return false;
    }
    samples_ = section.data() + 8;
    stream_ = next_ = samples_ + samples * kPlaceSampleBytes;
    limit_ = section.data() + section.size();
    return true;
  }
  // A sample must agree with the values before it.
  bool Next(uint64_t index, uint64_t records_bytes) {
    const bool sampled = index % kPlacesPerSample == 0;
    offset += size;
    uint64_t delta = 0;
    if (sampled) {
      const char* const sample = samples_ + index / kPlacesPerSample * kPlaceSampleBytes;
      if (DecodeFixed32(sample + 8) != offset || DecodeFixed32(sample + 12) != next_ - stream_) return false;
      const uint64_t at = DecodeFixed64(sample);
      if (index > 0 && at <= number) return false;
      number = at;
    } else {
      next_ = GetVarint64Ptr(next_, limit_, &delta);
      if (next_ == nullptr || delta == 0 || delta > UINT64_MAX - number) return false;
      number += delta;
    }
    next_ = GetVarint32Ptr(next_, limit_, &size);
    return next_ != nullptr && offset + size <= std::min<uint64_t>(records_bytes, UINT32_MAX);
  }
  bool AtEnd() const { return next_ == limit_; }

  uint64_t number = 0;
  uint64_t offset = 0;
  uint32_t size = 0;

 private:
  const char* samples_ = nullptr;
  const char* stream_ = nullptr;
  const char* next_ = nullptr;
  const char* limit_ = nullptr;
};

}  // namespace

std::unique_ptr<PlaceIndex> PlaceIndex::Make(const rocksdb::Slice& section, uint64_t values, uint64_t records_bytes) {
  Section all;
  if (!all.Open(section, values)) return nullptr;
  std::string samples, differences;
  std::vector<uint32_t> sizes;
  uint64_t before = 0;
  for (uint64_t i = 0; i < values; ++i) {
    if (!all.Next(i, records_bytes)) return nullptr;
    if (i % kPerSample == 0) {
      PutFixed64(&samples, all.number);
      PutFixed32(&samples, static_cast<uint32_t>(all.offset));
      PutFixed32(&samples, static_cast<uint32_t>(differences.size()));
    } else {
      PutVarint64(&differences, all.number - before);
    }
    before = all.number;
    sizes.push_back(all.size);
  }
  if (!all.AtEnd()) return nullptr;

  std::unique_ptr<PlaceIndex> index(new PlaceIndex);
  index->values_ = static_cast<uint32_t>(values);
  if (values == 0) return index;
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  index->least_size_ = *least;
  index->size_bits_ = static_cast<uint8_t>(std::bit_width(*most - *least));
  const size_t size_bytes = index->size_bits_ == 0 ? 0 : (values * index->size_bits_ + 7) / 8 + sizeof(uint64_t);
  const size_t bytes = samples.size() + size_bytes + differences.size();
  if (bytes > UINT32_MAX) return nullptr;
  index->differences_ = static_cast<uint32_t>(samples.size() + size_bytes);
  index->bytes_ = static_cast<uint32_t>(bytes);
  index->data_ = std::make_unique<char[]>(index->bytes_);
  memcpy(index->data_.get(), samples.data(), samples.size());
  memcpy(index->data_.get() + index->differences_, differences.data(), differences.size());
  if (index->size_bits_ == 0) return index;
  char* const packed = index->data_.get() + samples.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t bit = i * index->size_bits_;
    const uint64_t word = DecodeFixed64(packed + bit / 8) | uint64_t{sizes[i] - *least} << bit % 8;
    EncodeFixed64(packed + bit / 8, word);
  }
  return index;
}

const char* PlaceIndex::sample(uint32_t i) const { return data_.get() + size_t{i} * kSampleBytes; }

uint32_t PlaceIndex::Above(uint32_t value) const {
  const size_t bit = size_t{value} * size_bits_;
  const uint64_t word = DecodeFixed64(sample(SamplesOf(values_)) + bit / 8);
  return static_cast<uint32_t>((word >> bit % 8) & ((uint64_t{1} << size_bits_) - 1));
}

bool PlaceIndex::Find(uint64_t number, ValuePlace* place) const {
  // The last sample at or before the number.
  uint32_t low = 0, high = SamplesOf(values_);
  if (high == 0) return false;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (DecodeFixed64(sample(middle)) <= number ? low : high) = middle;
  }
  const char* next = data_.get() + differences_ + DecodeFixed32(sample(low) + 12);
  const char* const limit = data_.get() + bytes_;
  const uint32_t first = low * kPerSample, end = std::min(values_, first + kPerSample);
  uint32_t i = first;
  for (uint64_t at = DecodeFixed64(sample(low)); at != number;) {
    if (at > number || ++i == end) return false;
    uint64_t difference = static_cast<uint8_t>(*next);
    if (difference < 0x80) {
      ++next;
    } else if (const uint64_t above = static_cast<uint8_t>(next[1]); above < 0x80) {
      difference = (difference & 0x7f) | above << 7;
      next += 2;
    } else {
      next = GetVarint64Ptr(next, limit, &difference);
    }
    at += difference;
  }
  // Lookups often miss a run, so sizes are added up only now.
  uint64_t offset = DecodeFixed32(sample(low) + 8) + uint64_t{i - first} * least_size_;
  if (size_bits_ > 0) {
    for (uint32_t j = first; j < i; ++j) offset += Above(j);
  }
  *place = {static_cast<uint32_t>(offset), least_size_ + (size_bits_ > 0 ? Above(i) : 0)};
  return true;
}

size_t PlaceIndex::MemoryBytes() const { return HeapBytes(sizeof(*this)) + HeapBytes(bytes_); }

}  // namespace compassdb
