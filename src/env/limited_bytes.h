// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rocksdb/rate_limiter.h"

namespace compassdb {

// Waits until the limiter has admitted this many bytes, requesting at most as many at a time as it
// allows.
void RequestInBursts(rocksdb::RateLimiter* limiter, uint64_t bytes,
                     rocksdb::Env::IOPriority priority, rocksdb::RateLimiter::OpType type);

}  // namespace compassdb
