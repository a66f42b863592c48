// SPDX-License-Identifier: Apache-2.0
//
// Copies of a database, made while it is in use, that can be opened.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class DB;
class ColumnFamilyHandle;
struct LiveFileMetaData;
struct ExportImportFilesMetaData;

// Thread safety: as the database's.
class Checkpoint {
 public:
  // The caller deletes it, before the database.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);

  // Makes `checkpoint_dir`, which must not exist (InvalidArgument), its parent must. Files that never
  // change are hard links if it is in the same file system, and copies otherwise; the rest is
  // copied. Memtables are flushed first if the logs hold at least log_size_for_flush bytes (0: in any
  // case); what was written without a log is otherwise not in the copy. *sequence_number_ptr
  // is a sequence number that the copy has reached. After a failure nothing is left,
  // unless it follows the renaming: then `checkpoint_dir` stays.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr);

  // Flushes, then writes the column family's tables to `export_dir`, which must not exist, for
  // DB::CreateColumnFamilyWithImport(). The caller deletes *metadata.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle,
                                    const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata);

  virtual ~Checkpoint() {}
};

}  // namespace ROCKSDB_NAMESPACE
