// SPDX-License-Identifier: Apache-2.0
// The stored form of wide columns:
//
//   version, varint32: 1
//   number of columns, varint32
//   per column: name (varint32 length, bytes), varint32 length of the value
//   the values, one after another
//
// Columns are sorted by name, bytewise, and names differ. Values are at the end so that one column is
// found without reading the values before it.
#pragma once

#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/wide_columns.h"

namespace compassdb {

inline constexpr uint32_t kWideColumnsVersion = 1;

// Appends the stored form to *out; sorts a copy if necessary. Corruption for a name that occurs twice (as in
// RocksDB), InvalidArgument for names or values of 4 GiB and more; *out is then unchanged.
rocksdb::Status EncodeWideColumns(const rocksdb::WideColumns& columns, std::string* out);

// Makes *columns refer to parts of `input`. Corruption if it does not parse; *columns is then empty.
rocksdb::Status DecodeWideColumns(rocksdb::Slice input, rocksdb::WideColumns* columns);

// The value of the default column (empty name); an empty slice if there is none.
rocksdb::Status DefaultWideColumn(const rocksdb::Slice& input, rocksdb::Slice* value);

}  // namespace compassdb
