// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <climits>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// When universal compaction stops adding runs to a job: at a run whose size is not similar to the
// next one's, or to the total of those already picked.
enum CompactionStopStyle {
  kCompactionStopStyleSimilarSize,
  kCompactionStopStyleTotalSize
};

// Universal (tiered) compaction: sorted runs of similar age are merged, so that each entry is
// rewritten less often, at the price of more space and slower scans.
class CompactionOptionsUniversal {
 public:
  // A run is added while its size is within this many per cent of the next. Default: 1.
  unsigned int size_ratio;

  // Fewest and most runs in a job. Defaults: 2 and no limit.
  unsigned int min_merge_width;
  unsigned int max_merge_width;

  // Space beyond the size of the data, in per cent, from which everything is merged. Default: 200.
  unsigned int max_size_amplification_percent;

  // Share of the data, in per cent, that is compressed, the oldest first; -1 for all of it.
  // Default: -1.
  int compression_size_percent;

  // Default: kCompactionStopStyleTotalSize.
  CompactionStopStyle stop_style;

  // Move files that overlap nothing instead of rewriting them. Default: false.
  bool allow_trivial_move;

  // Spread a large job over several small ones. Default: false.
  bool incremental;

  // The defaults.
  CompactionOptionsUniversal()
      : size_ratio(1),
        min_merge_width(2),
        max_merge_width(UINT_MAX),
        max_size_amplification_percent(200),
        compression_size_percent(-1),
        stop_style(kCompactionStopStyleTotalSize),
        allow_trivial_move(false),
        incremental(false) {}
};

}  // namespace ROCKSDB_NAMESPACE
