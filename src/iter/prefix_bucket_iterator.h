// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "iter/internal_iterator.h"
#include "rocksdb/slice_transform.h"

namespace compassdb {

// What iterators without total order see of RocksDB's memtables that hash by prefix: a seek shows the
// keys with the prefix of its target alone, there is no first and no last key, and SeekForPrev finds
// nothing from behind the last key of a prefix. A target without a
// prefix (outside of the extractor's domain) shows all keys. Not thread safe.
InternalIteratorPtr NewPrefixBucketIterator(
    InternalIteratorPtr all, std::shared_ptr<const rocksdb::SliceTransform> extractor,
    size_t timestamp_size);

}  // namespace compassdb
