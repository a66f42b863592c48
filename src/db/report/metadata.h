// SPDX-License-Identifier: Apache-2.0
// Metadata of files, in RocksDB's words. A "file" there is a table here: tables share physical
// files, so sizes are those of a table's own extents.
//
// Thread safety: all methods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "family/column_family.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"

namespace compassdb {

// The file that metadata name a table by: the newest that holds a part of it.
uint64_t NewestFile(const TphMeta& tph);

class Metadata {
 public:
  Metadata(const std::string& db_id, const ColumnFamilySet& families, FileCache* files, const ExtentLedger& ledger)
      : db_id_(db_id), families_(families), files_(files), ledger_(ledger) {}

  Status ApproximateSizes(const rocksdb::SizeApproximationOptions& options, ColumnFamily* family,
                          const rocksdb::Range* ranges, int n, uint64_t* sizes) const;
  void ApproximateMemTableStats(ColumnFamily* family, const rocksdb::Range& range, uint64_t* count,
                                uint64_t* size) const;
  // UINT64_MAX if there is no table.
  uint64_t OldestCreationTime() const;
  std::vector<rocksdb::LiveFileMetaData> LiveFiles() const;
  void OfFamily(ColumnFamily* family, rocksdb::ColumnFamilyMetaData* metadata) const;
  std::vector<rocksdb::ColumnFamilyMetaData> OfAllFamilies() const;
  // The properties of the pieces of all tables that overlap a range; null: of all tables.
  Status PropertiesOfTables(ColumnFamily* family, const rocksdb::Range* ranges, size_t n,
                            rocksdb::TablePropertiesCollection* props) const;

 private:
  const std::string& db_id_;  // known when the database is open
  const ColumnFamilySet& families_;
  FileCache* const files_;
  const ExtentLedger& ledger_;
};

}  // namespace compassdb
