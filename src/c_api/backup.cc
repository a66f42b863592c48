// SPDX-License-Identifier: Apache-2.0
// Backups and checkpoints.
#include <memory>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Succeeds;
using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;

namespace {

rocksdb_backup_engine_t* OpenEngine(rocksdb::Env* env, const BackupEngineOptions& options, char** errptr) {
  BackupEngine* engine = nullptr;
  if (!Succeeds(errptr, [&] { return BackupEngine::Open(options, env, &engine); })) return nullptr;
  return MustSucceed([&] { return new rocksdb_backup_engine_t{engine}; });
}

const rocksdb::BackupInfo& Info(const rocksdb_backup_engine_info_t* info, int index) {
  return info->rep[static_cast<size_t>(index)];
}

rocksdb_checkpoint_t* NewCheckpoint(rocksdb::DB* db, char** errptr) {
  rocksdb::Checkpoint* checkpoint = nullptr;
  if (!Succeeds(errptr, [&] { return rocksdb::Checkpoint::Create(db, &checkpoint); })) return nullptr;
  return MustSucceed([&] { return new rocksdb_checkpoint_t{checkpoint}; });
}

}  // namespace

extern "C" {

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options, const char* path,
                                                    char** errptr) {
  return MustSucceed([&] {
    return OpenEngine(options->rep.env,
                      BackupEngineOptions(path, nullptr, true, options->rep.info_log.get()), errptr);
  });
}

rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(const rocksdb_backup_engine_options_t* options,
                                                         rocksdb_env_t* env, char** errptr) {
  return OpenEngine(env->rep, options->rep, errptr);
}

void rocksdb_backup_engine_close(rocksdb_backup_engine_t* be) {
  MustSucceed([&] { delete be->rep; });
  delete be;
}

void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* be, rocksdb_t* db, char** errptr) {
  Succeeds(errptr, [&] { return be->rep->CreateNewBackup(db->rep); });
}

void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* be, rocksdb_t* db,
                                                   unsigned char flush_before_backup, char** errptr) {
  Succeeds(errptr, [&] { return be->rep->CreateNewBackup(db->rep, flush_before_backup != 0); });
}

void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* be, uint32_t num_backups_to_keep,
                                             char** errptr) {
  Succeeds(errptr, [&] { return be->rep->PurgeOldBackups(num_backups_to_keep); });
}

void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* be, uint32_t backup_id, char** errptr) {
  Succeeds(errptr, [&] { return be->rep->VerifyBackup(backup_id); });
}

void rocksdb_backup_engine_restore_db_from_latest_backup(rocksdb_backup_engine_t* be, const char* db_dir,
                                                         const char* wal_dir,
                                                         const rocksdb_restore_options_t* restore_options,
                                                         char** errptr) {
  Succeeds(errptr, [&] { return be->rep->RestoreDBFromLatestBackup(db_dir, wal_dir, restore_options->rep); });
}

void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t* be, const char* db_dir,
                                                  const char* wal_dir,
                                                  const rocksdb_restore_options_t* restore_options,
                                                  const uint32_t backup_id, char** errptr) {
  Succeeds(errptr,
           [&] { return be->rep->RestoreDBFromBackup(backup_id, db_dir, wal_dir, restore_options->rep); });
}

const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(rocksdb_backup_engine_t* be) {
  return OrNull([&]() -> const rocksdb_backup_engine_info_t* {
    auto info = std::make_unique<rocksdb_backup_engine_info_t>();
    be->rep->GetBackupInfo(&info->rep);
    return info.release();
  });
}

int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info) {
  return static_cast<int>(info->rep.size());
}

int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info, int index) {
  return Info(info, index).timestamp;
}

uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info, int index) {
  return Info(info, index).backup_id;
}

uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info, int index) {
  return Info(info, index).size;
}

uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info, int index) {
  return Info(info, index).number_files;
}

void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info) { delete info; }

rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(const char* backup_dir) {
  return OrNull([&] { return new rocksdb_backup_engine_options_t{BackupEngineOptions(backup_dir)}; });
}

void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t* options,
                                                  const char* backup_dir) {
  MustSucceed([&] { options->rep.backup_dir = backup_dir; });
}

void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* options, rocksdb_env_t* env) {
  options->rep.backup_env = env == nullptr ? nullptr : env->rep;
}

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) {
  return NewCheckpoint(db->rep, errptr);
}

rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t* txn_db,
                                                                     char** errptr) {
  return NewCheckpoint(txn_db->rep, errptr);
}

rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* otxn_db, char** errptr) {
  return NewCheckpoint(otxn_db->rep, errptr);
}

void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir,
                               uint64_t log_size_for_flush, char** errptr) {
  Succeeds(errptr, [&] { return checkpoint->rep->CreateCheckpoint(checkpoint_dir, log_size_for_flush); });
}

void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) {
  MustSucceed([&] { delete checkpoint->rep; });
  delete checkpoint;
}

}  // extern "C"
