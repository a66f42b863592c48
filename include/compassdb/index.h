// SPDX-License-Identifier: Apache-2.0
//
// The index of a column family: directories and separators.
//
// Opening a database reads none of it; each part is read when it is first used. Properties, of the
// parts that are in memory, in bytes: "compassdb.index-memory", and what it is made of:
// "compassdb.index-memory-perfect-hash", "-fingerprints", "-pieces" (which piece of a table holds a
// key), "-separators", "-block-offsets" and "-other" (objects, key bounds, range tombstones, what malloc adds).

#pragma once

#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace compassdb {

// Loads the whole index of the family, for those who would rather wait now than at their first
// reads. Where the index is in the block cache, only as much of it stays as fits. The error of
// the first part that cannot be read; what was loaded before stays.
rocksdb::Status LoadIndex(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);

}  // namespace compassdb
