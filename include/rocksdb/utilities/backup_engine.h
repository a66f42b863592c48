// SPDX-License-Identifier: Apache-2.0
//
// Backups of a database in a directory that shares files between them. The
// format is described in docs/formats/backup.md.

#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/io_status.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Names of checksum functions, of database files and of backup files.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";
constexpr char kBackupFileChecksumFuncName[] = "crc32c";

struct BackupEngineOptions {
  // The directory of the backups; not that of a database.
  std::string backup_dir;

  // The Env of the backup directory; null: that of the database.
  Env* backup_env;

  // Table files are stored once, however many backups need them. Otherwise each backup has all of
  // its files for itself.
  bool share_table_files;

  // What is done, and errors; may be null.
  Logger* info_log;

  // Backups and restored databases are durable when the call returns.
  bool sync;

  // Open() deletes all existing backups.
  bool destroy_old_data;

  // Copy the write-ahead logs.
  bool backup_log_files;

  // Bytes per second that backups write; 0: no limit. A limiter takes precedence, and if it
  // limits reads, they count, too.
  uint64_t backup_rate_limit;
  std::shared_ptr<RateLimiter> backup_rate_limiter{nullptr};

  // The same of restoring.
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};

  // Shared files are distinguished by more than their number. With false, only by number and
  // identity of the file, and they are in another folder.
  bool share_files_with_checksum;

  // Threads that copy.
  int max_background_operations;

  // Bytes copied between two calls of the progress callback.
  uint64_t callback_trigger_interval_size;

  // A read-only engine opens at most this number, the latest that are not corrupt.
  int max_valid_backups_to_open;

  // How shared files are named, with share_files_with_checksum.
  enum ShareFilesNaming : uint32_t {
    // Number, checksum, size. The file must be read before it is known whether it exists.
    kLegacyCrc32cAndFileSize = 1U,

    // Number and an identity of the file, which is known without reading it.
    kUseDbSessionId = 2U,

    kMaskNoNamingFlags = 0xffffU,

    // The size, too.
    kFlagIncludeFileSize = 1U << 31,

    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  ShareFilesNaming share_files_with_checksum_naming;

  // The version of RocksDB's metadata files; CompassDB's have a version of their own.
  int schema_version = 1;

  // Files have no temperatures here.
  bool current_temperatures_override_manifest = false;

  void Dump(Logger* logger) const;

  explicit BackupEngineOptions(
      const std::string& _backup_dir, Env* _backup_env = nullptr,
      bool _share_table_files = true, Logger* _info_log = nullptr,
      bool _sync = true, bool _destroy_old_data = false,
      bool _backup_log_files = true, uint64_t _backup_rate_limit = 0,
      uint64_t _restore_rate_limit = 0, int _max_background_operations = 1,
      uint64_t _callback_trigger_interval_size = 4 * 1024 * 1024,
      int _max_valid_backups_to_open = INT_MAX,
      ShareFilesNaming _share_files_with_checksum_naming =
          static_cast<ShareFilesNaming>(kUseDbSessionId | kFlagIncludeFileSize))
      : backup_dir(_backup_dir),
        backup_env(_backup_env),
        share_table_files(_share_table_files),
        info_log(_info_log),
        sync(_sync),
        destroy_old_data(_destroy_old_data),
        backup_log_files(_backup_log_files),
        backup_rate_limit(_backup_rate_limit),
        restore_rate_limit(_restore_rate_limit),
        share_files_with_checksum(true),
        max_background_operations(_max_background_operations),
        callback_trigger_interval_size(_callback_trigger_interval_size),
        max_valid_backups_to_open(_max_valid_backups_to_open),
        share_files_with_checksum_naming(_share_files_with_checksum_naming) {}
};

inline BackupEngineOptions::ShareFilesNaming operator&(
    BackupEngineOptions::ShareFilesNaming lhs,
    BackupEngineOptions::ShareFilesNaming rhs) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(lhs) &
                                                            static_cast<uint32_t>(rhs));
}

inline BackupEngineOptions::ShareFilesNaming operator|(
    BackupEngineOptions::ShareFilesNaming lhs,
    BackupEngineOptions::ShareFilesNaming rhs) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(lhs) |
                                                            static_cast<uint32_t>(rhs));
}

struct CreateBackupOptions {
  // Flush memtables, rather than rely on the logs.
  bool flush_before_backup = false;

  // Called every callback_trigger_interval_size bytes, by the threads that copy. Must not throw.
  std::function<void()> progress_callback = []() {};

