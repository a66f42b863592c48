// SPDX-License-Identifier: Apache-2.0
// From public options to the structs of the layers below.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocksdb/options.h"
#include "store/store.h"

namespace compassdb {

// `options` are sanitised and valid (sanitize.h).
StoreOptions ProjectStoreOptions(const rocksdb::ColumnFamilyOptions& options, uint32_t id,
                                 const std::string& name);

// Of options whose multiples are computed: those must not overflow.
inline constexpr uint64_t kLargestSize = uint64_t{1} << 40;
// From this size on values are separated. 0, RocksDB's default, stands for HashKV's threshold (3.5).
inline constexpr uint64_t kDefaultMinBlobSize = 192;
uint64_t LeastSeparated(const rocksdb::ColumnFamilyOptions& options);

// StoreContext::throttle: takes from the limiter in bursts, flushes before compactions. Empty for
// a null limiter.
std::function<void(uint64_t, bool)> ThrottleOf(std::shared_ptr<rocksdb::RateLimiter> limiter);

}  // namespace compassdb
