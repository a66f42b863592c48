// SPDX-License-Identifier: Apache-2.0
#include "lsm/policy/picker.h"

#include <algorithm>

#include "lsm/policy/gc_policy.h"

namespace compassdb {

namespace {

// The union of the ranges of some tables: of keys, and of hashes.
struct Span {
  const TphMeta* first = nullptr;  // whose smallest is least
  const TphMeta* last = nullptr;   // whose largest is greatest
  SearchRange search{UINT32_MAX, 0};
};

void Extend(const Comparator* cmp, Span* span, const TphMeta& t) {
  span->search.first = std::min(span->search.first, t.search.first);
  span->search.last = std::max(span->search.last, t.search.last);
  if (span->first == nullptr || cmp->Compare(t.smallest, span->first->smallest) < 0) {
    span->first = &t;
  }
  if (span->last == nullptr) {
    span->last = &t;
  } else {
    const int c = cmp->Compare(t.largest, span->last->largest);
    if (c > 0 || (c == 0 && !t.largest_exclusive)) span->last = &t;
  }
}

bool OverlapsSpan(const Comparator* cmp, const Span& span, const TphMeta& t) {
  if (span.first == nullptr) return false;
  const int low = cmp->Compare(t.largest, span.first->smallest);
  if (low < 0 || (low == 0 && t.largest_exclusive)) return false;
  const int high = cmp->Compare(span.last->largest, t.smallest);
  return high > 0 || (high == 0 && !span.last->largest_exclusive);
}

// How a level is cut. For a level without tables: as configured.
bool CutByHash(const PickerInput& input, const PickerConfig& config, int level) {
  const auto& tables = input.levels[level];
  return tables.empty() ? config.hash_range : tables.front().meta->hash_range;
}

// Fills plan->bases with the tables of the output level that the span overlaps.
// False if one of them is busy.
bool ChooseBasesOf(const PickerInput& input, const PickerConfig& config, const Span& span,
                   CompactionPlan* plan) {
  const Comparator* const cmp = config.comparator;
  const auto& level = input.levels[plan->output_level];
  plan->hash_range = CutByHash(input, config, plan->output_level);
  if (plan->hash_range) {
    for (size_t i = 0; i < level.size(); ++i) {
      if (!level[i].meta->search.Overlaps(span.search)) continue;
      if (level[i].busy) return false;
      plan->bases.push_back(i);
    }
    return true;
  }
  const auto first = std::partition_point(level.begin(), level.end(), [&](const PickerTable& t) {
    return cmp->Compare(t.meta->largest, span.first->smallest) < 0;
  });
  for (size_t i = static_cast<size_t>(first - level.begin()); i < level.size(); ++i) {
    if (cmp->Compare(level[i].meta->smallest, span.last->largest) > 0) break;
    if (!OverlapsSpan(cmp, span, *level[i].meta)) continue;
    if (level[i].busy) return false;
    plan->bases.push_back(i);
  }
  return true;
}

// Level 0 is moved down as a whole: a table takes all older overlapping tables
// with it (rule 5), and flushed tables nearly always overlap. The oldest
// tables move alone if they overlap no other table of level 0 and nothing below.
CompactionPlan PickLevel0(const PickerInput& input, const PickerConfig& config) {
  const auto& level0 = input.levels[0];
  CompactionPlan plan;
  plan.input_level = 0;
  plan.output_level = BaseLevel(input, config);
  plan.reason = "level 0 runs";
  Span span;
  for (const PickerTable& t : level0) {
    if (t.busy) return CompactionPlan();  // one job at a time on level 0
    Extend(config.comparator, &span, *t.meta);
  }
  for (size_t i = 0; i < level0.size(); ++i) plan.inputs.push_back(i);
  if (!ChooseBasesOf(input, config, span, &plan)) return CompactionPlan();
  if (plan.bases.empty() && !plan.hash_range) {
    bool disjoint = true;
    for (size_t i = 0; i < level0.size() && disjoint; ++i) {
      disjoint = SettlesOn(input, config, level0[i], plan.output_level);
      for (size_t j = i + 1; j < level0.size() && disjoint; ++j) {
        disjoint = !Overlap(config.comparator, *level0[i].meta, *level0[j].meta);
      }
    }
    plan.trivial_move = disjoint;
  }
  return plan;
}

// How good an input is: live bytes that leave the level per byte of directory
// that its move rewrites below (rule 10).
struct Candidate {
  CompactionPlan plan;
  double gain = 0;
};

Candidate EvaluateInput(const PickerInput& input, const PickerConfig& config, int level,
                         size_t index) {
  Candidate c;
  const TphMeta& table = *input.levels[level][index].meta;
  c.plan.input_level = level;
  c.plan.output_level = level + 1;
  c.plan.inputs = {index};
  c.plan.reason = "level size";
  Span span;
  Extend(config.comparator, &span, table);
  if (!ChooseBasesOf(input, config, span, &c.plan)) return c;
  if (c.plan.bases.empty()) {
    c.plan.trivial_move = table.hash_range == c.plan.hash_range &&
                          SettlesOn(input, config, input.levels[level][index], level + 1);
    c.gain = 1e300;
    return c;
  }
  uint64_t cost = 0;
  for (size_t b : c.plan.bases) cost += RewriteBytes(config, input.levels[level + 1][b]);
  const uint64_t live = std::max<uint64_t>(input.levels[level][index].live_bytes, 1);
  c.gain = static_cast<double>(live) / static_cast<double>(cost + 1);
  return c;
}

// Brings a level down to `limit` bytes.
CompactionPlan PickLevel(const PickerInput& input, const PickerConfig& config, int level,
                         uint64_t limit, double min_gain) {
  if (!CutByHash(input, config, level) && !CutByHash(input, config, level + 1)) {
    return PickGroup(input, config, level, limit, min_gain);
  }
  uint64_t bytes = IdleBytes(input, level);
  Candidate best;
  CompactionPlan moves;  // all tables that can settle, in one edit
  for (size_t i = 0; i < input.levels[level].size() && (limit == 0 || bytes > limit); ++i) {
    const PickerTable& table = input.levels[level][i];
    if (table.busy) continue;
    Candidate c = EvaluateInput(input, config, level, i);
    if (c.plan.trivial_move) {
      if (moves.empty()) {
        moves = c.plan;
      } else {
        moves.inputs.push_back(i);
      }
      bytes -= std::min(bytes, table.live_bytes);
    } else if (c.gain > best.gain && c.gain >= min_gain) {
      best = std::move(c);
    }
  }
  if (!moves.empty()) return moves;
  return best.gain > 0 ? best.plan : CompactionPlan();
}

CompactionPlan PickFullLevel(const PickerInput& input, const PickerConfig& config, int level,
                             double score) {
  if (level == 0) return PickLevel0(input, config);
  // After the option was set, levels are far from their sizes. Then the largest takes all its data
  // down without a merge, and leaves nothing for the next ones to meet.
  const bool below_empty = config.dynamic_levels && input.levels[level + 1].empty();
  const uint64_t limit = below_empty ? 0 : LevelGoalBytes(input, config, level);
  // A delta should be at least as large as the directories that it rewrites;
  // when the level is far over its limit, any table will do. That rule is off if merges rewrite tables.
  return PickLevel(input, config, level, limit, score >= 1.5 || config.rewrites ? 0 : 1.0);
}

CompactionPlan PickBySize(const PickerInput& input, const PickerConfig& config) {
  const int last = static_cast<int>(input.levels.size()) - 1;
  std::vector<std::pair<double, int>> scores;
  for (int level = 0; level < last; ++level) {
    scores.emplace_back(LevelScore(input, config, level), level);
  }
  if (config.rewrites) {
    // Level 0 rewrites all tables of level 1 that it overlaps. It is best if those are few and
    // level 0 is large. So deeper levels make room first.
    std::reverse(scores.begin(), scores.end());
  } else {
    std::stable_sort(scores.begin(), scores.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
  }
  for (const auto& [score, level] : scores) {
    if (score < 1) continue;
    CompactionPlan plan = PickFullLevel(input, config, level, score);
    if (!plan.empty()) return plan;
  }
  return CompactionPlan();
}

// Conversion jobs split their delta in memory.
constexpr uint64_t kMaxConversionBytes = 256ull << 20;

// Tables that are not cut as configured move down into a level that is, the deepest of
// their levels first. The last level has none below: its tables move up before that.
// Levels above follow when they find their next level empty.
CompactionPlan PickConversion(const PickerInput& input, const PickerConfig& config) {
  const int last = static_cast<int>(input.levels.size()) - 1;
  int level = last;
  while (level > 0 && CutByHash(input, config, level) == config.hash_range) --level;
  if (level == 0) return CompactionPlan();
  const auto& tables = input.levels[level];
  CompactionPlan plan;
  plan.reason = "partition";
  plan.input_level = level;
  if (level == last) {
    if (last < 2) return CompactionPlan();
    if (!input.levels[level - 1].empty()) {
      plan = PickLevel(input, config, level - 1, 0, 0);
      plan.reason = "partition";
      return plan;
    }
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].busy) return CompactionPlan();
      plan.inputs.push_back(i);
    }
    plan.output_level = level - 1;
    plan.trivial_move = true;
    return plan;
  }
  plan.output_level = level + 1;
  Span span;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].busy) continue;
    if (!plan.inputs.empty() && bytes + tables[i].live_bytes >
                                    std::min(config.max_compaction_bytes, kMaxConversionBytes)) {
      break;
    }
    bytes += tables[i].live_bytes;
    plan.inputs.push_back(i);
    Extend(config.comparator, &span, *tables[i].meta);
  }
  if (plan.inputs.empty() || !ChooseBasesOf(input, config, span, &plan)) return CompactionPlan();
  return plan;
}

