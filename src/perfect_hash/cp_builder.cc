// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/cp_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "perfect_hash/attempts.h"
#include "perfect_hash/byte_io.h"
#include "perfect_hash/cp_format.h"
#include "perfect_hash/cp_segment.h"
#include "perfect_hash/hash_mapping.h"
#include "perfect_hash/partition.h"
#include "perfect_hash/pilot_builder.h"

namespace compassdb::perfect_hash {
namespace {

using Result = CpSegmentBuilder::Result;

constexpr uint64_t kSortFirst = 2048;  // sets of up to this many are cheap to sort

// Packs fields, lowest bit first; the last byte is filled up with zeros.
class BitAppender {
 public:
  explicit BitAppender(std::string* out) : out_(out) {}
  ~BitAppender() {
    if (used_ > 0) out_->push_back(static_cast<char>(word_));
  }
  void Append(uint64_t value, uint32_t width) {
    word_ |= value << used_;
    for (used_ += width; used_ >= 8; used_ -= 8, word_ >>= 8) {
      out_->push_back(static_cast<char>(word_ & 0xff));
    }
  }

 private:
  std::string* out_;
  uint64_t word_ = 0;
  uint32_t used_ = 0;
};

// One attempt under one seed.
class CpBuilder {
 public:
  CpBuilder(const CpTuning& tuning, const ParallelFor& parallel, uint64_t seed, bool mixed)
      : tuning_(tuning), parallel_(parallel), seed_(seed), mixed_(mixed) {}

  Outcome Run(std::span<const uint64_t> hashes, bool sorted);
  void Serialize(std::string* out) const;

 private:
  uint64_t SegmentsFor(uint64_t keys) const;
  Outcome BuildSegments(std::span<const uint64_t> grouped, const std::vector<uint64_t>& begins);
  void AppendEntries(bool dictionaries, std::string* out) const;
  void AppendDictionaries(std::string* out) const;
  void AppendCodes(bool dictionaries, uint32_t width, std::string* out) const;

