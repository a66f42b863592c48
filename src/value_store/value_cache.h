// SPDX-License-Identifier: Apache-2.0
// Separated values in a cache, by their numbers: a collection does not invalidate them.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"
#include "value_store/value_run.h"

namespace compassdb {

// The context has a cache. False if the value is not in it; else *value is pinned to it.
bool FindCachedValue(const ValueContext& context, uint64_t number, rocksdb::PinnableSlice* value);
// Adds a copy; it is no error if there is no space.
void KeepValue(const ValueContext& context, uint64_t number, const Slice& value);
// For ValueContext::cache_space: differs between all databases and families of a process.
uint64_t NewValueCacheSpace();

}  // namespace compassdb
