// SPDX-License-Identifier: Apache-2.0
// Group and settled compaction (BoLT 3.3, 3.4): several tables, neighbours or not, in one job.
// First those that overlap least below. Those that overlap nothing move by the manifest alone.
#include <algorithm>
#include <numeric>

#include "lsm/policy/picker.h"

namespace compassdb {

namespace {

struct UpperTable {
  size_t index = 0;            // of its level
  size_t first = 0, last = 0;  // tables of the next level that it overlaps: [first, last)
  uint64_t cost = 0;           // bytes that these make a merge write
  bool free = false;           // none of these is busy
};

// Every table of the level with what it overlaps, in one walk over both levels.
std::vector<UpperTable> MeetNextLevel(const PickerInput& input, const PickerConfig& config,
                                      int level) {
  const Comparator* const cmp = config.comparator;
  const auto& below = input.levels[level + 1];
  std::vector<UpperTable> tables;
  size_t first = 0;
  for (size_t i = 0; i < input.levels[level].size(); ++i) {
    const TphMeta& meta = *input.levels[level][i].meta;
    const auto ends_before = [&](const TphMeta& t) {
      const int c = cmp->Compare(t.largest, meta.smallest);
      return c < 0 || (c == 0 && t.largest_exclusive);
    };
    while (first < below.size() && ends_before(*below[first].meta)) ++first;
    UpperTable v;
    v.index = i;
    v.first = v.last = first;
    v.free = true;
    for (; v.last < below.size() && Overlap(cmp, meta, *below[v.last].meta); ++v.last) {
      v.free = v.free && !below[v.last].busy;
      v.cost += RewriteBytes(config, below[v.last]);
    }
    tables.push_back(v);
  }
  return tables;
}

// The order of inputs: the least is first.
double Rank(const PickerConfig& config, const PickerTable& table, const UpperTable& v) {
  const InputOrder order = config.rewrites ? config.input_order : InputOrder::kLeastOverlap;
  switch (order) {
    case InputOrder::kLongestAgo:
      return static_cast<double>(table.meta->smallest_seq);
    case InputOrder::kOldestNewest:
      return static_cast<double>(table.meta->largest_seq);
    case InputOrder::kLargest:
      return -static_cast<double>(table.live_bytes);
    case InputOrder::kLeastOverlap:
      break;
  }
  return static_cast<double>(v.cost) / static_cast<double>(std::max<uint64_t>(1, table.live_bytes));
}

// Inputs and bases of the plan, and the fences of the tables between them.
void Fill(std::vector<UpperTable> chosen, CompactionPlan* plan) {
  std::sort(chosen.begin(), chosen.end(),
            [](const UpperTable& a, const UpperTable& b) { return a.index < b.index; });
  for (size_t i = 0; i < chosen.size(); ++i) {
    const UpperTable& v = chosen[i];
    plan->inputs.push_back(v.index);
    for (size_t b = v.first; b < v.last; ++b) {
      if (plan->bases.empty() || plan->bases.back() < b) plan->bases.push_back(b);
    }
    if (i + 1 < chosen.size() && v.last < chosen[i + 1].first) plan->fences.push_back(v.last);
  }
}

}  // namespace

CompactionPlan PickGroup(const PickerInput& input, const PickerConfig& config, int level,
                         uint64_t limit, double min_gain) {
  const auto& tables = input.levels[level];
  CompactionPlan plan;
  plan.input_level = level;
  plan.output_level = level + 1;
  plan.reason = "level size";
  // A job must be worth its syncs, so a level is reduced somewhat below its limit.
  if (config.rewrites) limit -= std::min(config.group_compaction_bytes / 2, limit / 8);
  uint64_t bytes = IdleBytes(input, level);
  const bool settle = !config.rewrites || config.input_order == InputOrder::kLeastOverlap;
  std::vector<std::pair<double, UpperTable>> ranked;
  std::vector<UpperTable> chosen;
  const auto enough = [&] { return limit > 0 && bytes <= limit; };
  const auto moves = [&](const UpperTable& v) {
    return v.first == v.last && SettlesOn(input, config, tables[v.index], level + 1);
  };
  for (const UpperTable& v : MeetNextLevel(input, config, level)) {
    if (tables[v.index].busy || !v.free) continue;
    if (settle && moves(v)) {
      if (enough()) continue;
      bytes -= std::min(bytes, tables[v.index].live_bytes);
      chosen.push_back(v);
      continue;
    }
    const auto live = static_cast<double>(std::max<uint64_t>(1, tables[v.index].live_bytes));
    if (live / static_cast<double>(v.cost + 1) < min_gain) continue;
    ranked.emplace_back(Rank(config, tables[v.index], v), v);
  }
  if (!chosen.empty()) {
    plan.trivial_move = true;
    Fill(std::move(chosen), &plan);
    plan.fences.clear();
    return plan;
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  uint64_t taken = 0, total = 0;
  for (const auto& [rank, v] : ranked) {
    const uint64_t live = tables[v.index].live_bytes;
    if (!chosen.empty() && (enough() || taken + live > config.group_compaction_bytes ||
                            total + live + v.cost > config.max_compaction_bytes)) {
      break;
    }
    taken += live;
    total += live + v.cost;
    bytes -= std::min(bytes, live);
    chosen.push_back(v);
  }
  if (chosen.empty()) return CompactionPlan();
  plan.trivial_move = std::all_of(chosen.begin(), chosen.end(), moves);
  Fill(std::move(chosen), &plan);
  if (plan.trivial_move) plan.fences.clear();
  return plan;
}

}  // namespace compassdb
