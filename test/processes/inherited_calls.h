// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/c.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/transaction.h"

namespace compassdb_test {

// The open objects of a process that forks. Null: it has none.
struct OpenObjects {
  rocksdb::DB* db = nullptr;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  const rocksdb::Snapshot* snapshot = nullptr;
  rocksdb::Iterator* iterator = nullptr;
  rocksdb::Iterator* overlay = nullptr;  // of the transaction
  rocksdb::Transaction* transaction = nullptr;
  rocksdb::TransactionLogIterator* log = nullptr;
  rocksdb::BackupEngine* backups = nullptr;
  rocksdb::BackupEngineReadOnly* backups_to_read = nullptr;
  rocksdb::Checkpoint* checkpoint = nullptr;
  rocksdb::SstFileWriter* writer = nullptr;
  rocksdb::SstFileReader* reader = nullptr;
  rocksdb::WritableFile* file = nullptr;
  rocksdb::Logger* logger = nullptr;
  rocksdb_t* c_db = nullptr;
};

// Calls every method, in a child. Returns the calls with wrong results. No file may be created
// at a path that begins with `scratch`.
std::vector<std::string> CallInherited(const OpenObjects& open, const std::string& scratch);

// Deletes them all.
void DeleteInherited(OpenObjects* open);

}  // namespace compassdb_test