// One level: data of an earlier configuration on several levels is moved to the deepest.
CompactionPlan PickOneLevel(const PickerInput& input, const PickerConfig& config) {
  const int from = DataLevel(input);
  for (size_t level = static_cast<size_t>(from) + 1; level < input.levels.size(); ++level) {
    if (input.levels[level].empty()) continue;
    CompactionPlan plan = PickLevel(input, config, from, 0, 0);
    plan.reason = "one level";
    if (!plan.empty()) return plan;
    break;
  }
  return LevelScore(input, config, 0) >= 1 ? PickLevel0(input, config) : CompactionPlan();
}

// Marked tables move down until no data is below them. From level 0 they do in any case, as in
// RocksDB, and are rewritten if nothing is below: that drops their deletions.
CompactionPlan PickMarked(const PickerInput& input, const PickerConfig& config) {
  size_t deepest = input.levels.size() - 1;
  const auto empty_below = [&] { return input.levels[deepest].empty(); };
  while (deepest > 1 && empty_below()) --deepest;
  for (size_t level = 0; level < deepest; ++level) {
    if (level > 0 && config.one_level) break;
    for (size_t i = 0; i < input.levels[level].size(); ++i) {
      if (!input.levels[level][i].marked || input.levels[level][i].busy) continue;
      CompactionPlan plan;
      if (level == 0) {
        plan = PickLevel0(input, config);
        if (deepest == 1 && empty_below()) plan.trivial_move = false;
      } else if (Candidate c = EvaluateInput(input, config, static_cast<int>(level), i);
                 c.gain > 0) {
        plan = std::move(c.plan);
      }
      plan.reason = kMarkedReason;
      if (!plan.empty()) return plan;
      if (level == 0) break;
    }
  }
  return CompactionPlan();
}

