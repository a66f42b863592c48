// SPDX-License-Identifier: Apache-2.0
// What to compact next: a pure function from the tables of a version to a
// plan. No I/O, no clock; the caller marks and clears busy tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "format/internal_key.h"
#include "store/compaction_tuning.h"
#include "store/job_reasons.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

struct PickerTable {
  PickerTable(const TphMeta* m, bool b) : PickerTable(m, b, m->LiveDataBytes()) {}
  PickerTable(const TphMeta* m, bool b, uint64_t live) : meta(m), busy(b), live_bytes(live) {}
  const TphMeta* meta;
  bool busy;  // input or base of a running job
  uint64_t live_bytes;
  // What scans lost by it, in bytes of rewriting (lsm/policy/scan_cost.h): because it has
  // several pieces, and because it is a run above others.
  uint64_t scan_loss_pieces = 0;
  uint64_t scan_loss_run = 0;
  bool marked = false;  // by Store::MarkForCompaction, or in a piece's metadata by a collector
  bool sparse = false;  // has an extent in a file that must be vacated
  bool covers = false;  // has range tombstones that hide separated values, and no snapshot needs them
  // Data bytes that no snapshot sees now, if snapshots have kept some of them.
  uint64_t released_bytes = 0;
  uint32_t paths = 0;  // PathBits of the family's paths that have files of it
};

// The last bit is for all paths from the 32nd on.
inline uint32_t PathBit(size_t path) { return 1u << (path < 31 ? path : 31); }

// Level 0 newest first; deeper levels by key, or by search key if they are cut by hash.
struct PickerInput {
  std::vector<std::vector<PickerTable>> levels;
  uint64_t now_seconds = 0;
};

struct PickerConfig : CompactionTuning {
  const Comparator* comparator = nullptr;
  bool rewrites = false;  // a merge rewrites the tables that it overlaps, whole
  bool one_level = false;  // all data is on one level below 0
  bool dynamic_levels = false;  // level_compaction_dynamic_level_bytes; rewrites, and not one_level
  bool hash_range = false;  // levels without tables are cut by hash from now on
  bool open_below = false;  // records may exist below the last level
  std::vector<uint64_t> path_targets;  // of the family's paths, in bytes; one or none: no choice
};

struct CompactionPlan {
  int input_level = -1;
  int output_level = -1;
  std::vector<size_t> inputs;  // indices into levels[input_level]; ascending
  std::vector<size_t> bases;   // indices into levels[output_level]; ascending
  // Indices into levels[output_level] of tables that stay, between inputs or bases: the job cuts its
  // output at the smallest key of each. Ascending.
  std::vector<size_t> fences;
  bool trivial_move = false;   // inputs overlap nothing: only the manifest changes
  bool whole = false;          // the bases are rewritten together with the inputs
  bool rewrite = false;        // input_level == output_level: rewrite the inputs whole
  bool memtables = false;      // memtables are inputs, too
  bool hash_range = false;     // the output level is cut by hash
  size_t path = 0;             // for the files
  uint32_t threads = 0;        // at most; 0: as the options have it
  const char* reason = "";
  bool empty() const { return inputs.empty() && !memtables; }
};

// Reduces a level towards `limit` bytes by one job; to 0: also of tables without live bytes. The
// inputs are the first in config.input_order, up to config.group_compaction_bytes, and need not be
// neighbours (BoLT 3.3). Tables that overlap nothing move by the manifest alone, before any merge
// (3.4). Inputs must have at least min_gain bytes for each byte that is written for the tables that
// they overlap. For levels cut by keys.
CompactionPlan PickGroup(const PickerInput& input, const PickerConfig& config, int level,
                         uint64_t limit, double min_gain);

// The limit of a level. Levels above the deepest one with data follow its size, each
// smaller by the multiplier, at least level1_max_bytes. The deepest may grow to
// kDeepestStretch times its configured size before a further level begins: merging a
// delta into a large level costs little more than into a small one.
// With dynamic_levels data collects on the last level. The others follow the size of the largest in
// the same way, upwards to one of at most level1_max_bytes, or not much larger than level 0. Those
// above may keep nothing: 0.
uint64_t LevelMaxBytes(const PickerInput& input, const PickerConfig& config, int level);
// If merges rewrite tables, no level is stretched.
inline constexpr uint64_t kDeepestStretch = 6;
// The level that level 0 merges into. With dynamic_levels it is the first one that may keep tables,
// or one above as long as it has some, since these are older than level 0.
int BaseLevel(const PickerInput& input, const PickerConfig& config);
// The size to which a larger level is reduced. The deepest moves to the next level and keeps as
// much as a level above that may have.
uint64_t LevelGoalBytes(const PickerInput& input, const PickerConfig& config, int level);
// What a merge must at least write of a table that it overlaps: its directory, or all of it.
uint64_t RewriteBytes(const PickerConfig& config, const PickerTable& table);
// Live bytes of the tables that are not busy.
uint64_t IdleBytes(const PickerInput& input, int level);
// > 1: the level needs a compaction. Tables that are being moved down do not count.
inline constexpr double kMustBeEmpty = 1000;  // the score of a level with tables that may keep none
double LevelScore(const PickerInput& input, const PickerConfig& config, int level);
// Estimated bytes to be moved until every level is within its limit.
uint64_t PendingBytes(const PickerInput& input, const PickerConfig& config);

