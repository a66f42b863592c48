// SPDX-License-Identifier: Apache-2.0
// What a FIFO family drops: its oldest tables, above a size or an age.
#include <algorithm>

#include "lsm/policy/picker.h"

namespace compassdb {
namespace {

// All tables, oldest first: the deepest level is the oldest, and the last one of level 0.
std::vector<DropPlan::Table> OldestFirst(const PickerInput& input) {
  std::vector<DropPlan::Table> tables;
  for (size_t level = input.levels.size(); level-- > 0;) {
    for (size_t i = input.levels[level].size(); i-- > 0;) tables.push_back({level, i});
  }
  return tables;
}

// Its newest piece is as old.
bool IsExpired(const PickerTable& table, uint64_t now_seconds, uint64_t ttl_seconds) {
  return std::all_of(table.meta->pieces.begin(), table.meta->pieces.end(), [&](const TphPiece& p) {
    return p.meta->creation_time + ttl_seconds <= now_seconds;
  });
}

}  // namespace

DropPlan PickFifo(const PickerInput& input, const PickerConfig& config) {
  DropPlan plan;
  const std::vector<DropPlan::Table> tables = OldestFirst(input);
  const auto table_of = [&](const DropPlan::Table& at) -> const PickerTable& {
    return input.levels[at.level][at.index];
  };
  uint64_t bytes = 0;
  for (const DropPlan::Table& at : tables) {
    if (table_of(at).busy) return plan;  // one job at a time
    bytes += table_of(at).meta->TotalBytes();
  }
  const uint64_t ttl = config.ttl_seconds;
  if (ttl != 0 && input.now_seconds > ttl) {
    plan.reason = kFifoTtlReason;
    for (const DropPlan::Table& at : tables) {
      if (!IsExpired(table_of(at), input.now_seconds, ttl)) break;
      plan.tables.push_back(at);
    }
    if (!plan.tables.empty()) return plan;
  }
  plan.reason = kFifoSizeReason;
  for (const DropPlan::Table& at : tables) {
    if (bytes <= config.fifo_bytes) break;
    bytes -= table_of(at).meta->TotalBytes();
    plan.tables.push_back(at);
  }
  return plan;
}

}  // namespace compassdb
