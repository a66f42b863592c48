// SPDX-License-Identifier: Apache-2.0
// The CPU priority of the calling thread.
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

enum class ThreadPriority { kIdle, kLow };

// Lowers it: a thread that may not raise it again stays low.
rocksdb::Status LowerThreadPriority(ThreadPriority priority);

}  // namespace compassdb
