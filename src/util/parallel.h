// SPDX-License-Identifier: Apache-2.0
// Runs independent tasks in several threads.
#pragma once

#include <functional>
#include <vector>

#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Status;

// Calls all tasks in at most `threads` threads that end with this call;
// `start` (may be null) runs first in each of them. The first error is returned, and
// tasks that have not begun by then are left out.
Status RunInParallel(const std::vector<std::function<Status()>>& tasks, int threads,
                     const std::function<void()>& start);

}  // namespace compassdb
