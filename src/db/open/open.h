// SPDX-License-Identifier: Apache-2.0
// Opens a database: checks it before it changes anything, locks, replays the
// manifest, replays the write-ahead logs, and starts a new manifest and log.
//
// Thread safety: one opener per call, one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/db_impl.h"
#include "db/engine.h"
#include "db/open/new_database.h"
#include "db/open/recovered_state.h"
#include "format/file_names.h"
#include "manifest/ownership.h"
#include "wal/wal_recovery.h"

namespace compassdb {

class DbOpener {
 public:
  struct Request {
    rocksdb::DBOptions options;
    std::string name;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    bool read_only = false;
    bool error_if_wal_file_exists = false;
    std::optional<WalRecoveryMode> wal_recovery_mode;  // instead of the option
    WalRecoveryReport* log_report = nullptr;  // gets the findings in the logs, unless null
    std::vector<std::string> more_table_dirs;  // in addition to those of the options
    bool logs_are_own = false;  // with any ids
    std::string secondary_path;  // a secondary, which is read_only, too; empty: none
  };
  explicit DbOpener(Request request) : request_(std::move(request)) {}

  // On success the caller owns the handles and the database.
  Status Open(std::vector<ColumnFamilyHandle*>* handles, rocksdb::DB** db);

  // The names of the families that a manifest knows. `others`: directories that the options name.
  static Status ListFamilies(FileSystem* fs, const std::string& dir,
                             const std::set<std::string>& others, std::vector<std::string>* names);
  // The files of tables and pages that the manifest names, and the database's id.
  static Status LiveTables(FileSystem* fs, const std::string& dir, std::set<uint64_t>* numbers, std::string* db_id);
  static void AddLiveTables(const RecoveredState& state, std::set<uint64_t>* numbers);

 private:
  // open.cc
  Status OpenOnce(std::vector<ColumnFamilyHandle*>* handles, rocksdb::DB** db);
  Status OpenParts(std::vector<ColumnFamilyHandle*>* handles);
  Status OpenInfoLog(DbConfig* config);
  // For a database that does not exist.
  Status CheckMayCreate(const DbConfig& config) const;
  std::vector<std::string> TableDirsOf(const DbConfig& config) const;
  // No file in another database's directories is read or deleted.
  Status CheckOwnership(const std::string& wal_dir, bool is_new);
  // The directories are this database's from here on. `state` is null for a new database.
  Status ClaimDirs(const RecoveredState* state, uint64_t first_number);
  // Logs that must be replayed, in a directory that is not wal_dir.
  Status CheckLogsElsewhere(const RecoveredState& state) const;
  // Adds the recorded paths that are not in the options: a missing table may be in one of them.
  Status ExplainMissing(const Status& error) const;
  bool IsForeign(const std::string& dir, const std::string& name, FileType type, uint64_t number) const;
  Status SkipNumbersInUse();
  // Deletes what an unfinished replay flushed, or each attempt would leave more files.
  void DeleteNewFiles() const;
  Status CheckRequest();
  Status CheckDirectIo();
  Status Locate(bool* exists);
  Status CreateNew();
  // Commits what the stores need for their options.
  Status CompleteStores();
  Status CreateMissingFamilies();
  Status NoteNewDirs(const DbConfig& config, const std::set<std::string>& dirs, bool is_new);
  void MakeHandles(std::vector<ColumnFamilyHandle*>* handles);
  const rocksdb::ColumnFamilyOptions* OptionsOf(const std::string& family) const;

  DatabaseState& database() const { return engine_->state; }

  // recover.cc
  // Whether a primary has changed it since it was read.
  bool ManifestHasMovedOn(FileSystem* fs) const;
  // *end, if wanted: of what was read.
  static Status ReplayManifest(FileSystem* fs, const std::string& dir, uint64_t number,
                               RecoveredState* state, uint64_t* end = nullptr);
  Status RecoverExisting();
  Status RecoverSecondary();
  Status BuildFamilies(const RecoveredState& state);
  Status ReplayLogs(const RecoveredState& state);
  WalRecordFilter MakeWalFilter(const RecoveredState& state);
  Status ReplayBatch(uint64_t wal_number, const Slice& record, const BatchPlace& place);
  LoggedBatch PlaceOf(uint64_t wal_number, const BatchPlace& place, const Slice& batch);
  Status RelogPrepared();
  Status FlushRecovered(const std::shared_ptr<ColumnFamily>& family);
  Status SyncLogs(const std::vector<uint64_t>& logs);
  Status FinishRecovery(const WalRecoveryReport& report, const std::vector<uint64_t>& logs);
  void ReportDamage(const WalRecoveryReport& report, const std::vector<uint64_t>& logs);
  Status StartWriting(const WalRecoveryReport& report);
  void DeleteLeftovers();

  Request request_;
  bool wal_compression_missing_ = false;  // the configured type is not linked in
  uint64_t current_manifest_ = 0;
  uint64_t manifest_bytes_ = 0;  // before it was read
  std::unique_ptr<FileLock> lock_;  // until there is an engine
  std::optional<NewDatabase> new_database_;  // while one is made, or directories of an existing one
  std::vector<std::string> table_dirs_;
  std::unique_ptr<Engine> recovered_;  // until it is a database's
  std::unique_ptr<DBImpl> db_;
  Engine* engine_ = nullptr;  // of the one or the other
  SyncedMark synced_mark_;     // as it was before the manifest was read
  std::unique_ptr<Ownership> ownership_;  // until there is a database
  std::string recovered_id_;   // of the manifest
  bool copied_ = false;        // there was no IDENTITY file
  bool new_identity_ = false;  // and one was made
  RecoveredTransactions prepared_;  // found in the logs, neither committed nor rolled back
  int job_ = 0;           // of the replay of logs
  bool flushed_ = false;  // some memtable was flushed during replay
  uint64_t first_new_number_ = 0;  // files from it on are of this opening; 0: none is
  bool writing_ = false;           // a manifest may name them
  // Logs behind this one were left out of the replay, and must not be followed.
  uint64_t last_replayed_log_ = UINT64_MAX;
  std::shared_ptr<LogFile> replayed_log_;  // for addresses of values; null: none is open
  std::vector<uint64_t> unused_logs_;  // empty, behind the last one
};

}  // namespace compassdb
