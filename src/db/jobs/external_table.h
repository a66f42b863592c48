// SPDX-License-Identifier: Apache-2.0
// A table from outside of the database, to be ingested or imported: a table file of ours (manifest/table_file.h), or a
// block-based table of RocksDB, which is read through when it is opened.
//
// Thread safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iter/internal_iterator.h"
#include "manifest/table_file.h"

namespace compassdb {

class ExternalTable {
 public:
  struct Source {
    FileSystem* fs = nullptr;
    std::string path;
    const Comparator* comparator = nullptr;
    // Of an import: the table may be one of a database, and its records keep their sequences.
    bool import = false;
    // Of an import: the largest by its metadata. Tables that RocksDB has ingested may have only that.
    std::optional<SequenceNumber> largest_sequence = {};
  };
  // Errors name the path.
  static Status Open(const Source& source, std::shared_ptr<const ExternalTable>* table);
  // For which IsRocksDbTable is true.
  static Status OpenRocksDbs(const Source& source, std::shared_ptr<const ExternalTable>* table);
  virtual ~ExternalTable() = default;
  ExternalTable(const ExternalTable&) = delete;
  ExternalTable& operator=(const ExternalTable&) = delete;

  const std::string& path() const { return path_; }
  // Without pieces.
  const TableFileInfo& info() const { return info_; }
  // As RocksDB stores them, by name; null for a table of ours.
  virtual const std::map<std::string, std::string>* rocksdb_properties() const { return nullptr; }
  // Reads what a walk over the records does not.
  virtual Status Verify() const = 0;
  virtual Status ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const = 0;
  // The records, forward: only SeekToFirst() and Next() may be called. Does not outlive this.
  virtual InternalIteratorPtr NewIterator() const = 0;

 protected:
  ExternalTable() = default;
  std::string path_;
  TableFileInfo info_;
};

// Whether the file's last bytes are those of a block-based table of RocksDB, or of a table of LevelDB.
Status IsRocksDbTable(FileSystem* fs, const std::string& path, bool* is);

}  // namespace compassdb
