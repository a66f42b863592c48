// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_gc_policy.h"

#include <algorithm>
#include <functional>

namespace compassdb {

namespace {

// A group with less garbage than this share is not worth its copy.
constexpr double kLeastDeadShare = 0.02;
// Without collections RocksDB deletes a file without live values. Groups are by hash, so one live value would keep all
// garbage of its group. So a group is copied if the copy is at most this part of the freed bytes.
constexpr uint64_t kRemains = 16;
// The volume of a job with several groups: a store has at least about this many such jobs, and no group needs to be
// larger than this.
constexpr uint64_t kFewestJobs = 64;
constexpr uint64_t kMostJobBytes = 64 << 20;
// Less is not worth a flush.
constexpr uint64_t kLeastFlush = 64 << 10;
// What is flushed is in a log until then, and the next memtable is in another one. So a memtable may have this part of
// the reserve: two of them, and the tables, take about half of it in addition.
constexpr uint64_t kLogParts = 6;
constexpr uint64_t kLeastLog = 1 << 20;

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

bool Overlaps(const ValueGroups& groups, const ValueGroup& group) {
  return std::ranges::any_of(groups, [&](const ValueGroup& g) { return g.Overlaps(group); });
}

ValueLoad::ValueLoad(const std::vector<ValueVersion::Group>& groups) {
  for (const ValueVersion::Group& g : groups) {
    bytes += g.bytes;
    dead_bytes += g.dead_bytes;
    pinned_bytes += g.pinned_bytes;
    copy_bytes = std::max(copy_bytes, g.bytes - g.dead_bytes);
  }
  copy_bytes = std::max(copy_bytes, JobBytes());
}

uint64_t ValueLoad::JobBytes() const { return std::min((bytes - dead_bytes) / kFewestJobs, kMostJobBytes); }

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
  const uint64_t log = std::max(kLeastLog, Reserve(options) / kLogParts);
  return std::max(kLeastFlush, std::min(log, (Reserve(options) - CopyRoom(options, 2)) / 2));
}

bool MayCopy(const ValueGcInput& input, const ValueLoad& load, const ValueOptions& options) {
  if (!options.collect || input.busy.empty()) return true;
  return load.bytes + load.CopyRoom(options, input.busy.size() + 1) + input.flushing_bytes <= load.Bound(options);
}

uint64_t ToleratedGarbage(const ValueOptions& options) {
  return std::min<uint64_t>(256 << 10, options.group_bytes * 4);
}

namespace {

bool Busy(const ValueGcInput& input, const ValueGroup& group) {
  return std::ranges::any_of(input.busy, [&](const ValueGroups& job) { return Overlaps(job, group); });
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

ValueGroups PickGroupsToMerge(const ValueGcInput& input, const ValueOptions& options) {
  const ValueLoad load(input.groups);
  if (!MayCopy(input, load, options)) return {};
  std::vector<const ValueVersion::Group*> candidates;
  for (const ValueVersion::Group& g : input.groups) {
    if (g.small_runs > kMaxSmallRuns && !Busy(input, g.group)) candidates.push_back(&g);
  }
  std::ranges::stable_sort(candidates, [](const auto* a, const auto* b) { return a->small_runs > b->small_runs; });
  ValueGroups picked;
  uint64_t bytes = 0;
  for (const ValueVersion::Group* g : candidates) {
    bytes += g->small_bytes;
    if (!picked.empty() && bytes > load.JobBytes()) break;
    picked.push_back(g->group);
  }
  return picked;
}

std::optional<ValueGroup> PickGroupToCount(const ValueGcInput& input) {
  return WithMost(input, &ValueVersion::Group::events, 0);
}

namespace {

using Candidates = std::vector<const ValueVersion::Group*>;

const ValueVersion::Group* MostGarbage(const Candidates& candidates) {
  return *std::ranges::max_element(candidates, {}, &ValueVersion::Group::dead_bytes);
}

// One that is collected for space.
const ValueVersion::Group* ByPolicy(const ValueGcInput& input, const ValueOptions& options, Random* random,
                                    Candidates candidates) {
  switch (options.policy) {
    case ValueGcPolicy::kGreedy:
      return MostGarbage(candidates);
    case ValueGcPolicy::kCostBenefit:
      return *std::ranges::max_element(
          candidates, {}, [&](const auto* g) { return BenefitOverCost(*g, input.now_seconds); });
    case ValueGcPolicy::kGreedyRandom: {
      const size_t d = std::min<size_t>(std::max(options.policy_d, 1u), candidates.size());
      std::ranges::partial_sort(candidates, candidates.begin() + static_cast<ptrdiff_t>(d), std::greater(),
                                &ValueVersion::Group::dead_bytes);
      return candidates[random->Uniform(d)];
    }
    case ValueGcPolicy::kRandom:
      return candidates[random->Uniform(candidates.size())];
    case ValueGcPolicy::kOldestFirst:  // more than one only after a change from another policy
      return *std::ranges::min_element(candidates, {}, &ValueVersion::Group::oldest_run);
  }
  return candidates.front();
}

}  // namespace

ValueGroups PickValueGroups(const ValueGcInput& input, const ValueOptions& options, Random* random) {
  const ValueLoad load(input.groups);
  const auto gains = [&](const ValueVersion::Group& g) {
    if (g.dead_bytes == 0 || Busy(input, g.group)) return false;
    return options.collect ? DeadShare(g) >= kLeastDeadShare : g.bytes - g.dead_bytes <= g.dead_bytes / kRemains;
  };
  Candidates candidates;
  for (const ValueVersion::Group& g : input.groups) {
    if (gains(g)) candidates.push_back(&g);
  }
  std::function<const ValueVersion::Group*()> next = [&] { return MostGarbage(candidates); };
  if (options.collect) {
    const uint64_t bound = load.Bound(options);
    if (!MayCopy(input, load, options)) return {};
    // Copies that are under way, the next, and the next flush must fit under the bound, too.
    const uint64_t flush = std::max(std::min(options.flush_bytes, load.FlushRoom(options)), input.incoming_bytes);
    if (load.bytes + load.CopyRoom(options, input.busy.size() + 2) + flush <= bound) {
      if (options.force_threshold >= 1) return {};
      const uint64_t least = std::min<uint64_t>(256 << 10, options.group_bytes / 64);
      std::erase_if(candidates, [&](const auto* g) {
        return g->oldest_run > input.old_until || DeadShare(*g) < options.force_threshold || g->dead_bytes < least;
      });
      next = [&] {
        return *std::ranges::max_element(candidates, {}, [](const auto* g) { return DeadShare(*g); });
      };
    } else {
      next = [&] { return ByPolicy(input, options, random, candidates); };
    }
  }
  ValueGroups picked;
  uint64_t bytes = 0;
  while (!candidates.empty()) {
    const ValueVersion::Group* const g = next();
    bytes += g->bytes - g->dead_bytes;
    if (!picked.empty() && bytes > load.JobBytes()) break;
    picked.push_back(g->group);
    // A log's tail is as long as a job may be.
    if (options.policy == ValueGcPolicy::kOldestFirst) break;
    std::erase(candidates, g);
  }
  return picked;
}

}  // namespace compassdb
