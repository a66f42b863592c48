// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/pilot_builder.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "perfect_hash/attempts.h"
#include "perfect_hash/byte_io.h"
#include "perfect_hash/partition.h"
#include "perfect_hash/pilot_format.h"
#include "perfect_hash/segment_builder.h"

namespace compassdb::perfect_hash {
namespace {

constexpr size_t kListInstead = 2;  // up to this number a list of the rest is smaller than a level
constexpr uint64_t kSmallSet = 256;   // cheap enough to try many seeds for a full table
constexpr uint64_t kMediumSet = 2048;  // cheap enough for a second attempt if the first is unlucky
constexpr uint32_t kSmallAttempts = 8;
constexpr size_t kSegmentsPerTask = 16;

bool HasRepeats(std::span<const uint64_t> sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// One attempt at all levels under one seed.
class PilotBuilder {
 public:
  PilotBuilder(const PilotTuning& tuning, const ParallelFor& parallel, uint64_t seed, bool mixed,
               bool last_resort)
      : tuning_(tuning), parallel_(parallel), seed_(seed), mixed_(mixed),
        last_resort_(last_resort) {}

  // hashes: already mixed if `mixed`; distinct unless in doubt (then kRepeats may come back).
  Outcome Run(std::span<const uint64_t> hashes, bool sorted);

  void Serialize(uint64_t keys, std::string* out) const;

  uint64_t slots() const { return slots_; }

 private:
  Outcome AddLevel(std::span<const uint64_t> hashes, bool sorted, std::vector<uint64_t>* bumped);
  bool Spread(const std::vector<uint64_t>& begins, size_t n) const;
  void AddSegments(std::span<const uint64_t> grouped, const std::vector<uint64_t>& begins,
                   uint32_t buckets, double load, std::vector<uint64_t>* bumped);

  const PilotTuning& tuning_;
  const ParallelFor parallel_;
  const uint64_t seed_;
  const bool mixed_;
  const bool last_resort_;
  uint32_t levels_ = 0;
  uint64_t slots_ = 0;
  std::string body_;            // the levels, serialised
  std::vector<uint64_t> list_;  // ascending
};

Outcome PilotBuilder::Run(std::span<const uint64_t> hashes, bool sorted) {
  if (hashes.size() <= 1) {
    slots_ = hashes.size();
    return Outcome::kDone;
  }
  std::vector<uint64_t> left;
  Outcome outcome = AddLevel(hashes, sorted, &left);
  while (outcome == Outcome::kDone && left.size() > kListInstead && levels_ < kMaxLevels) {
    std::vector<uint64_t> bumped;
    outcome = AddLevel(left, true, &bumped);
    if (outcome == Outcome::kDone) left.swap(bumped);
  }
  if (outcome == Outcome::kSkewed && last_resort_) {
    if (levels_ == 0) {
      left.assign(hashes.begin(), hashes.end());
      std::sort(left.begin(), left.end());
      if (HasRepeats(left)) return Outcome::kRepeats;
    }
    outcome = Outcome::kDone;
  }
  if (outcome != Outcome::kDone) return outcome;
  slots_ += left.size();
  list_ = std::move(left);
  return Outcome::kDone;
}

// The segments must be about equally full: their entries hold 16-bit sizes, and all have the same
// number of buckets.
bool PilotBuilder::Spread(const std::vector<uint64_t>& begins, size_t n) const {
  const size_t segments = begins.size() - 1;
  if (segments == 1) return true;
  const uint64_t mean = n / segments;
  for (size_t s = 0; s < segments; ++s) {
    const uint64_t size = begins[s + 1] - begins[s];
    if (size < mean / 2 || size > mean + mean / 2) return false;
  }
  return true;
}

Outcome PilotBuilder::AddLevel(std::span<const uint64_t> hashes, bool sorted,
                               std::vector<uint64_t>* bumped) {
  const size_t n = hashes.size();
  const double load = n <= kSmallSet ? 1.0 : tuning_.load;
  const double segment_keys = std::clamp(tuning_.segment_keys, 1024.0, 32768.0);  // 16-bit sizes
  const uint64_t segments = static_cast<uint64_t>(static_cast<double>(n) / segment_keys + 0.5);

  uint64_t min = hashes.front();
  uint64_t max = hashes.back();
  if (!sorted) {
    for (const uint64_t hash : hashes) {
      min = std::min(min, hash);
      max = std::max(max, hash);
    }
  }
  if (min == max) return Outcome::kRepeats;  // n >= 2
  const SegmentMap map = SegmentMap::Fit(min, max, segments);
  const uint64_t count = map.last + 1;
  const uint32_t buckets = static_cast<uint32_t>(
      std::ceil(static_cast<double>(n) / static_cast<double>(count) /
                tuning_.keys_per_bucket));

  std::unique_ptr<uint64_t[]> copy;
  std::vector<uint64_t> begins;
  std::span<const uint64_t> grouped = hashes;
  if (sorted) {
    begins = FindSegments(hashes, map);
  } else if (count > 1) {
    copy = std::make_unique_for_overwrite<uint64_t[]>(n);
    begins = GroupBySegment(hashes, map, copy.get());
    grouped = {copy.get(), n};
  } else {
    begins = {0, n};
  }
  if (!Spread(begins, n)) return Outcome::kSkewed;

  AppendVarint(count, &body_);
  AppendVarint(buckets, &body_);
  if (count > 1) {
    AppendWord(map.base, &body_);
    AppendWord(map.scale, &body_);
    body_.push_back(static_cast<char>(map.shift));
  }
  AddSegments(grouped, begins, buckets, load, bumped);
  ++levels_;
  if (!sorted) {
    std::sort(bumped->begin(), bumped->end());
    // Copies of one hash share a bucket and never separate: they are all here.
    if (HasRepeats(*bumped)) return Outcome::kRepeats;
  }
  const bool poor = bumped->size() > n / 7 + 32;
  return poor && !last_resort_ ? Outcome::kSkewed : Outcome::kDone;
}

void PilotBuilder::AddSegments(std::span<const uint64_t> grouped,
                               const std::vector<uint64_t>& begins, uint32_t buckets, double load,
                               std::vector<uint64_t>* bumped) {
  const size_t segments = begins.size() - 1;
  const size_t entries = body_.size();
  const size_t pilots = entries + segments * 8;
  body_.resize(pilots + segments * buckets);
  uint8_t* bytes = reinterpret_cast<uint8_t*>(body_.data());

  // Slot ranges follow from the sizes alone, so that the segments are independent of each other.
  for (size_t s = 0; s < segments; ++s) {
    const double wanted = std::ceil(static_cast<double>(begins[s + 1] - begins[s]) / load);
    const uint32_t slots = static_cast<uint32_t>(std::clamp(wanted, 1.0, double{kMaxSegmentSlots}));
    StoreWord(bytes + entries + s * 8, PackEntry(slots_, slots, 0));
    slots_ += slots;
  }
  const auto build = [&](size_t first, size_t last, std::vector<uint64_t>* out) {
    SegmentBuilder builder;
    out->reserve((begins[last] - begins[first]) / 16 + 64);
    for (size_t s = first; s < last; ++s) {
      uint8_t* entry = bytes + entries + s * 8;
      const uint64_t n = begins[s + 1] - begins[s];
      const bool small = segments == 1 && n <= kSmallSet;
      SegmentSpec spec;
      spec.level_seed = LevelSeed(seed_, levels_);
      spec.buckets = buckets;
      spec.slots = EntrySlots(LoadWord(entry));
      spec.beta_bits = BetaBitsFor(spec.slots);
      spec.max_bumped = small ? 0 : static_cast<uint32_t>(n / 10 + 16);
      spec.tries = small ? static_cast<uint32_t>(std::clamp<uint64_t>(2048 / n, 16, 64)) : 4;
      const uint8_t seed = builder.Build(grouped.subspan(begins[s], n), spec,
                                         bytes + pilots + s * buckets, out);
      StoreWord(entry, PackEntry(EntryFirstSlot(LoadWord(entry)), spec.slots, seed));
    }
  };
  const size_t tasks = (segments + kSegmentsPerTask - 1) / kSegmentsPerTask;
  if (!parallel_ || tasks == 1) {
    build(0, segments, bumped);
    return;
  }
  std::vector<std::vector<uint64_t>> parts(tasks);
  parallel_(tasks, [&](size_t task) {
    const size_t first = task * kSegmentsPerTask;
    build(first, std::min(first + kSegmentsPerTask, segments), &parts[task]);
  });
  for (const auto& part : parts) bumped->insert(bumped->end(), part.begin(), part.end());
}

void PilotBuilder::Serialize(uint64_t keys, std::string* out) const {
  const uint8_t flags = (mixed_ ? kFlagMixed : 0) | (list_.empty() ? 0 : kFlagList);
  out->clear();
  out->reserve(body_.size() + list_.size() * 8 + 40);
  out->push_back(static_cast<char>(kPilotKind));
  out->push_back(static_cast<char>(flags));
  out->push_back(static_cast<char>(levels_));
  AppendVarint(keys, out);
  AppendVarint(slots_, out);
  if (levels_ > 0 || flags != 0) AppendWord(seed_, out);
  out->append(body_);
  if (!list_.empty()) {
    AppendVarint(list_.size(), out);
    for (const uint64_t hash : list_) AppendWord(hash, out);
  }
}

// A set so small that seeds decide how well it packs: the best of a few attempts.
void BuildSmall(std::span<const uint64_t> hashes, uint64_t seed, const PilotTuning& tuning,
                std::string* serialized) {
  const uint64_t enough = hashes.size() <= kSmallSet ? 64 : 32;
  uint64_t best = ~uint64_t{0};
  for (uint32_t attempt = 0; attempt < kSmallAttempts; ++attempt, seed = NextSeed(seed)) {
    PilotBuilder builder(tuning, {}, seed, false, true);
    builder.Run(hashes, true);
    if (builder.slots() >= best) continue;
    best = builder.slots();
    builder.Serialize(hashes.size(), serialized);
    if (best <= hashes.size() + hashes.size() / enough) break;
  }
}

}  // namespace

uint64_t BuildPilotFunction(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                            const PilotTuning& tuning, const ParallelFor& parallel,
                            std::string* serialized) {
  std::vector<uint64_t> distinct;
  if (hashes.size() <= kMediumSet) {
    distinct = SortDistinct(hashes);
    hashes = distinct;
    sorted = true;
  }
  return BuildByAttempts(hashes, seed, sorted, [&](const Attempt& attempt) {
    if (attempt.sorted && attempt.hashes.size() <= kMediumSet) {
      BuildSmall(attempt.hashes, attempt.seed, tuning, serialized);
      return Outcome::kDone;
    }
    PilotBuilder builder(tuning, parallel, attempt.seed, attempt.mixed, attempt.last);
    const Outcome outcome = builder.Run(attempt.hashes, attempt.sorted);
    if (outcome == Outcome::kDone) builder.Serialize(attempt.hashes.size(), serialized);
    return outcome;
  });
}

}  // namespace compassdb::perfect_hash
