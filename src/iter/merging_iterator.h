// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "format/internal_key.h"
#include "iter/internal_iterator.h"

namespace compassdb {

// Merges children into one sequence in internal-key order. Entries that are
// equal in different children appear once per child, lower index first
// (moving forward). An error of any child makes the whole invalid, so that
// records after it never count as absent. `cmp` outlives the result.
InternalIteratorPtr NewMergingIterator(const InternalKeyComparator* cmp,
                                       std::vector<InternalIteratorPtr> children);

// An iterator without entries whose status is `status`.
InternalIteratorPtr NewEmptyInternalIterator(const Status& status = Status::OK());

}  // namespace compassdb
