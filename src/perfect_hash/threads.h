// SPDX-License-Identifier: Apache-2.0
// A ParallelFor for callers without an executor of their own.
#pragma once

#include "perfect_hash/build_options.h"

namespace compassdb::perfect_hash {

// Runs tasks on the calling thread and up to `threads` - 1 more, which live until all are done. If
// the system refuses threads, fewer do the work.
ParallelFor RunOnThreads(unsigned threads);

}  // namespace compassdb::perfect_hash
