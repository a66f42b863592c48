// SPDX-License-Identifier: Apache-2.0
// The iterator for users: turns internal keys into the user's view at a
// snapshot.
#pragma once

#include <memory>

#include "db/read/iter_source.h"
#include "rocksdb/iterator.h"

namespace compassdb {

// The caller owns the result. Without `renewer` it cannot be refreshed.
rocksdb::Iterator* NewDBIterator(const DBIterOptions& options, DBIterSource source,
                                 std::unique_ptr<DBIterRenewer> renewer = nullptr);

}  // namespace compassdb
