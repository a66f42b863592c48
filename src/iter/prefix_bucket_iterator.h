// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "iter/internal_iterator.h"
#include "rocksdb/slice_transform.h"

namespace compassdb {

// Behaves like iterators without total order on RocksDB's memtables that hash by prefix: a seek shows
// only the keys with the prefix of its target, there is no first and no last key, and SeekForPrev finds
// nothing after the last key of a prefix. A target without a
// prefix (outside of the extractor's domain) shows all keys. Not thread safe.
InternalIteratorPtr NewPrefixBucketIterator(
    InternalIteratorPtr all, std::shared_ptr<const rocksdb::SliceTransform> extractor,
    size_t timestamp_size);

}  // namespace compassdb
