// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace compassdb {

// Which tables of a full level are moved down first, if merges rewrite tables.
enum class InputOrder : uint8_t {
  kLeastOverlap,  // those that overlap the fewest bytes per byte of theirs (BoLT 3.4)
  kLongestAgo,    // those whose range was compacted longest ago
  kOldestNewest,  // those whose newest record is oldest
  kLargest,
};

// What decides which tables and pieces are compacted, and may change while the store is open.
struct CompactionTuning {
  int level0_trigger = 4;
  uint64_t level1_max_bytes = 256ull << 20;
  double level_multiplier = 10;
  std::vector<int> level_multiplier_additional;
  uint64_t target_table_bytes = 32ull << 20;  // live; a table is split at a multiple of it
  uint64_t max_compaction_bytes = 1600ull << 20;
  uint64_t group_compaction_bytes = 64ull << 20;  // of inputs of one job; 0: one input
  InputOrder input_order = InputOrder::kLeastOverlap;  // if merges rewrite tables
  uint32_t max_pieces = 16;
  // A table whose data bytes exceed its live bytes by more is collected, percent.
  uint32_t max_dead_percent = 46;
  uint64_t ttl_seconds = 0;       // 0: off; tables with older data are rewritten whole
  uint64_t periodic_seconds = 0;  // 0: off
  // No table is merged: the oldest are dropped above fifo_bytes, or when all data in them is older
  // than ttl_seconds. Does not change.
  bool fifo = false;
  uint64_t fifo_bytes = 0;

  bool operator==(const CompactionTuning&) const = default;
};

}  // namespace compassdb
