// SPDX-License-Identifier: Apache-2.0
// Writes all of a column family into one table file, for another database to import.
//
// Thread safety: all methods.
#pragma once

#include <string>

#include "db/open/db_config.h"
#include "db/read/reader.h"
#include "rocksdb/metadata.h"

namespace compassdb {

class TableExporter {
 public:
  // `last_sequence`: the newest that readers may see. All of it outlives this.
  TableExporter(const DbConfig& config, bool read_only, const std::atomic<SequenceNumber>& last_sequence, Reader& reader)
      : config_(config), read_only_(read_only), last_sequence_(last_sequence), reader_(reader) {}

  // Memtables are exported only if the database is read-only: otherwise the caller has flushed them. An empty family
  // gives no file.
  Status Export(ColumnFamilyHandle* handle, const std::string& path, rocksdb::LiveFileMetaData* metadata,
                bool* written);

 private:
  struct Source;
  Status Open(ColumnFamilyHandle* handle, Source* source) const;
  Status Write(const Source& source, const std::string& path, rocksdb::LiveFileMetaData* metadata) const;

  const DbConfig& config_;
  const bool read_only_;
  const std::atomic<SequenceNumber>& last_sequence_;
  Reader& reader_;
};

}  // namespace compassdb
