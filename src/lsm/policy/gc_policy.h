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
