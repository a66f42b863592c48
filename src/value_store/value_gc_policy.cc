// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_gc_policy.h"

#include <algorithm>

namespace compassdb {

namespace {

// A group with less garbage than this share is not worth its copy.
constexpr double kLeastDeadShare = 0.02;
// Without collections RocksDB deletes a file without live values. Groups are by hash, so one live value would keep all
// garbage of its group. So a group is copied if the copy is at most this part of the freed bytes.
constexpr uint64_t kRemains = 16;
// Less is not worth a flush.
constexpr uint64_t kLeastFlush = 64 << 10;

double DeadShare(const ValueVersion::Group& g) {
  return g.bytes == 0 ? 0 : static_cast<double>(g.dead_bytes) / static_cast<double>(g.bytes);
}

// Garbage per byte to be copied, times the time since the last collection.
double BenefitOverCost(const ValueVersion::Group& g, uint64_t now) {
  const double live = static_cast<double>(g.bytes - g.dead_bytes) + 1;
  const double age = static_cast<double>(now > g.newest ? now - g.newest : 0) + 1;
  return static_cast<double>(g.dead_bytes) / live * age;
}

}  // namespace

ValueLoad::ValueLoad(const std::vector<ValueVersion::Group>& groups) {
  for (const ValueVersion::Group& g : groups) {
    bytes += g.bytes;
    dead_bytes += g.dead_bytes;
    pinned_bytes += g.pinned_bytes;
    copy_bytes = std::max(copy_bytes, g.bytes - g.dead_bytes);
  }
}

uint64_t ValueLoad::Reserve(const ValueOptions& options) const {
  const uint64_t live = bytes - dead_bytes - pinned_bytes;
  return live / 100 * options.reserve_percent + ToleratedGarbage(options);
}

uint64_t ValueLoad::Bound(const ValueOptions& options) const {
  return bytes - dead_bytes + Reserve(options);
}

uint64_t ValueLoad::TailBytes(const ValueOptions& options) const {
  return std::min(std::max(options.group_bytes, options.flush_bytes), Reserve(options) / 4);
}

uint64_t ValueLoad::CopyRoom(const ValueOptions& options, size_t collections) const {
  const uint64_t most = options.policy == ValueGcPolicy::kOldestFirst ? TailBytes(options) : UINT64_MAX;
  return std::min(std::min(copy_bytes, most) * collections, Reserve(options) / 2);
}

uint64_t ValueLoad::FlushRoom(const ValueOptions& options) const {
  return std::max(kLeastFlush, (Reserve(options) - CopyRoom(options, 2)) / 2);
}

uint64_t ToleratedGarbage(const ValueOptions& options) {
  return std::min<uint64_t>(256 << 10, options.group_bytes * 4);
}

namespace {

bool Busy(const ValueGcInput& input, const ValueGroup& group) {
  return std::any_of(input.busy.begin(), input.busy.end(),
                     [&](const ValueGroup& b) { return b.Overlaps(group); });
}

// The first of those that have the most of something, and more than `least`, and are not busy.
std::optional<ValueGroup> WithMost(const ValueGcInput& input, uint64_t ValueVersion::Group::*what, uint64_t least) {
  std::optional<ValueGroup> most;
  for (const ValueVersion::Group& g : input.groups) {
    if (g.*what <= least || Busy(input, g.group)) continue;
    least = g.*what;
    most = g.group;
  }
  return most;
}

}  // namespace

std::optional<ValueGroup> PickGroupToMerge(const ValueGcInput& input) {
  return WithMost(input, &ValueVersion::Group::small_runs, kMaxSmallRuns);
}

std::optional<ValueGroup> PickGroupToCount(const ValueGcInput& input) {
  return WithMost(input, &ValueVersion::Group::events, 0);
}

std::optional<ValueGroup> PickValueGroup(const ValueGcInput& input, const ValueOptions& options,
                                         Random* random) {
  const ValueLoad load(input.groups);
  const auto gains = [&](const ValueVersion::Group& g) {
    if (g.dead_bytes == 0 || Busy(input, g.group)) return false;
    return options.collect ? DeadShare(g) >= kLeastDeadShare : g.bytes - g.dead_bytes <= g.dead_bytes / kRemains;
  };
  std::vector<const ValueVersion::Group*> candidates;
  for (const ValueVersion::Group& g : input.groups) {
    if (gains(g)) candidates.push_back(&g);
  }
  if (candidates.empty()) return std::nullopt;
  const auto by_garbage = [](const ValueVersion::Group* a, const ValueVersion::Group* b) {
    return a->dead_bytes > b->dead_bytes;
  };
  if (!options.collect) return (*std::min_element(candidates.begin(), candidates.end(), by_garbage))->group;
  const uint64_t bound = load.Bound(options);
  // One at a time if another copy would not fit.
  if (!input.busy.empty() && load.bytes + load.CopyRoom(options, input.busy.size() + 1) > bound) return std::nullopt;
  // Copies that are under way, the next, and the next flush must fit under the bound, too.
  const uint64_t flush = std::max(std::min(options.flush_bytes, load.FlushRoom(options)), input.incoming_bytes);
  if (load.bytes + load.CopyRoom(options, input.busy.size() + 2) + flush <= bound) {
    std::erase_if(candidates, [&](const auto* g) { return g->oldest_run > input.old_until; });
    if (candidates.empty()) return std::nullopt;
    const auto worst = *std::max_element(
        candidates.begin(), candidates.end(),
        [](const auto* a, const auto* b) { return DeadShare(*a) < DeadShare(*b); });
    if (options.force_threshold < 1 && DeadShare(*worst) >= options.force_threshold &&
        worst->dead_bytes >= std::min<uint64_t>(256 << 10, options.group_bytes / 64)) {
      return worst->group;
    }
    return std::nullopt;
  }
  switch (options.policy) {
    case ValueGcPolicy::kGreedy:
      return (*std::min_element(candidates.begin(), candidates.end(), by_garbage))->group;
    case ValueGcPolicy::kCostBenefit:
      return (*std::max_element(candidates.begin(), candidates.end(),
                                [&](const auto* a, const auto* b) {
                                  return BenefitOverCost(*a, input.now_seconds) <
                                         BenefitOverCost(*b, input.now_seconds);
                                }))
          ->group;
    case ValueGcPolicy::kGreedyRandom: {
      const size_t d = std::min<size_t>(std::max(options.policy_d, 1u), candidates.size());
      std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(d),
                        candidates.end(), by_garbage);
      return candidates[random->Uniform(d)]->group;
    }
    case ValueGcPolicy::kRandom:
      return candidates[random->Uniform(candidates.size())]->group;
    case ValueGcPolicy::kOldestFirst:  // more than one only after a change from another policy
      return (*std::min_element(candidates.begin(), candidates.end(),
                                [](const auto* a, const auto* b) { return a->oldest_run < b->oldest_run; }))
          ->group;
  }
  return std::nullopt;
}

}  // namespace compassdb
