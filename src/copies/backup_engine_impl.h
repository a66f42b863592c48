// SPDX-License-Identifier: Apache-2.0
// A directory of backups (docs/formats/backup.md).
//
// A backup exists when its description meta/<id> does; everything it names is
// durable before. Files that no description names are leftovers and may be deleted.
//
// Thread safety: as rocksdb::BackupEngine says; mu_ is held shared by what reads
// the directory and alone by what changes it.
// Invariant: known_ holds every description in meta/, readable or not.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "copies/backup_meta.h"
#include "copies/file_copy.h"
#include "copies/live_extents.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "rocksdb/utilities/backup_engine.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::BackupID;
using rocksdb::BackupInfo;
using rocksdb::IOStatus;

class BackupEngineImpl final : public rocksdb::BackupEngine {
 public:
  BackupEngineImpl(const rocksdb::BackupEngineOptions& options, rocksdb::Env* db_env,
                   bool read_only);
  COMPASSDB_DELETED_BY_ITS_PROCESS(BackupEngineImpl, process_)

  // Lists the existing backups.
  Status Open();

  Status GetLatestBackupInfo(BackupInfo* info, bool details) const override;
  Status GetBackupInfo(BackupID id, BackupInfo* info, bool details) const override;
  void GetBackupInfo(std::vector<BackupInfo>* infos, bool details) const override;
  void GetCorruptedBackups(std::vector<BackupID>* ids) const override;
  IOStatus VerifyBackup(BackupID id, bool verify_with_checksum) const override;

  // backup_restore.cc
  IOStatus RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override;
  IOStatus RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                     const std::string& db_dir,
                                     const std::string& wal_dir) const override;

  // backup_create.cc
  IOStatus CreateNewBackupWithMetadata(const rocksdb::CreateBackupOptions& options,
                                       rocksdb::DB* db, const std::string& app_metadata,
                                       BackupID* new_id) override;
  void StopBackup() override { stop_ = true; }

  IOStatus GarbageCollect() override;
  IOStatus PurgeOldBackups(uint32_t keep) override;
  IOStatus DeleteBackup(BackupID id) override;

 private:
  struct Backup {
    BackupMeta meta;
    Status status;  // why it is not good
    mutable std::shared_ptr<rocksdb::Env> env;  // env_mu_; created when it is needed
  };

  std::string MetaDir() const { return options_.backup_dir + "/meta"; }
  std::string MetaPath(BackupID id) const { return MetaDir() + "/" + std::to_string(id); }
  std::string PrivateDir(BackupID id) const {
    return options_.backup_dir + "/private/" + std::to_string(id);
  }
  std::string PathOf(const BackupFile& file) const { return options_.backup_dir + "/" + file.path; }
  Status Load(BackupID id, Backup* backup) const;
  Status Find(BackupID id, const Backup** backup) const;
  BackupID LatestGood() const;
  void Describe(BackupID id, const Backup& backup, bool details, BackupInfo* info) const;
  // The rest with mu_ held alone.
  Status Delete(BackupID id);
  bool SomeUnreadable() const;
  Status CollectGarbage();
  void Log(const std::string& line) const;
  Status SyncIfWanted(const std::string& dir) const;

  // backup_create.cc
  struct Creation;
  Status Create(Creation* creation);
  Status CopyLiveFiles(Creation* creation,
                       const std::vector<rocksdb::LiveFileStorageInfo>& files);
  Status PlaceTableFile(Creation* creation, const rocksdb::LiveFileStorageInfo& live,
                        BackupFile* file, bool* copy);
  std::set<std::string> SharedPaths() const;

  // backup_restore.cc
  Status Restore(const rocksdb::RestoreOptions& options, BackupID id, const std::string& db_dir,
                 const std::string& wal_dir) const;

  const ProcessMark process_;
  const rocksdb::BackupEngineOptions options_;
  const bool read_only_;
  const std::shared_ptr<FileSystem> db_fs_;
  const std::shared_ptr<FileSystem> fs_;  // of the backup directory
  const std::shared_ptr<Clock> clock_;
  rocksdb::Env* const backup_env_;
  std::shared_ptr<rocksdb::RateLimiter> backup_limiter_;
  std::shared_ptr<rocksdb::RateLimiter> restore_limiter_;
  std::atomic<bool> stop_{false};

  mutable std::mutex env_mu_;  // a leaf lock
  mutable std::shared_mutex mu_;
  std::map<BackupID, Backup> known_;  // mu_
  // Made by this engine, or there when it was opened: as in RocksDB no id is given twice, though
  // its backup be deleted.
  BackupID newest_id_ = 0;  // mu_
};

}  // namespace compassdb
