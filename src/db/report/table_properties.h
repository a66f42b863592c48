// SPDX-License-Identifier: Apache-2.0
// RocksDB's properties of a table, from what pieces keep.
#pragma once

#include "family/column_family.h"
#include "rocksdb/table_properties.h"
#include "table/piece/piece.h"

namespace compassdb {

// Puts RocksDB's two counts among the collected properties (GetDeletedKeys, GetMergeOperands).
void AddCollectedCounts(rocksdb::TableProperties* props);
// Names and texts that follow from the family's options as they are now; tables do not keep them.
void AddOptionNames(const ColumnFamily& family, rocksdb::TableProperties* props);
// Adds a piece to what is told of tables.
void AddPieceProperties(const ColumnFamily& family, const PieceMeta& piece,
                        rocksdb::TableProperties* props);
// The same with what collectors said of it, which is read from its file.
Status ReadPieceProperties(const ColumnFamily& family, const Piece& piece,
                           rocksdb::TableProperties* props);

}  // namespace compassdb
