// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/partition.h"

#include <algorithm>

namespace compassdb::perfect_hash {
namespace {

// Scattering to more places than this at once misses the TLB at every step.
constexpr uint64_t kMaxFanOut = 1024;

// One scatter pass; key_of(hash) < groups. *begins gets groups + 1 offsets.
template <typename KeyOf>
void Scatter(std::span<const uint64_t> hashes, uint64_t groups, KeyOf key_of, uint64_t* out,
             uint64_t* begins) {
  std::vector<uint64_t> cursor(groups, 0);
  for (const uint64_t hash : hashes) ++cursor[key_of(hash)];
  uint64_t sum = 0;
  for (uint64_t g = 0; g < groups; ++g) {
    const uint64_t count = cursor[g];
    begins[g] = cursor[g] = sum;
    sum += count;
  }
  begins[groups] = sum;
  for (const uint64_t hash : hashes) out[cursor[key_of(hash)]++] = hash;
}

}  // namespace

std::vector<uint64_t> FindSegments(std::span<const uint64_t> hashes, const SegmentMap& map) {
  const uint64_t segments = map.last + 1;
  std::vector<uint64_t> begins(segments + 1, hashes.size());
  begins[0] = 0;
  const uint64_t guess = hashes.size() / segments + 1;
  for (uint64_t s = 1; s < segments; ++s) {
    // The first hash of segment s or a later one: gallop from a guess, then bisect.
    uint64_t low = begins[s - 1];
    uint64_t high = std::min<uint64_t>(low + guess + guess / 16 + 64, hashes.size());
    while (high < hashes.size() && map(hashes[high]) < s) {
      low = high;
      high = std::min<uint64_t>(high + guess + 64, hashes.size());
    }
    const auto first = std::partition_point(hashes.begin() + low, hashes.begin() + high,
                                            [&](uint64_t hash) { return map(hash) < s; });
    begins[s] = static_cast<uint64_t>(first - hashes.begin());
  }
  return begins;
}

std::vector<uint64_t> GroupBySegment(std::span<const uint64_t> hashes, const SegmentMap& map,
                                     uint64_t* grouped) {
  const uint64_t segments = map.last + 1;
  std::vector<uint64_t> begins(segments + 1);
  if (segments <= kMaxFanOut) {
    Scatter(hashes, segments, map, grouped, begins.data());
    return begins;
  }
  // Coarse groups of `width` segments first, then each group by segment while it is warm.
  const uint64_t width = (segments + kMaxFanOut - 1) / kMaxFanOut;
  const uint64_t coarse = (segments + width - 1) / width;
  std::vector<uint64_t> coarse_begins(coarse + 1);
  std::vector<uint64_t> buffer(hashes.size());
  Scatter(hashes, coarse, [&](uint64_t hash) { return map(hash) / width; }, buffer.data(),
          coarse_begins.data());
  for (uint64_t g = 0; g < coarse; ++g) {
    const uint64_t first = g * width;
    const uint64_t count = std::min(width, segments - first);
    const std::span<const uint64_t> part(buffer.data() + coarse_begins[g],
                                         coarse_begins[g + 1] - coarse_begins[g]);
    Scatter(part, count, [&](uint64_t hash) { return map(hash) - first; },
            grouped + coarse_begins[g], begins.data() + first);
    for (uint64_t s = first; s < first + count; ++s) begins[s] += coarse_begins[g];
  }
  begins[segments] = hashes.size();
  return begins;
}

std::vector<uint64_t> SortDistinct(std::span<const uint64_t> hashes) {
  std::vector<uint64_t> out(hashes.size());
  if (hashes.empty()) return out;
  const auto [min, max] = std::minmax_element(hashes.begin(), hashes.end());
  const SegmentMap map = SegmentMap::Fit(*min, *max, hashes.size() / 16);
  const std::vector<uint64_t> begins = GroupBySegment(hashes, map, out.data());
  for (size_t s = 0; s + 1 < begins.size(); ++s) {
    std::sort(out.begin() + static_cast<ptrdiff_t>(begins[s]),
              out.begin() + static_cast<ptrdiff_t>(begins[s + 1]));
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace compassdb::perfect_hash