// The rest of sparse files is rewritten, at its level, so that the files can be deleted.
CompactionPlan PickSparse(const PickerInput& input, const PickerConfig& config) {
  for (size_t level = 1; level < input.levels.size(); ++level) {
    CompactionPlan plan;
    plan.input_level = plan.output_level = static_cast<int>(level);
    plan.rewrite = true;
    plan.reason = "space";
    uint64_t bytes = 0;
    for (size_t i = 0; i < input.levels[level].size(); ++i) {
      const PickerTable& t = input.levels[level][i];
      if (t.busy || !t.sparse) continue;
      if (!plan.inputs.empty() && bytes + t.live_bytes > config.group_compaction_bytes) break;
      bytes += t.live_bytes;
      plan.inputs.push_back(i);
    }
    if (!plan.empty()) return plan;
  }
  return CompactionPlan();
}

// A level below has something in the table's bounds. It must be true whenever LsmVersion::OverlapsBelow keeps
// range tombstones, or a rewrite would leave them to be picked again.
bool AnythingBelow(const PickerInput& input, const PickerConfig& config, size_t level, const TphMeta& t) {
  for (size_t l = level + 1; l < input.levels.size(); ++l) {
    for (const PickerTable& below : input.levels[l]) {
      if (below.meta->search.Overlaps(t.search) && config.comparator->Compare(below.meta->largest, t.smallest) >= 0 &&
          config.comparator->Compare(below.meta->smallest, t.largest) <= 0) {
        return true;
      }
    }
  }
  return false;
}

