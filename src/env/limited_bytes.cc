// SPDX-License-Identifier: Apache-2.0
#include "env/limited_bytes.h"

#include <algorithm>

namespace compassdb {

void RequestInBursts(rocksdb::RateLimiter* limiter, uint64_t bytes,
                     rocksdb::Env::IOPriority priority, rocksdb::RateLimiter::OpType type) {
  const auto burst = static_cast<uint64_t>(std::max<int64_t>(1, limiter->GetSingleBurstBytes()));
  while (bytes > 0) {
    const uint64_t part = std::min(bytes, burst);
    limiter->Request(static_cast<int64_t>(part), priority, nullptr, type);
    bytes -= part;
  }
}

}  // namespace compassdb
