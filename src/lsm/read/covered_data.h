// SPDX-License-Identifier: Apache-2.0
// How much a table's range tombstones hide. A compaction drops the covered records when it merges them, and only
// then their separated values are known to be dead.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "format/internal_key.h"
#include "lsm/version/lsm_version.h"
#include "rocksdb/comparator.h"

namespace compassdb {

struct CoveredData {
  uint64_t bytes = 0;  // of live data in the table itself and below it, estimated
  SequenceNumber oldest = kMaxSequenceNumber;  // of its range tombstones
};

// Reads the range tombstones and separators. The table is or will be on that level of the version. Tables in
// `gone` (ids) do not count.
CoveredData CoveredBy(const Comparator* comparator, const TableHandle& table, int level,
                      const LsmVersion& version, const std::unordered_set<uint64_t>& gone);

}  // namespace compassdb
