// SPDX-License-Identifier: Apache-2.0
// The processor time that the calling thread asks for.
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

enum class ThreadPriority { kIdle, kLow };

// Lowers it for good: a thread that may not raise it again stays low.
rocksdb::Status LowerThreadPriority(ThreadPriority priority);

}  // namespace compassdb
