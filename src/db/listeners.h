// SPDX-License-Identifier: Apache-2.0
// Tells the application's EventListeners what happens. Called without locks.
//
// Thread safety: all methods; the list does not change after construction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/column_family.h"
#include "rocksdb/listener.h"
#include "store/store.h"

namespace compassdb {

struct JobContext {
  rocksdb::DB* db = nullptr;
  std::string db_name;
  int job_id = 0;
  std::shared_ptr<ColumnFamily> family;
};

// What a compaction did, as listeners are told of it.
rocksdb::CompactionJobInfo CompactionInfo(const JobContext& job, const JobReport& report,
                                          bool manual, const Status& status);

rocksdb::TableProperties PropertiesOf(const JobContext& job, const JobReport& report);
// Of a new file; of one without a checksum what RocksDB calls unknown.
FileChecksum KnownChecksum(const JobReport& report, uint64_t file_number);
// "Manual Flush" and the like, as RocksDB's LOG has them.
const char* FlushReasonName(rocksdb::FlushReason reason);

class Listeners {
 public:
  explicit Listeners(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners)
      : listeners_(std::move(listeners)) {}
  bool empty() const { return listeners_.empty(); }

  void FlushBegin(const JobContext& job, rocksdb::FlushReason reason) const;
  void FlushCompleted(const JobContext& job, rocksdb::FlushReason reason,
                      const JobReport& report) const;
  void CompactionBegin(const JobContext& job, int input_level, int output_level,
                       bool manual) const;
  void CompactionCompleted(const JobContext& job, const JobReport& report, bool manual,
                           const Status& status) const;
  void FilesCreated(const JobContext& job, const JobReport& report, bool flush,
                    const Status& status) const;
  void ValueFileStarted(const std::string& db_name, const ValueFileStart& start) const;
  void ValueFileDeleted(const std::string& db_name, const std::string& path,
                        const Status& status) const;
  void FileDeleted(const std::string& db_name, const std::string& path,
                   const Status& status) const;
  void FileIngested(rocksdb::DB* db, const rocksdb::ExternalFileIngestionInfo& info) const;
  void MemTableSealed(const rocksdb::MemTableInfo& info) const;
  void HandleDeletion(rocksdb::ColumnFamilyHandle* handle) const;
  void StallChanged(const rocksdb::WriteStallInfo& info) const;
  // Listeners may overwrite *error with OK to suppress it.
  void BackgroundError(rocksdb::BackgroundErrorReason reason, Status* error) const;
  // The engine is going to resume by itself. False: a listener will not have it.
  bool ErrorRecoveryBegins(rocksdb::BackgroundErrorReason reason, const Status& error) const;
  void ErrorRecovered(const Status& old_error) const;

 private:
  const std::vector<std::shared_ptr<rocksdb::EventListener>> listeners_;
};

}  // namespace compassdb
