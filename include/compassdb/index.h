// SPDX-License-Identifier: Apache-2.0
//
// The index of a column family: directories and separators.
//
// An open reads none of it; each part is read at its first use. The property
// "compassdb.index-memory" has the bytes in memory. Its parts are
// "compassdb.index-memory-perfect-hash", "-fingerprints", "-pieces" (the piece of each key),
// "-separators", "-block-offsets", "-filters", "-values" (places of separated values) and "-other".
// The last one is objects, key bounds, range tombstones, and the overhead of malloc.

#pragma once

#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace compassdb {

// Loads the whole index of the family, so that the first reads do not wait for it. If the index is
// in the block cache, as much of it stays as fits. Returns the error of the first part that cannot
// be read; parts that were loaded before stay.
rocksdb::Status LoadIndex(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);

}  // namespace compassdb
