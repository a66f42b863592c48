// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "iter/internal_iterator.h"
#include "lsm/table_handle.h"

namespace compassdb {

// Walks the tables of one level (disjoint, by key), opening one at a time, and
// charges them what they cost a scan. Tables and accounting are pinned by the
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

}  // namespace compassdb
