// SPDX-License-Identifier: Apache-2.0
// How much the levels hold, may hold and should hold.
#include <algorithm>
#include <cmath>

#include "lsm/policy/picker.h"
#include "store/level_bytes.h"

namespace compassdb {

namespace {

// The configured size of a level.
double TargetBytes(const PickerConfig& config, int level) {
  return LevelBytes(config.level1_max_bytes, config.level_multiplier,
                    config.level_multiplier_additional, level);
}

double SizeRatio(const PickerConfig& config, int upper, int lower) {
  return TargetBytes(config, upper) / TargetBytes(config, lower);
}

// The deepest level with tables; at least 1.
int DeepestLevel(const PickerInput& input) {
  int level = static_cast<int>(input.levels.size()) - 1;
  while (level > 1 && input.levels[level].empty()) --level;
  return level;
}

double LiveBytes(const PickerInput& input, int level) {
  double bytes = 0;
  for (const PickerTable& t : input.levels[level]) bytes += static_cast<double>(t.live_bytes);
  return bytes;
}

// The levels of a tree with dynamic_levels.
struct DynamicLevels {
  int first = 1;     // that may keep tables
  double bytes = 0;  // its size; each further level is larger by the multiplier
};

// Level 0 merges into a level up to this many times as large. By way of a smaller level between
// them its bytes would be written as often.
constexpr double kMaxBaseRatio = 3;

DynamicLevels SizeDynamicLevels(const PickerInput& input, const PickerConfig& config) {
  DynamicLevels levels;
  levels.first = std::max(1, static_cast<int>(input.levels.size()) - 1);
  for (int level = 1; level < static_cast<int>(input.levels.size()); ++level) {
    levels.bytes = std::max(levels.bytes, LiveBytes(input, level));
  }
  const auto base = static_cast<double>(config.level1_max_bytes);
  const double room = std::max(base, kMaxBaseRatio * LiveBytes(input, 0));
  // A level with tables stays until the next one is much smaller than it was when this one began,
  // or it would come and go with every job.
  const auto too_large = [&] {
    return levels.bytes > (input.levels[levels.first - 1].empty() ? room : base / 2);
  };
  while (levels.first > 1 && too_large()) {
    --levels.first;
    levels.bytes /= config.level_multiplier;
  }
  if (levels.first == 1) levels.bytes = std::min(levels.bytes, base);
  return levels;
}

uint64_t DynamicMaxBytes(const PickerInput& input, const PickerConfig& config, int level) {
  const DynamicLevels levels = SizeDynamicLevels(input, config);
  if (level < levels.first) return 0;
  const double bytes = levels.bytes * std::pow(config.level_multiplier, level - levels.first);
  if (bytes > 1e18) return UINT64_MAX;
  return std::max(config.level1_max_bytes, static_cast<uint64_t>(bytes));
}

}  // namespace

int BaseLevel(const PickerInput& input, const PickerConfig& config) {
  if (config.one_level) return DataLevel(input);
  if (!config.dynamic_levels) return 1;
  const int first = SizeDynamicLevels(input, config).first;
  for (int level = 1; level < first; ++level) {
    if (!input.levels[level].empty()) return level;
  }
  return first;
}

uint64_t RewriteBytes(const PickerConfig& config, const PickerTable& table) {
  return config.rewrites ? table.live_bytes : table.meta->directory.length;
}

uint64_t IdleBytes(const PickerInput& input, int level) {
  uint64_t bytes = 0;
  for (const PickerTable& t : input.levels[level]) {
    if (!t.busy) bytes += t.live_bytes;
  }
  return bytes;
}

uint64_t LevelMaxBytes(const PickerInput& input, const PickerConfig& config, int level) {
  if (config.dynamic_levels) return DynamicMaxBytes(input, config, level);
  const int deepest = DeepestLevel(input);
  double bytes = TargetBytes(config, level) * static_cast<double>(config.rewrites ? 1 : kDeepestStretch);
  if (level < deepest && !config.rewrites) {
    bytes = std::min(bytes, LiveBytes(input, deepest) * SizeRatio(config, level, deepest));
    bytes = std::max(bytes, static_cast<double>(config.level1_max_bytes));
  }
  return bytes > 1e18 ? UINT64_MAX : std::max<uint64_t>(1, static_cast<uint64_t>(bytes));
}

size_t PathOfLevel(const PickerInput& input, const PickerConfig& config, int level) {
  const std::vector<uint64_t>& targets = config.path_targets;
  if (level == 0 || targets.size() < 2) return 0;
  size_t path = 0;
  auto room = static_cast<double>(targets[0]);
  for (int l = 0; path + 1 < targets.size();) {
    const double bytes = std::max(LiveBytes(input, l), TargetBytes(config, std::max(l, 1)));
    if (bytes > room) {
      room = static_cast<double>(targets[++path]);
    } else if (l == level) {
      break;
    } else {
      room -= bytes;
      ++l;
    }
  }
  return path;
}

bool SettlesOn(const PickerInput& input, const PickerConfig& config, const PickerTable& table,
               int level) {
  return config.path_targets.size() < 2 || table.paths == PathBit(PathOfLevel(input, config, level));
}

uint64_t LevelGoalBytes(const PickerInput& input, const PickerConfig& config, int level) {
  if (level < DeepestLevel(input) || config.rewrites) return LevelMaxBytes(input, config, level);
  const double ratio = SizeRatio(config, level, level + 1);
  const double share = static_cast<double>(IdleBytes(input, level)) * ratio / (1 + ratio);
  return std::max(config.level1_max_bytes, static_cast<uint64_t>(share));
}

double LevelScore(const PickerInput& input, const PickerConfig& config, int level) {
  if (level + 1 >= static_cast<int>(input.levels.size())) return 0;
  if (config.one_level && level > 0) return 0;
  if (level == 0) {
    return static_cast<double>(input.levels[0].size()) / std::max(1, config.level0_trigger);
  }
  const auto& tables = input.levels[level];
  if (std::all_of(tables.begin(), tables.end(), [](const auto& t) { return t.busy; })) return 0;
  const uint64_t limit = LevelMaxBytes(input, config, level);
  if (limit == 0) return kMustBeEmpty;
  return static_cast<double>(IdleBytes(input, level)) / static_cast<double>(limit);
}

uint64_t PendingBytes(const PickerInput& input, const PickerConfig& config) {
  uint64_t pending = 0, carried = 0;
  if (config.fifo) return pending;
  if (static_cast<int>(input.levels[0].size()) >= config.level0_trigger) {
    for (const PickerTable& t : input.levels[0]) carried += t.live_bytes;
    pending += carried;
  }
  if (config.one_level) return pending;
  for (int level = 1; level + 1 < static_cast<int>(input.levels.size()); ++level) {
    const auto own = static_cast<uint64_t>(LiveBytes(input, level));
    if (own + carried == 0) continue;
    const uint64_t limit = LevelMaxBytes(input, config, level);
    if (limit == 0) {  // what comes from above does not stop here
      carried += own;
      pending += own;
      continue;
    }
    carried = own + carried > limit ? own + carried - limit : 0;
    pending += carried;
  }
  return pending;
}

}  // namespace compassdb
