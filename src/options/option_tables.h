// SPDX-License-Identifier: Apache-2.0
// The tables of all options, one row each (option_info.h).
#pragma once

#include "compassdb/table.h"
#include "options/option_info.h"

namespace compassdb {

const OptionTable<rocksdb::DBOptions>& DbOptionTable();
const OptionTable<rocksdb::ColumnFamilyOptions>& FamilyOptionTable();
const OptionTable<rocksdb::BlockBasedTableOptions>& BlockTableOptionTable();
const OptionTable<PieceTableOptions>& PieceTableOptionTable();
const OptionTable<rocksdb::PlainTableOptions>& PlainTableOptionTable();
const OptionTable<rocksdb::CuckooTableOptions>& CuckooTableOptionTable();

// Nested structs.
const OptionTable<rocksdb::CompressionOptions>& CompressionOptionTable();
const OptionTable<rocksdb::CompactionOptionsUniversal>& UniversalOptionTable();
const OptionTable<rocksdb::CompactionOptionsFIFO>& FifoOptionTable();
const OptionTable<rocksdb::MetadataCacheOptions>& MetadataCacheOptionTable();

}  // namespace compassdb