// The path for files of a level: the first one with space for all levels down to it, each with its
// configured size or, if that is more, its present one. The last path has space for everything;
// level 0 is always in the first. (For levels of their configured size that is RocksDB's rule.)
size_t PathOfLevel(const PickerInput& input, const PickerConfig& config, int level);
// All files of the table are in the level's path, so it may move there by the manifest alone.
bool SettlesOn(const PickerInput& input, const PickerConfig& config, const PickerTable& table,
               int level);

// What a job costs in addition to its bytes (two syncs, the manifest), in bytes.
inline constexpr uint64_t kConsolidationFixedCost = 1 << 20;
// The table, or the tables with those below them, where scans have lost most per
// byte of a rewrite; empty if no loss has paid for its rewrite.
CompactionPlan PickByScans(const PickerInput& input, const PickerConfig& config);

CompactionPlan PickCompaction(const PickerInput& input, const PickerConfig& config);

// Tables that are dropped by the manifest alone.
struct DropPlan {
  struct Table {
    size_t level, index;
  };
  std::vector<Table> tables;
  const char* reason = "";
};
// With `fifo`, instead of PickCompaction: the oldest tables that have expired or, if none has,
// those above fifo_bytes. Nothing while a table is busy.
DropPlan PickFifo(const PickerInput& input, const PickerConfig& config);

// A delta of memtables is merged into tables with at most this many times its bytes.
inline constexpr uint64_t kMaxMergeFanOut = 24;

// With one_level: the level of the data: the first below 0 with tables, or level 1.
int DataLevel(const PickerInput& input);
// Memtables with these bounds, and level 0 with them, merge straight into level 1 or, with
// one_level, into the data level. Empty if that is not worth the directories to be rewritten
// (rule 10), or if a table is busy: then they become a run on level 0.
CompactionPlan PickMemTableMerge(const PickerInput& input, const PickerConfig& config,
                                 const TphMeta& bounds, uint64_t bytes);

struct ManualRange {
  const Slice* begin = nullptr;
  const Slice* end = nullptr;  // inclusive, as rocksdb::DB::CompactRange has it
  int input_level = 0;
  int output_level = 0;
  bool to_base = false;  // level 0 moves to BaseLevel, if that is deeper than output_level
  // Rewrites, and jobs of level 0, are for tables with a piece below this id; 0: all.
  uint64_t created_before = 0;
  const std::unordered_set<uint64_t>* tables = nullptr;  // only these, by id; null: all
  std::optional<size_t> path;  // for the files; none: that of the output level
  // Rewrites: only tables where snapshots kept more than kLeastReleasedPercent.
  bool released = false;
  uint32_t threads = 0;  // at most; 0: as the options have it
};
// A caller's request rewrites for less than the background does.
inline constexpr uint32_t kLeastReleasedPercent = 10;
// Rewriting the table frees more than `percent` of what stays, of bytes that snapshots kept.
bool FreesEnough(uint64_t data_bytes, uint64_t released_bytes, uint32_t percent);
// Sets *conflict if needed tables are busy.
CompactionPlan PickManual(const PickerInput& input, const PickerConfig& config,
                          const ManualRange& range, bool* conflict);

// Sets plan->bases to the tables of the output level that overlap the span of
// plan->inputs, and plan->hash_range. False if one of them is busy.
bool ChooseBases(const PickerInput& input, const PickerConfig& config, CompactionPlan* plan);

// Two tables, or ranges that jobs write to, cannot both be on one level below 0.
bool MayNotShareLevel(const Comparator* cmp, const TphMeta& a, const TphMeta& b);
// True if [a.smallest, a.largest] and [b.smallest, b.largest] share a key.
bool Overlap(const Comparator* cmp, const TphMeta& a, const TphMeta& b);
bool OverlapsRange(const Comparator* cmp, const TphMeta& t, const Slice* begin, const Slice* end);

}  // namespace compassdb
