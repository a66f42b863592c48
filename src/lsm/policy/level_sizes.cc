// SPDX-License-Identifier: Apache-2.0
// How much the levels hold, may hold and should hold.
#include <algorithm>

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

}  // namespace

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
  const int deepest = DeepestLevel(input);
  double bytes = TargetBytes(config, level) * static_cast<double>(config.rewrites ? 1 : kDeepestStretch);
  if (level < deepest && !config.rewrites) {
    double below = 0;
    for (const PickerTable& t : input.levels[deepest]) below += static_cast<double>(t.live_bytes);
    bytes = std::min(bytes, below * SizeRatio(config, level, deepest));
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
    double bytes = 0;
    for (const PickerTable& t : input.levels[l]) bytes += static_cast<double>(t.live_bytes);
    bytes = std::max(bytes, TargetBytes(config, std::max(l, 1)));
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
  return static_cast<double>(IdleBytes(input, level)) /
         static_cast<double>(LevelMaxBytes(input, config, level));
}

uint64_t PendingBytes(const PickerInput& input, const PickerConfig& config) {
  uint64_t pending = 0, carried = 0;
  if (static_cast<int>(input.levels[0].size()) >= config.level0_trigger) {
    for (const PickerTable& t : input.levels[0]) carried += t.live_bytes;
    pending += carried;
  }
  if (config.one_level) return pending;
  for (size_t level = 1; level + 1 < input.levels.size(); ++level) {
    uint64_t bytes = carried;
    for (const PickerTable& t : input.levels[level]) bytes += t.live_bytes;
    const uint64_t limit = LevelMaxBytes(input, config, static_cast<int>(level));
    carried = bytes > limit ? bytes - limit : 0;
    pending += carried;
  }
  return pending;
}

}  // namespace compassdb
