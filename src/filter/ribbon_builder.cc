// SPDX-License-Identifier: Apache-2.0
// Ribbon filters (Dillinger and Walzer): each key is a linear equation over the slots' result bits,
// with coefficients in a window of 128 slots. Gaussian elimination on the fly keeps one equation per
// slot; if it fails, another seed is tried.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <vector>

#include "filter/filter_format.h"
#include "util/coding.h"

namespace compassdb {

namespace {

constexpr uint32_t kMaxKeys = 950'000'000;
constexpr uint32_t kSmallSlots = 1024;  // below, Bloom filters may be smaller

// How many keys 2^i slots take if one seed in 20 fails, by RocksDB's measurements. They decide the size,
// which must be the same in both libraries.
constexpr double kKeysByPowerOfSlots[] = {0,       0,       0,       0,       0,       0,
                                          0,       0,       248.851, 499.532, 1001.26, 2003.97,
                                          4005.59, 8000.39, 15966.6, 31828.1, 63447.3, 126506};
constexpr uint32_t kMeasured = std::size(kKeysByPowerOfSlots);
constexpr double kOverheadPerPower = 0.0038;

double KeysOfPower(uint32_t power) {
  if (power < kMeasured) return kKeysByPowerOfSlots[power];
  const double last = 1.0 * (1u << (kMeasured - 1)) / kKeysByPowerOfSlots[kMeasured - 1];
  const double base = last - (kMeasured - 1) * kOverheadPerPower;
  return 1.0 * static_cast<double>(uint64_t{1} << power) / (base + 1.0 * power * kOverheadPerPower);
}

uint32_t SlotsFor(uint32_t keys) {
  const double log2 = std::log(keys) * 1.4426950409;
  auto power = static_cast<uint32_t>(log2 + 0.5);
  double lower = KeysOfPower(power);
  if (lower == 0) return 2 * kRibbonWidth;
  double upper;
  if (keys < lower) {
    upper = lower;
    lower = KeysOfPower(--power);
  } else {
    upper = KeysOfPower(power + 1);
  }
  const double slots = static_cast<double>(uint64_t{1} << power);
  const double part = (keys - lower) / (upper - lower);
  const auto exact = static_cast<uint32_t>(part * slots + slots + 0.999999999);
  const uint32_t blocks = (exact + kRibbonWidth - 1) / kRibbonWidth;
  return std::max(blocks, 2u) * kRibbonWidth;
}

// The bytes that are nearest to one false positive in `one_in`. Some blocks have the columns for the next
// lower power of two, the rest one more.
size_t SegmentBytes(uint32_t slots, double one_in, uint32_t rounding) {
  const double rate = 1.0 / one_in;
  if (!(one_in > 1.0) || !(rate < 1.0)) return kRibbonSegment;
  if (one_in > UINT32_MAX) return slots * sizeof(uint32_t);
  const int columns = std::bit_width(static_cast<uint32_t>(one_in)) - 1;
  const double with = std::pow(2.0, -columns);
  const double with_one_more = std::pow(2.0, -(columns + 1));
  const double portion = (rate - with_one_more) / (with - with_one_more);
  const double bias = (rounding + 0.5) / 4294967296.0;
  const uint32_t starts = slots - kRibbonWidth + 1;
  const auto upper_start = static_cast<uint32_t>((portion * starts + bias) / kRibbonWidth);
  const uint32_t blocks = slots / kRibbonWidth;
  const size_t segments = size_t{blocks} * static_cast<uint32_t>(columns) + (blocks - upper_start);
  return segments * kRibbonSegment;
}

int TrailingZeros(RibbonRow row) {
  const auto low = static_cast<uint64_t>(row);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<uint64_t>(row >> 64));
}

// The equations: for each slot at most one, whose first coefficient is the slot's.
struct Band {
  explicit Band(uint32_t slots) : rows(slots), results(slots) {}

