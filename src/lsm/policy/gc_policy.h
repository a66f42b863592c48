// SPDX-License-Identifier: Apache-2.0
// Which pieces of a table a merge rewrites (paper 3.5, garbage collection).
// A pure function: no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/compaction_tuning.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

// A table with more live bytes is cut: four to eight times the target, in hash range less where that
// does not fit into memory. Always the same for one table, unless its smallest key changes. So tables
// that grew together are not all cut by the same job, for which writers would have to wait. A cut
// rewrites the whole table, so there should be few of them while data grows.
uint64_t SplitBytes(const TphMeta& base, const CompactionTuning& config);

struct GcChoice {
  // Every piece is rewritten and the result is cut into tables of the target
  // size. Otherwise `victims` (indices into pieces, ascending) are rewritten
  // into the new head together with the delta.
  bool whole = false;
  std::vector<size_t> victims;
};

// A delta of delta_bytes is merged into `base`. `covered`: by piece, estimated data bytes that range tombstones hide
// from all readers; empty: none. They count as dead.
GcChoice ChooseVictimPieces(const TphMeta& base, uint64_t delta_bytes, const CompactionTuning& config,
                            const std::vector<uint64_t>& covered = {});

}  // namespace compassdb