  // The threads that copy run with less priority from now on.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

struct RestoreOptions {
  // Existing write-ahead logs stay, archived ones join them, and none is restored over them.
  bool keep_log_files;

  explicit RestoreOptions(bool _keep_log_files = false)
      : keep_log_files(_keep_log_files) {}
};

using BackupID = uint32_t;

using BackupFileInfo = FileStorageInfo;

struct BackupInfo {
  BackupID backup_id = 0U;

  // Seconds since 1970.
  int64_t timestamp = 0;

  // Bytes of all its files, also those that it shares.
  uint64_t size = 0U;
  uint32_t number_files = 0U;

  // As the application gave it.
  std::string app_metadata;

  // The rest only if asked for: the files, relative to the backup directory,
  std::vector<BackupFileInfo> file_details;

  // and how to open the backup with DB::OpenForReadOnly() where it is: the name of the database
  // and its Env, which must live as long as the database.
  std::string name_for_open;
  std::shared_ptr<Env> env_for_open;

  BackupInfo() {}

  BackupInfo(BackupID _backup_id, int64_t _timestamp, uint64_t _size,
             uint32_t _number_files, const std::string& _app_metadata)
      : backup_id(_backup_id),
        timestamp(_timestamp),
        size(_size),
        number_files(_number_files),
        app_metadata(_app_metadata) {}
};

class BackupStatistics {
 public:
  BackupStatistics() {
    number_success_backup = 0;
    number_fail_backup = 0;
  }

  BackupStatistics(uint32_t _number_success_backup,
                   uint32_t _number_fail_backup)
      : number_success_backup(_number_success_backup),
        number_fail_backup(_number_fail_backup) {}

  ~BackupStatistics() {}

  void IncrementNumberSuccessBackup();
  void IncrementNumberFailBackup();

  uint32_t GetNumberSuccessBackup() const;
  uint32_t GetNumberFailBackup() const;

  std::string ToString() const;

 private:
  uint32_t number_success_backup;
  uint32_t number_fail_backup;
};

// What changes nothing in the backup directory.
class BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() {}

  // For the latest good backup; NotFound if there is none.
  virtual Status GetLatestBackupInfo(
      BackupInfo* backup_info, bool include_file_details = false) const = 0;

  // NotFound if there is no such backup, Corruption if it is known to be damaged.
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;

  // All good ones, by number.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;

  virtual void GetCorruptedBackups(
      std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Replaces what is in the two directories (which may be one) by the backup. Every file is checked
  // against its checksum on the way.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options,
                                       BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(
      BackupID backup_id, const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }

  virtual IOStatus RestoreDBFromLatestBackup(
      const RestoreOptions& options, const std::string& db_dir,
      const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Files exist and are as long as they were; verify_with_checksum reads them, too.
  virtual IOStatus VerifyBackup(BackupID backup_id,
                                bool verify_with_checksum = false) const = 0;
};

// What adds to the backup directory.
class BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() {}

  // The database's state at some moment during the call.
  virtual IOStatus CreateNewBackupWithMetadata(
      const CreateBackupOptions& options, DB* db,
      const std::string& app_metadata, BackupID* new_backup_id = nullptr) = 0;
  virtual IOStatus CreateNewBackupWithMetadata(
      DB* db, const std::string& app_metadata, bool flush_before_backup = false,
      std::function<void()> progress_callback = []() {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = progress_callback;
    return CreateNewBackupWithMetadata(options, db, app_metadata);
  }

  virtual IOStatus CreateNewBackup(const CreateBackupOptions& options, DB* db,
                                   BackupID* new_backup_id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, "", new_backup_id);
  }
  virtual IOStatus CreateNewBackup(
      DB* db, bool flush_before_backup = false,
      std::function<void()> progress_callback = []() {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = progress_callback;
    return CreateNewBackup(options, db);
  }

  // From any thread: the backup under way, and every later one of this engine, ends with Incomplete.
  // Does not wait.
  virtual void StopBackup() = 0;

  // Deletes what unfinished calls left.
  virtual IOStatus GarbageCollect() = 0;
};

// Thread safety: all methods; those that change something run alone, StopBackup() at any time. One
// engine at a time should be open on a directory to change it.
class BackupEngine : public BackupEngineReadOnlyBase,
                     public BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngine() {}

  // Makes the directory if it is missing. The caller deletes the engine.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Deletes all except this number of the latest good backups.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;

  // Deletes one, also a damaged one.
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

class BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnly() {}

  // NotFound if there are no backups.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace ROCKSDB_NAMESPACE
