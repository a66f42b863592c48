// SPDX-License-Identifier: Apache-2.0
// A block-based table of RocksDB for SstFileReader.
#pragma once

#include <memory>

#include "db/jobs/external_table.h"
#include "rocksdb/table_properties.h"

namespace compassdb {

// Holds all records in memory.
InternalIteratorPtr NewForeignIterator(const ExternalTable& table, const Comparator* comparator);
// Reads every block.
Status VerifyForeignTable(const ExternalTable& table);
// The table is of RocksDB.
std::shared_ptr<rocksdb::TableProperties> ForeignProperties(const ExternalTable& table);

}  // namespace compassdb
