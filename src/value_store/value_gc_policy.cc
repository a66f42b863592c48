// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_gc_policy.h"

#include <algorithm>

namespace compassdb {

namespace {

// A group with less garbage than this share is not worth its copy.
constexpr double kLeastDeadShare = 0.02;

double DeadShare(const ValueVersion::Group& g) {
  return g.bytes == 0 ? 0 : static_cast<double>(g.dead_bytes) / static_cast<double>(g.bytes);
}

// Garbage per byte to be copied, times how long the group was left alone.
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

uint64_t ValueLoad::Bound(const ValueOptions& options) const {
  const uint64_t live = bytes - dead_bytes - pinned_bytes;
  return live + live / 100 * options.reserve_percent + pinned_bytes + ToleratedGarbage(options);
}

uint64_t ToleratedGarbage(const ValueOptions& options) {
  return std::min<uint64_t>(256 << 10, options.group_bytes * 4);
}

namespace {

bool Busy(const ValueGcInput& input, const ValueGroup& group) {
  return std::any_of(input.busy.begin(), input.busy.end(),
                     [&](const ValueGroup& b) { return b.Overlaps(group); });
}

}  // namespace

std::optional<ValueGroup> PickGroupToCount(const ValueGcInput& input) {
  const ValueVersion::Group* most = nullptr;
  for (const ValueVersion::Group& g : input.groups) {
    if (g.events > (most == nullptr ? 0 : most->events) && !Busy(input, g.group)) most = &g;
  }
  if (most == nullptr) return std::nullopt;
  return most->group;
}

std::optional<ValueGroup> PickValueGroup(const ValueGcInput& input, const ValueOptions& options,
                                         Random* random) {
  if (!options.collect) return std::nullopt;
  const ValueLoad load(input.groups);
  std::vector<const ValueVersion::Group*> candidates;
  for (const ValueVersion::Group& g : input.groups) {
    if (!Busy(input, g.group) && g.dead_bytes > 0 && DeadShare(g) >= kLeastDeadShare) candidates.push_back(&g);
  }
  if (candidates.empty()) return std::nullopt;
  const auto by_garbage = [](const ValueVersion::Group* a, const ValueVersion::Group* b) {
    return a->dead_bytes > b->dead_bytes;
  };
  // Copies that are under way, the next, and the next flush must fit under the bound, too.
  const uint64_t room = load.copy_bytes * (input.busy.size() + 2) + options.flush_bytes;
  if (load.bytes + std::min(room, load.dead_bytes / 2) <= load.Bound(options)) {
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
  }
  return std::nullopt;
}

}  // namespace compassdb
