// SPDX-License-Identifier: Apache-2.0
// A table outside of a database: one piece in a file that describes itself
// (docs/formats/table_file.md). SstFileWriter and exports write them; ingestion
// and import read them.
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"
#include "manifest/version_edit.h"
#include "table/file/compaction_file.h"
#include "table/file/file_cache.h"
#include "table/piece/piece.h"
#include "table/piece/piece_builder.h"

namespace compassdb {

struct TableFileInfo {
  std::string comparator;  // its name
  // The column family for which it was written, if `for_family`.
  bool for_family = false;
  uint32_t column_family = 0;
  std::string column_family_name;
  TphMeta table;  // without directory
};

// Internal keys in order, then range tombstones. One thread.
class TableFileWriter {
 public:
  static Status Create(FileSystem* fs, const std::string& path, PieceBuildOptions options,
                       std::unique_ptr<TableFileWriter>* out,
                       std::unique_ptr<rocksdb::FileChecksumGenerator> checksum = nullptr);
  Status Add(const Slice& internal_key, const Slice& value) { return piece_->Add(internal_key, value); }
  void AddRangeTombstone(const RangeTombstone& tombstone);
  // The caller has set all of `info` except the table. Syncs the file, not its directory.
  Status Finish(uint64_t creation_time, TableFileInfo* info);
  uint64_t Bytes() const;  // so far; after Finish of the file
  // The checksum of the whole file, after Finish; null: there is none.
  const rocksdb::FileChecksumGenerator* checksum() const { return file_->checksum(); }

 private:
  TableFileWriter() = default;
  PieceBuildOptions options_;
  std::unique_ptr<CompactionFileWriter> file_;
  std::unique_ptr<PieceBuilder> piece_;
  std::vector<RangeTombstone> tombstones_;
  uint64_t bytes_ = 0;
};

// An open table file. Thread safe.
class TableFile {
 public:
  // Corruption if the file is no table file or damaged, InvalidArgument if its keys are not in the
  // comparator's order (all are read if the file was written with another comparator).
  static Status Open(FileSystem* fs, const std::string& path, const Comparator* comparator,
                     std::unique_ptr<TableFile>* out);
  const TableFileInfo& info() const { return info_; }
  const Piece& piece() const { return *piece_; }
  uint64_t file_bytes() const { return file_->size(); }
  const std::string& path() const { return file_->path(); }

 private:
  TableFile() = default;
  TableFileInfo info_;
  std::shared_ptr<CompactionFile> file_;
  std::unique_ptr<FileCache> files_;  // holds that one file
  std::unique_ptr<Piece> piece_;
};

}  // namespace compassdb
