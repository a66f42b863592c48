// SPDX-License-Identifier: Apache-2.0
// Notifies the application's EventListeners. Called without locks.
//
// Thread safety: all methods, except SetDatabase.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/open/db_config.h"
#include "family/column_family.h"
#include "rocksdb/listener.h"
#include "store/store.h"

namespace compassdb {

struct JobContext {
  const DbConfig* config = nullptr;
  std::string db_id;
  int job_id = 0;
  std::shared_ptr<ColumnFamily> family;
};

// Counts of a job's records, or of a part of a job.
void AddRecords(const JobReport& report, rocksdb::CompactionJobStats* stats);

// The information about a compaction for listeners.
rocksdb::CompactionJobInfo CompactionInfo(const JobContext& job, const JobReport& report,
                                          bool manual, const Status& status);

// The compression of a job's output on the level.
rocksdb::CompressionType CompressionOf(const JobContext& job, int level);
rocksdb::TableProperties PropertiesOf(const JobContext& job, const JobReport& report);
// The part of the tables that is in the file.
rocksdb::TableProperties PropertiesOfFile(const JobContext& job, const std::vector<TphMeta>& tables,
                                          uint64_t file_number);
// The same for a job's output: with its compression, and the session that wrote it.
rocksdb::TableProperties PropertiesOfOutput(const JobContext& job, const JobReport& report,
                                            uint64_t file_number);
// The checksum of a new file. Without a checksum: RocksDB's "Unknown".
FileChecksum KnownChecksum(const JobReport& report, uint64_t file_number);
// "ManualCompaction" and the like, as in RocksDB's LOG, too.
const char* CompactionReasonName(const JobReport& report, bool manual);
// "Manual Flush" and the like, as RocksDB's LOG has them.
const char* FlushReasonName(rocksdb::FlushReason reason);

class Listeners {
 public:
  explicit Listeners(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners)
      : listeners_(std::move(listeners)) {}
  // What listeners of jobs get. Before the first job.
  void SetDatabase(rocksdb::DB* db) { db_ = db; }
  bool empty() const { return listeners_.empty(); }

  void FlushBegin(const JobContext& job, rocksdb::FlushReason reason) const;
  void FlushCompleted(const JobContext& job, rocksdb::FlushReason reason,
                      const JobReport& report) const;
  // `inputs`: as CompactionTask::ListInputs gives them.
  void CompactionBegin(const JobContext& job, const JobReport& inputs, bool manual) const;
  void CompactionCompleted(const JobContext& job, const JobReport& report, bool manual,
                           const Status& status) const;
  void SubcompactionBegin(const rocksdb::SubcompactionJobInfo& info) const;
  void SubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) const;
  void TableFileStarted(const rocksdb::TableFileCreationBriefInfo& info) const;
  void TableFileCreated(const rocksdb::TableFileCreationInfo& info) const;
  void ValueFileStarted(const rocksdb::BlobFileCreationBriefInfo& info) const;
  void ValueFileCreated(const rocksdb::BlobFileCreationInfo& info) const;
  void ValueFileDeleted(const std::string& db_name, const std::string& path, int job_id,
                        const Status& status) const;
  void FileDeleted(const std::string& db_name, const std::string& path, int job_id,
                   const Status& status) const;
  void FileIngested(const rocksdb::ExternalFileIngestionInfo& info) const;
  void MemTableSealed(const rocksdb::MemTableInfo& info) const;
  void HandleDeletion(rocksdb::ColumnFamilyHandle* handle) const;
  void StallChanged(const rocksdb::WriteStallInfo& info) const;
  // Listeners may overwrite *error with OK to suppress it.
  void BackgroundError(rocksdb::BackgroundErrorReason reason, Status* error) const;
  // The engine will resume by itself. False: a listener refuses that.
  bool ErrorRecoveryBegins(rocksdb::BackgroundErrorReason reason, const Status& error) const;
  // `new_error`: OK, or why the engine has stopped trying.
  void ErrorRecoveryEnds(const Status& old_error, const Status& new_error) const;

 private:
  const std::vector<std::shared_ptr<rocksdb::EventListener>> listeners_;
  rocksdb::DB* db_ = nullptr;
};

}  // namespace compassdb
