// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "iter/internal_iterator.h"
#include "lsm/version/table_handle.h"

namespace compassdb {

// The records of tables that share no key and are listed by key, one table open at a time. Forward
// only. Pins nothing: the tables outlive it.
InternalIteratorPtr NewTableRunIterator(const Comparator* comparator,
                                        const std::vector<TableRef>& tables,
                                        const BlockReadOptions& read);

}  // namespace compassdb
