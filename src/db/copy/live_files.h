// SPDX-License-Identifier: Apache-2.0
// The files that a copy of the database is made of, and their checksums.
//
// A copy is of one moment, at which nothing is written (LogLock): the manifest's length, the compaction
// files of that very state, and the logs with their lengths. Deletions are disabled, so that these files
// stay. A job that commits at that moment moves data from logs to tables; either list has it. GetLiveFiles has no
// logs: who lists them apart may miss a commit that logs do not have, such as an ingestion.
// A read-only database disables nothing: its logs are
// those that it has replayed, up to that place. A copy is refused once its primary
// has deleted one of them.
//
// Thread safety: all methods, except Refuse and AddReplayedLog, which are for recovery.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "db/open/db_config.h"
#include "db/space/database_files.h"
#include "db/write/log_lock.h"
#include "family/column_family.h"
#include "rocksdb/db.h"
#include "util/mutex.h"

namespace compassdb {

// What a copy needs from the jobs of the database.
class CopyJobs {
 public:
  // Writes the memtables of all families into tables.
  virtual Status FlushAll() = 0;
  // The ledger allows no deletions from here on: waits for running ones, and for pages that are written in place.
  virtual void AwaitDeletions() = 0;
  // It allows them again: starts pending ones.
  virtual void ResumeDeletions() = 0;

 protected:
  ~CopyJobs() = default;
};

class LiveFiles {
 public:
  // `options_number`: of the newest OPTIONS file that the database has written. `mu`: the database mutex.
  LiveFiles(const DbConfig& config, bool read_only, const ColumnFamilySet& families, const DatabaseFiles& files,
            const std::atomic<uint64_t>& options_number, Mutex* mu, CopyJobs& jobs, LogLock& log_lock)
      : config_(config),
        read_only_(read_only),
        families_(families),
        files_(files),
        options_number_(options_number),
        mu_(mu),
        jobs_(jobs),
        log_lock_(log_lock) {}

  // No copy can be made of this database; the first reason is reported.
  void Refuse(const Status& why) {
    if (refused_.ok()) refused_ = why;
  }
  // For a read-only database.
  void AddReplayedLog(const WalSet::LogInfo& log) { replayed_logs_.push_back(log); }

  void DisableDeletions();
  void EnableDeletions(bool force);
  Status GetLiveFiles(std::vector<std::string>* files, uint64_t* manifest_file_size, bool flush_memtable);
  Status GetStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                        std::vector<rocksdb::LiveFileStorageInfo>* files);

  // Checksums of whole files (whole_file_checksum.cc).
  Status GetChecksumInfo(rocksdb::FileChecksumList* list) const;
  Status VerifyFileChecksums(const rocksdb::ReadOptions& options);
  // Checks all blocks.
  Status VerifyChecksum() const;

 private:
  struct State;
  Status Capture(State* state) const EXCLUDES(*mu_);
  // Both lists of one moment.
  Status CaptureWithLogs(State* state, std::vector<WalSet::LogInfo>* logs) EXCLUDES(*mu_);
  uint64_t NewestOptionsFile() const;

  const DbConfig& config_;
  const bool read_only_;
  const ColumnFamilySet& families_;
  const DatabaseFiles files_;
  const std::atomic<uint64_t>& options_number_;
  Mutex* const mu_;
  CopyJobs& jobs_;
  LogLock& log_lock_;
  Status refused_;
  std::vector<WalSet::LogInfo> replayed_logs_;
};

}  // namespace compassdb