  bool Add(std::span<const uint64_t> hashes, uint8_t seed) {
    std::fill(rows.begin(), rows.end(), 0);
    const RibbonHasher hasher(seed);
    const auto starts = static_cast<uint32_t>(rows.size() - kRibbonWidth + 1);
    constexpr size_t kAhead = 4;
    for (size_t i = 0; i < hashes.size(); ++i) {
      if (i + kAhead < hashes.size()) {
        const uint32_t soon = RibbonHasher::Start(hasher.Rehash(hashes[i + kAhead]), starts);
        __builtin_prefetch(&rows[soon], 1);
        __builtin_prefetch(&results[soon], 1);
      }
      const uint64_t h = hasher.Rehash(hashes[i]);
      if (!AddEquation(RibbonHasher::Start(h, starts), RibbonHasher::Coefficients(h),
                       RibbonHasher::Result(h))) {
        return false;
      }
    }
    return true;
  }

  bool AddEquation(uint32_t slot, RibbonRow row, uint32_t result) {
    while (rows[slot] != 0) {
      row ^= rows[slot];
      result ^= results[slot];
      // The same equation again, or one that contradicts earlier ones.
      if (row == 0) return result == 0;
      const int zeros = TrailingZeros(row);
      slot += static_cast<uint32_t>(zeros);
      row >>= zeros;
    }
    rows[slot] = row;
    results[slot] = result;
    return true;
  }

  // From the last slot to the first. Of each column, `state` has the bits of the 128 slots from here on.
  void Solve(const RibbonShape& shape, std::string* out) const {
    RibbonRow state[kMaxRibbonColumns] = {};
    for (uint32_t block = shape.blocks; block-- > 0;) {
      const uint32_t columns = shape.ColumnsOf(block);
      for (uint32_t slot = (block + 1) * kRibbonWidth; slot-- > block * kRibbonWidth;) {
        const RibbonRow row = rows[slot];
        const uint32_t result = row == 0 ? 0 : results[slot];
        for (uint32_t j = 0; j < columns; ++j) {
          const RibbonRow moved = state[j] << 1;
          const RibbonRow product = moved & row;
          const auto folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
          state[j] = moved | ((static_cast<uint32_t>(std::popcount(folded)) ^ result >> j) & 1);
        }
      }
      char* p = out->data() + shape.SegmentOf(block) * kRibbonSegment;
      for (uint32_t j = 0; j < columns; ++j, p += kRibbonSegment) {
        EncodeFixed64(p, static_cast<uint64_t>(state[j]));
        EncodeFixed64(p + 8, static_cast<uint64_t>(state[j] >> 64));
      }
    }
  }

  std::vector<RibbonRow> rows;  // 0: none
  std::vector<uint32_t> results;
};

}  // namespace

std::string BuildRibbon(std::span<const uint64_t> hashes, int bloom_millibits_per_key) {
  if (hashes.empty() || hashes.size() > kMaxKeys) return "";
  const double one_in = 1.0 / BloomFalsePositives(bloom_millibits_per_key / 1000.0,
                                                  BloomProbes(bloom_millibits_per_key));
  const uint32_t slots = SlotsFor(static_cast<uint32_t>(hashes.size()));
  const size_t length = SegmentBytes(slots, one_in, static_cast<uint32_t>(hashes[0] >> 32));
  if (slots < kSmallSlots &&
      BloomBytes(hashes.size(), bloom_millibits_per_key) < length + kFilterTrailer) {
    return "";
  }
  Band band(slots);
  const auto first_seed = static_cast<uint8_t>(hashes[0]);
  uint8_t seed = first_seed;
  while (!band.Add(hashes, seed)) {
    if (++seed == first_seed) return "";
  }
  std::string bits(length + kFilterTrailer, '\0');
  const RibbonShape shape = RibbonShape::Of(slots / kRibbonWidth, length / kRibbonSegment);
  band.Solve(shape, &bits);
  bits[length] = static_cast<char>(kRibbonMarker);
  bits[length + 1] = static_cast<char>(seed);
  for (int i = 0; i < 3; ++i) bits[length + 2 + static_cast<size_t>(i)] = static_cast<char>(shape.blocks >> 8 * i);
  return bits;
}

}  // namespace compassdb