// Range deletions that hide separated values move down until no data is below them, and then drop what they cover.
CompactionPlan PickCovering(const PickerInput& input, const PickerConfig& config) {
  for (size_t level = 0; level < input.levels.size(); ++level) {
    CompactionPlan plan, rewrite;
    rewrite.input_level = rewrite.output_level = static_cast<int>(level);
    rewrite.rewrite = true;
    uint64_t bytes = 0;
    for (size_t i = 0; i < input.levels[level].size() && plan.empty(); ++i) {
      const PickerTable& t = input.levels[level][i];
      if (t.busy || !t.covers) continue;
      if (level == 0) {
        plan = PickLevel0(input, config);
        break;
      }
      if (AnythingBelow(input, config, level, *t.meta)) {
        if (config.one_level) continue;
        Candidate c = EvaluateInput(input, config, static_cast<int>(level), i);
        if (c.gain > 0) plan = std::move(c.plan);
        continue;
      }
      // A table that stays on the level covers nothing in its own piece.
      if (config.open_below && t.meta->pieces.size() < 2) continue;
      if (!rewrite.inputs.empty() && bytes + t.live_bytes > config.group_compaction_bytes) break;
      bytes += t.live_bytes;
      rewrite.inputs.push_back(i);
    }
    if (plan.empty()) plan = std::move(rewrite);
    plan.reason = kCoveredReason;
    if (!plan.empty()) return plan;
  }
  return CompactionPlan();
}

// Data that released snapshots kept is dropped, if it is more than may be dead otherwise. Level 0
// is moved down soon.
CompactionPlan PickReleased(const PickerInput& input, const PickerConfig& config) {
  for (size_t level = 1; level < input.levels.size(); ++level) {
    CompactionPlan plan;
    plan.input_level = plan.output_level = static_cast<int>(level);
    plan.rewrite = true;
    plan.reason = kSnapshotsReason;
    uint64_t bytes = 0;
    for (size_t i = 0; i < input.levels[level].size(); ++i) {
      const PickerTable& t = input.levels[level][i];
      if (t.busy || t.released_bytes == 0 ||
          !FreesEnough(t.meta->DataBytes(), t.released_bytes, config.max_dead_percent)) {
        continue;
      }
      if (!plan.inputs.empty() && bytes + t.live_bytes > config.group_compaction_bytes) break;
      bytes += t.live_bytes;
      plan.inputs.push_back(i);
    }
    if (!plan.empty()) return plan;
  }
  return CompactionPlan();
}

