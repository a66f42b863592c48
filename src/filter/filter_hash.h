// SPDX-License-Identifier: Apache-2.0
// The hash of keys and prefixes in filters: that of RocksDB's filters since format version 5, so that
// both libraries build the same bytes of the same keys. It is an early XXH3, before the algorithm was settled;
// Hash64 in util/hash.h is the final one.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"

namespace compassdb {

uint64_t FilterHash(const rocksdb::Slice& key);

}  // namespace compassdb
