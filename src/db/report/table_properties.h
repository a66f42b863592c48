// SPDX-License-Identifier: Apache-2.0
// RocksDB's properties of a table, from the properties of its pieces.
#pragma once

#include "family/column_family.h"
#include "rocksdb/table_properties.h"
#include "table/piece/piece.h"

namespace compassdb {

// Puts RocksDB's two counts among the collected properties (GetDeletedKeys, GetMergeOperands).
void AddCollectedCounts(rocksdb::TableProperties* props);
// Names and texts from the family's current options; tables do not store them.
void AddOptionNames(const ColumnFamily& family, rocksdb::TableProperties* props);
// Adds a piece to the properties of tables.
void AddPieceProperties(const ColumnFamily& family, const PieceMeta& piece,
                        rocksdb::TableProperties* props);
// The same with the collected properties, which are read from its file.
Status ReadPieceProperties(const ColumnFamily& family, const Piece& piece,
                           rocksdb::TableProperties* props);

}  // namespace compassdb