  const CpTuning& tuning_;
  const ParallelFor& parallel_;
  const uint64_t seed_;
  const bool mixed_;
  uint64_t keys_ = 0;
  SegmentMap map_;
  uint32_t buckets_ = 0;
  std::vector<CpSegment> segments_;
};

uint64_t CpBuilder::SegmentsFor(uint64_t keys) const {
  const uint64_t most = std::max<uint64_t>(1, keys / tuning_.min_segment_keys);
  const uint64_t least = (keys + tuning_.max_segment_keys - 1) / tuning_.max_segment_keys;
  return std::max(least, std::min<uint64_t>(most, tuning_.segments));
}

Outcome CpBuilder::Run(std::span<const uint64_t> hashes, bool sorted) {
  keys_ = hashes.size();
  if (keys_ == 0) return Outcome::kDone;
  const auto [min, max] = sorted ? std::pair(hashes.begin(), std::prev(hashes.end()))
                                 : std::minmax_element(hashes.begin(), hashes.end());
  if (*min == *max && keys_ > 1) return Outcome::kRepeats;
  map_ = SegmentMap::Fit(*min, *max, SegmentsFor(keys_));
  const uint64_t count = map_.last + 1;
  buckets_ = static_cast<uint32_t>(std::ceil(
      static_cast<double>(keys_) / static_cast<double>(count) / tuning_.keys_per_bucket));

  std::unique_ptr<uint64_t[]> copy;
  std::vector<uint64_t> begins = {0, keys_};
  std::span<const uint64_t> grouped = hashes;
  if (count > 1 && sorted) {
    begins = FindSegments(hashes, map_);
  } else if (count > 1) {
    copy = std::make_unique_for_overwrite<uint64_t[]>(keys_);
    begins = GroupBySegment(hashes, map_, copy.get());
    grouped = {copy.get(), keys_};
  }
  // All segments have the same number of buckets, so they must be about equally full.
  const uint64_t mean = keys_ / count;
  for (size_t s = 0; s < count; ++s) {
    const uint64_t size = begins[s + 1] - begins[s];
    if (size < mean / 2 || size > mean + mean / 2 + 1) return Outcome::kSkewed;
  }
  return BuildSegments(grouped, begins);
}

Outcome CpBuilder::BuildSegments(std::span<const uint64_t> grouped,
                                 const std::vector<uint64_t>& begins) {
  const size_t count = begins.size() - 1;
  segments_.resize(count);
  std::vector<Result> results(count, Result::kDone);
  const auto build = [&](CpSegmentBuilder* builder, size_t s) {
    const uint64_t n = begins[s + 1] - begins[s];
    const double slots = std::ceil(static_cast<double>(n) * tuning_.scale);
    results[s] = builder->Build(grouped.subspan(begins[s], n), LevelSeed(seed_, 0), buckets_,
                                std::max(2u, static_cast<uint32_t>(slots)), &segments_[s]);
  };
  if (!parallel_ || count == 1) {
    CpSegmentBuilder builder;
    for (size_t s = 0; s < count; ++s) {
      build(&builder, s);
      if (results[s] != Result::kDone) break;
    }
  } else {
    parallel_(count, [&](size_t s) {
      CpSegmentBuilder builder;
      build(&builder, s);
    });
  }
  // If several segments fail, the first one's result counts, in any order of their ends.
  for (const Result result : results) {
    if (result == Result::kRepeats) return Outcome::kRepeats;
    if (result == Result::kHopeless) return Outcome::kSkewed;
  }
  return Outcome::kDone;
}

void CpBuilder::AppendEntries(bool dictionaries, std::string* out) const {
  CpEntry entry;
  for (const CpSegment& segment : segments_) {
    entry.slots = segment.slots;
    entry.seed = segment.seed;
    uint8_t bytes[kCpEntryBytes];
    StoreCpEntry(bytes, entry);
    out->append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
    entry.first_slot += segment.slots;
    if (dictionaries) entry.first_pair += static_cast<uint32_t>(segment.pairs.size());
  }
}

void CpBuilder::AppendDictionaries(std::string* out) const {
  BitAppender pairs(out);
  for (const CpSegment& segment : segments_) {
    for (const uint16_t pair : segment.pairs) pairs.Append(pair, kCpPairBits);
  }
}

void CpBuilder::AppendCodes(bool dictionaries, uint32_t width, std::string* out) const {
  {
    BitAppender codes(out);
    for (const CpSegment& segment : segments_) {
      for (const uint16_t index : segment.codes) {
        codes.Append(dictionaries ? index : segment.pairs[index], width);
      }
    }
  }
  out->append(kCpPaddingBytes, '\0');
}

void CpBuilder::Serialize(std::string* out) const {
  out->clear();
  out->push_back(static_cast<char>(kCpKind));
  out->push_back(static_cast<char>(mixed_ ? kCpFlagMixed : 0));
  uint64_t slots = 0;
  uint64_t pairs = 0;
  uint32_t index_width = 0;
  uint32_t pair_width = 0;
  for (const CpSegment& segment : segments_) {
    slots += segment.slots;
    pairs += segment.pairs.size();
    index_width = std::max<uint32_t>(
        index_width, segment.pairs.empty() ? 0 : std::bit_width(segment.pairs.size() - 1));
    for (const uint16_t pair : segment.pairs) {
      pair_width = std::max<uint32_t>(pair_width, std::bit_width(pair));
    }
  }
  AppendVarint(keys_, out);
  AppendVarint(slots, out);
  if (keys_ == 0) return;
  const uint64_t codes = segments_.size() * buckets_;
  const bool dictionaries = codes * index_width + pairs * kCpPairBits < codes * pair_width;
  const uint32_t width = dictionaries ? index_width : pair_width;
  AppendWord(seed_, out);
  AppendVarint(segments_.size(), out);
  AppendVarint(buckets_, out);
  out->push_back(static_cast<char>(width));
  AppendVarint(dictionaries ? pairs : 0, out);
  if (segments_.size() > 1) {
    AppendWord(map_.base, out);
    AppendWord(map_.scale, out);
    out->push_back(static_cast<char>(map_.shift));
  }
  AppendEntries(dictionaries, out);
  if (dictionaries) AppendDictionaries(out);
  AppendCodes(dictionaries, width, out);
}

}  // namespace

uint64_t BuildCpFunction(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                         const CpTuning& tuning, const ParallelFor& parallel,
                         std::string* serialized) {
  std::vector<uint64_t> distinct;
  if (hashes.size() <= kSortFirst) {
    distinct = SortDistinct(hashes);
    hashes = distinct;
    sorted = true;
  }
  bool defeated = false;
  const uint64_t keys = BuildByAttempts(hashes, seed, sorted, [&](const Attempt& attempt) {
    CpBuilder builder(tuning, parallel, attempt.seed, attempt.mixed);
    const Outcome outcome = builder.Run(attempt.hashes, attempt.sorted);
    if (outcome == Outcome::kDone) builder.Serialize(serialized);
    defeated = attempt.last && outcome != Outcome::kDone;
    return defeated ? Outcome::kDone : outcome;
  });
  if (defeated) BuildPilotFunction(hashes, seed, sorted, PilotTuning(), parallel, serialized);
  return keys;
}

}  // namespace compassdb::perfect_hash
