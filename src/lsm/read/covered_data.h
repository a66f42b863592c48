// SPDX-License-Identifier: Apache-2.0
// How much a table's range deletions hide: their covered records go when a compaction meets them, and only then
// are the separated values of these told to be dead.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "format/internal_key.h"
#include "lsm/version/lsm_version.h"
#include "rocksdb/comparator.h"

namespace compassdb {

struct CoveredData {
  uint64_t bytes = 0;  // of living data in the table itself and below it, about
  SequenceNumber oldest = kMaxSequenceNumber;  // of its range deletions
};

// Reads the range deletions and separators. The table is or will be on that level of the version, in which those
// of `gone` (ids) no longer count.
CoveredData CoveredBy(const Comparator* comparator, const TableHandle& table, int level,
                      const LsmVersion& version, const std::unordered_set<uint64_t>& gone);

}  // namespace compassdb