// Tables whose oldest data has expired are rewritten whole, at their level; level 0 is moved down.
CompactionPlan PickByAge(const PickerInput& input, const PickerConfig& config) {
  const bool periodic =
      config.periodic_seconds != 0 && (config.ttl_seconds == 0 || config.periodic_seconds < config.ttl_seconds);
  const uint64_t limit = periodic ? config.periodic_seconds : config.ttl_seconds;
  if (limit == 0 || input.now_seconds <= limit) return CompactionPlan();
  const auto is_old = [&](const PickerTable& t) {
    return !t.busy && std::any_of(t.meta->pieces.begin(), t.meta->pieces.end(), [&](const TphPiece& p) {
      return p.meta->creation_time + limit <= input.now_seconds;
    });
  };
  for (size_t level = 0; level < input.levels.size(); ++level) {
    const auto& tables = input.levels[level];
    const auto old = std::find_if(tables.begin(), tables.end(), is_old);
    if (old == tables.end()) continue;
    CompactionPlan plan;
    if (level == 0) {
      plan = PickLevel0(input, config);
    } else {
      plan.input_level = plan.output_level = static_cast<int>(level);
      plan.inputs = {static_cast<size_t>(old - tables.begin())};
      plan.rewrite = true;
    }
    plan.reason = periodic ? kPeriodicReason : kTtlReason;
    if (!plan.empty()) return plan;
  }
  return CompactionPlan();
}

}  // namespace

bool FreesEnough(uint64_t data_bytes, uint64_t released_bytes, uint32_t percent) {
  const uint64_t stays = data_bytes - std::min(data_bytes, released_bytes);
  return released_bytes > 0 && released_bytes > stays / 100 * percent;
}

bool ChooseBases(const PickerInput& input, const PickerConfig& config, CompactionPlan* plan) {
  Span span;
  for (size_t i : plan->inputs) {
    Extend(config.comparator, &span, *input.levels[plan->input_level][i].meta);
  }
  return ChooseBasesOf(input, config, span, plan);
}

bool MayNotShareLevel(const Comparator* cmp, const TphMeta& a, const TphMeta& b) {
  if (a.hash_range != b.hash_range) return true;
  return a.hash_range ? a.search.Overlaps(b.search) : Overlap(cmp, a, b);
}

bool Overlap(const Comparator* cmp, const TphMeta& a, const TphMeta& b) {
  Span span;
  Extend(cmp, &span, a);
  return OverlapsSpan(cmp, span, b);
}

bool OverlapsRange(const Comparator* cmp, const TphMeta& t, const Slice* begin, const Slice* end) {
  if (begin != nullptr) {
    const int c = cmp->Compare(t.largest, *begin);
    if (c < 0 || (c == 0 && t.largest_exclusive)) return false;
  }
  return end == nullptr || cmp->Compare(t.smallest, *end) <= 0;
}

int DataLevel(const PickerInput& input) {
  for (size_t level = 1; level < input.levels.size(); ++level) {
    if (!input.levels[level].empty()) return static_cast<int>(level);
  }
  return 1;
}

CompactionPlan PickMemTableMerge(const PickerInput& input, const PickerConfig& config,
                                 const TphMeta& bounds, uint64_t bytes) {
  CompactionPlan plan;
  // If a merge rewrites tables, it is cheaper for several memtables together.
  if (config.rewrites && !config.one_level) return plan;
  plan.input_level = 0;
  plan.output_level = config.one_level ? DataLevel(input) : 1;
  plan.reason = "memtables";
  for (size_t level = static_cast<size_t>(plan.output_level) + 1;
       config.one_level && level < input.levels.size(); ++level) {
    if (!input.levels[level].empty()) return CompactionPlan();  // first to one level
  }
  Span span;
  Extend(config.comparator, &span, bounds);
  const uint64_t memtable_bytes = bytes;
  for (size_t i = 0; i < input.levels[0].size(); ++i) {
    const PickerTable& t = input.levels[0][i];
    if (t.busy) return CompactionPlan();
    Extend(config.comparator, &span, *t.meta);
    bytes += t.live_bytes;
    plan.inputs.push_back(i);
  }
  if (!ChooseBasesOf(input, config, span, &plan)) return CompactionPlan();
  uint64_t live = 0, directories = 0;
  for (size_t b : plan.bases) {
    live += input.levels[plan.output_level][b].live_bytes;
    directories += RewriteBytes(config, input.levels[plan.output_level][b]);
  }
  const bool many = static_cast<int>(plan.inputs.size()) + 1 >= config.level0_trigger;
  const bool worth = config.one_level
                         ? bytes >= directories || many
                         : memtable_bytes >= config.target_table_bytes / 2 &&
                               live / kMaxMergeFanOut <= bytes;
  if (!worth) return CompactionPlan();
  plan.memtables = true;
  plan.path = PathOfLevel(input, config, plan.output_level);
  return plan;
}

