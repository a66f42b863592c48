// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "iter/internal_iterator.h"
#include "lsm/table_handle.h"

namespace compassdb {

// Walks the tables of one level (disjoint, by key), opening one at a time.
// The tables are pinned by the caller for the iterator's life.
InternalIteratorPtr NewLevelIterator(const Comparator* user_comparator,
                                     const std::vector<TableRef>* tables,
                                     const BlockReadOptions& read);

// The last table whose smallest key is <= user_key; -1 if there is none.
int FindTable(const Comparator* user_comparator, const std::vector<TableRef>& tables,
              const Slice& user_key);

}  // namespace compassdb
