// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "iter/internal_iterator.h"
#include "lsm/version/table_handle.h"

namespace compassdb {

// Walks the tables of one level (disjoint, by key), opening one at a time, and
// charges each with its cost to a scan. Tables and accounting are pinned by the
// caller for the iterator's life.
struct LevelScan {
  const ScanAccounting* accounting;
  size_t level;
  bool above_others;  // deeper levels hold data
};
InternalIteratorPtr NewLevelIterator(const Comparator* user_comparator,
                                     std::span<const TableRef> tables,
                                     const BlockReadOptions& read, const LevelScan& scan);

// The last table whose smallest key is <= user_key; -1 if there is none.
int FindTable(const Comparator* user_comparator, std::span<const TableRef> tables,
              const Slice& user_key);

// Whether the tables of a level (below 0) are cut by hash.
inline bool IsHashLevel(const std::vector<TableRef>& tables) {
  return !tables.empty() && tables.front()->meta().hash_range;
}
// The last table of such a level whose first search key is <= search_key; -1 if there is none.
int FindTable(const std::vector<TableRef>& tables, uint32_t search_key);

}  // namespace compassdb