CompactionPlan PickCompaction(const PickerInput& input, const PickerConfig& config) {
  CompactionPlan plan;
  // Writers wait for level 0, not for conversions.
  if (LevelScore(input, config, 0) >= (config.rewrites ? 3 : 2)) plan = PickLevel0(input, config);
  if (plan.empty()) plan = PickConversion(input, config);
  if (plan.empty() && config.one_level) plan = PickOneLevel(input, config);
  if (plan.empty() && !config.one_level) plan = PickBySize(input, config);
  if (plan.empty()) plan = PickMarked(input, config);
  if (plan.empty()) plan = PickCovering(input, config);
  if (plan.empty()) plan = PickSparse(input, config);
  if (plan.empty()) plan = PickReleased(input, config);
  if (plan.empty()) plan = PickByAge(input, config);
  if (plan.empty()) plan = PickByScans(input, config);
  if (!plan.empty()) plan.path = PathOfLevel(input, config, plan.output_level);
  return plan;
}

CompactionPlan PickManual(const PickerInput& input, const PickerConfig& config,
                          const ManualRange& range, bool* conflict) {
  *conflict = false;
  CompactionPlan plan;
  plan.input_level = range.input_level;
  plan.output_level = range.output_level;
  if (range.to_base) plan.output_level = std::max(plan.output_level, BaseLevel(input, config));
  plan.reason = "manual";
  plan.rewrite = range.input_level == range.output_level;
  plan.path = range.path.value_or(PathOfLevel(input, config, plan.output_level));
  plan.threads = range.threads;
  const auto& level = input.levels[range.input_level];
  const bool level0 = range.input_level == 0;
  bool any = false;
  uint64_t bytes = 0;
  Span span;
  for (size_t i = 0; i < level.size(); ++i) {
    const TphMeta& meta = *level[i].meta;
    const bool inside = (range.tables == nullptr || range.tables->count(meta.tph_id) != 0) &&
                        OverlapsRange(config.comparator, meta, range.begin, range.end);
    bool old = range.created_before == 0;
    for (const TphPiece& p : meta.pieces) old = old || p.meta->piece_id < range.created_before;
    // Flushes after the request are not a reason for a job.
    any = any || (inside && (old || !level0));
    if (!inside && !level0) continue;
    if (plan.rewrite && !old) continue;
    if (range.released && !FreesEnough(meta.DataBytes(), level[i].released_bytes, kLeastReleasedPercent)) {
      continue;
    }
    if (level[i].busy) {
      *conflict = true;
      return CompactionPlan();
    }
    if (!level0 && !plan.inputs.empty() &&
        bytes + meta.LiveDataBytes() > config.max_compaction_bytes) {
      break;  // the rest in a further job
    }
    bytes += meta.LiveDataBytes();
    plan.inputs.push_back(i);
    Extend(config.comparator, &span, meta);
  }
  if (!any || plan.inputs.empty()) return CompactionPlan();
  if (!plan.rewrite && !ChooseBasesOf(input, config, span, &plan)) {
    *conflict = true;
    return CompactionPlan();
  }
  return plan;
}

}  // namespace compassdb
