// SPDX-License-Identifier: Apache-2.0
// A Bloom filter in lines of a cache line: the low half of a hash chooses the line, the upper half the
// bits in it.
#include <algorithm>
#include <cmath>

#include "filter/filter_format.h"

namespace compassdb {

namespace {

constexpr uint64_t kMaxBytes = 0xffffffc0;

uint32_t LineOf(uint64_t hash, uint32_t lines) {
  return static_cast<uint32_t>((uint64_t{lines} * static_cast<uint32_t>(hash)) >> 32);
}

// Calls visit(bit of the line) for each probe, until it returns false.
template <typename Visit>
bool ForEachProbe(uint64_t hash, int probes, Visit visit) {
  auto h = static_cast<uint32_t>(hash >> 32);
  for (int i = 0; i < probes; ++i, h *= 0x9e3779b9) {
    if (!visit(h >> (32 - 9))) return false;
  }
  return true;
}

// With all keys spread evenly.
double EvenFalsePositives(double bits_per_key, int probes) {
  return std::pow(1.0 - std::exp(-probes / bits_per_key), probes);
}

}  // namespace

int BloomProbes(int millibits_per_key) {
  // The bits per key up to which each number of probes is best, by RocksDB. Readers take any number.
  static constexpr int kUpTo[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                  11720, 14001, 16050, 18300, 22001, 25501};
  int probes = 1;
  for (const int limit : kUpTo) {
    if (millibits_per_key <= limit) return probes;
    ++probes;
  }
  return millibits_per_key > 50000 ? 24 : (millibits_per_key - 1) / 2000 - 1;
}

size_t BloomBytes(size_t keys, int millibits_per_key) {
  const uint64_t wanted = (uint64_t{keys} * static_cast<uint64_t>(millibits_per_key) + 7999) / 8000;
  const uint64_t lines = (std::min(wanted, kMaxBytes) + kBloomLine - 1) / kBloomLine;
  return lines * kBloomLine + kFilterTrailer;
}

std::string BuildBloom(std::span<const uint64_t> hashes, int millibits_per_key) {
  std::string bits(BloomBytes(hashes.size(), millibits_per_key), '\0');
  const size_t length = bits.size() - kFilterTrailer;
  const auto lines = static_cast<uint32_t>(length / kBloomLine);
  const int probes = BloomProbes(millibits_per_key);
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (i + kAhead < hashes.size()) {
      __builtin_prefetch(&bits[size_t{LineOf(hashes[i + kAhead], lines)} * kBloomLine], 1);
    }
    char* const line = &bits[size_t{LineOf(hashes[i], lines)} * kBloomLine];
    ForEachProbe(hashes[i], probes, [line](uint32_t bit) {
      line[bit >> 3] = static_cast<char>(line[bit >> 3] | 1 << (bit & 7));
      return true;
    });
  }
  bits[length] = static_cast<char>(kBloomMarker);
  bits[length + 2] = static_cast<char>(probes);
  return bits;
}

// The lines of a filter hold unequal numbers of keys: about half of them a deviation more, half less.
double BloomFalsePositives(double bits_per_key, int probes) {
  constexpr double kLineBits = 8 * kBloomLine;
  const double keys = kLineBits / bits_per_key;
  const double deviation = std::sqrt(keys);
  return (EvenFalsePositives(kLineBits / (keys + deviation), probes) +
          EvenFalsePositives(kLineBits / (keys - deviation), probes)) /
         2;
}

bool BloomView::Open(const rocksdb::Slice& bits, BloomView* view) {
  if (bits.size() < kFilterTrailer + kBloomLine) return false;
  const size_t length = bits.size() - kFilterTrailer;
  const auto* const trailer = reinterpret_cast<const unsigned char*>(bits.data()) + length;
  if (trailer[0] != kBloomMarker || trailer[1] != 0 || trailer[3] != 0 || trailer[4] != 0) {
    return false;
  }
  // The upper three bits would be for lines of another length.
  if (trailer[2] < 1 || trailer[2] > 30 || length % kBloomLine != 0 || length > kMaxBytes) {
    return false;
  }
  view->data_ = bits.data();
  view->lines_ = static_cast<uint32_t>(length / kBloomLine);
  view->probes_ = trailer[2];
  return true;
}

bool BloomView::MayMatch(uint64_t hash) const {
  const char* const line = data_ + size_t{LineOf(hash, lines_)} * kBloomLine;
  return ForEachProbe(hash, probes_, [line](uint32_t bit) {
    return (static_cast<unsigned char>(line[bit >> 3]) >> (bit & 7) & 1) != 0;
  });
}

}  // namespace compassdb
