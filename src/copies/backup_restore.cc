// SPDX-License-Identifier: Apache-2.0
// Restoring a backup. The directory is marked as unfinished before anything in it changes, until the end. CURRENT is
// deleted first and comes last.
#include <set>

#include "copies/backup_engine_impl.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "manifest/ownership.h"
#include "manifest/unfinished.h"
#include "util/parallel.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

// Deletes the files of a database in `dir`, if there is such a directory.
Status EmptyDir(FileSystem* fs, const std::string& dir, bool keep_logs) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (IsMissing(s)) return Status::OK();
  for (const std::string& name : names) {
    if (!s.ok()) break;
    if (name == kUnfinishedFileName) continue;
    uint64_t number = 0;
    FileType type = FileType::kTemp;
    if (!ParseFileName(name, &number, &type) && !IsRocksDBTableName(name)) continue;
    if (type == FileType::kLock || (keep_logs && type == FileType::kWal)) continue;
    Status deleted = fs->DeleteFile(JoinPath(dir, name));
    if (!IsMissing(deleted)) s = deleted;
  }
  return s;
}

// Logs in a directory that nothing says the owner of: those of the database in `db_dir`, by its id.
Status CheckLogs(FileSystem* fs, const std::string& db_dir, const std::string& wal_dir) {
  std::string id, log_id;
  std::vector<uint64_t> logs;
  ReadFileToString(fs, IdentityFileName(db_dir), &id).PermitUncheckedError();
  Status s = ListWals(fs, wal_dir, 0, &logs);
  if (IsMissing(s)) return Status::OK();
  for (const uint64_t number : logs) {
    if (s.ok()) s = IdOfLog(fs, wal_dir, number, &log_id);
    if (!s.ok() || log_id.empty() || log_id == id) continue;
    s = Status::InvalidArgument(WalFileName(wal_dir, number), "belongs to the database " + log_id + ", not to the one in " + db_dir);
  }
  return s;
}

// The database that makes way may have files elsewhere, which go with it; files of others stay, and are an error.
Status ClearOtherDirs(FileSystem* fs, const std::string& db_dir, const std::string& wal_dir) {
  Ownership ownership(fs, db_dir);
  Status s = ownership.Load();
  if (s.IsCorruption()) s = Status::OK();  // it makes way, and what it named stays where it is
  if (s.ok()) s = ownership.Check(wal_dir, "wal_dir");
  if (s.ok() && ownership.IsOutside(wal_dir) && !ownership.IsOwn(wal_dir)) s = CheckLogs(fs, db_dir, wal_dir);
  for (const TablePlace& place : ownership.places().tables) {
    if (!s.ok() || !ownership.IsOutside(place.dir) || !ownership.IsOwn(place.dir)) continue;
    std::vector<std::string> names;
    if (!fs->GetChildren(place.dir, &names).ok()) continue;
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (!ParseFileName(name, &number, &type)) continue;
      if (type != FileType::kPieceFile && type != FileType::kPageFile && type != FileType::kOwner) continue;
      if (s = fs->DeleteFile(JoinPath(place.dir, name)); !s.ok()) break;
    }
  }
  return s;
}

// With logs in a directory of their own, the database says so, and the directory says whose they are.
Status RecordWalDir(FileSystem* fs, const std::string& db_dir, const std::string& wal_dir) {
  Ownership ownership(fs, db_dir);
  std::string logs, home;
  Status s = fs->GetRealPath(wal_dir, &logs);
  if (s.ok()) s = fs->GetRealPath(db_dir, &home);
  if (!s.ok() || logs == home) return s;
  Places places;
  places.token = NewPlaceToken();
  places.wal_dir = wal_dir;
  s = WritePlaces(fs, db_dir, places);
  return s.ok() && ownership.IsOutside(wal_dir) ? WriteOwner(fs, wal_dir, {"", home, places.token}) : s;
}

Status MoveArchivedLogs(FileSystem* fs, const std::string& wal_dir) {
  const std::string archive = JoinPath(wal_dir, "archive");
  std::vector<std::string> names;
  Status s = fs->GetChildren(archive, &names);
  if (IsMissing(s)) return Status::OK();
  for (const std::string& name : names) {
    if (s.ok()) s = fs->RenameFile(JoinPath(archive, name), JoinPath(wal_dir, name));
  }
  return s;
}

// Whether a database could consist of them, before the one that is there makes way.
Status CheckNames(const std::string& meta_path, const std::vector<BackupFile>& files) {
  std::set<std::string> seen;
  for (const BackupFile& file : files) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(file.name, &number, &type) || type == FileType::kLock) {
      return Status::Corruption(meta_path, "names the unknown file " + file.name);
    }
    if (!seen.insert(file.name).second) return Status::Corruption(meta_path, "names twice the file " + file.name);
  }
  return Status::OK();
}

}  // namespace

IOStatus BackupEngineImpl::RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                                               const std::string& db_dir,
                                               const std::string& wal_dir) const {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::shared_lock<std::shared_mutex> shared(mu_);
  return status_to_io_status(Restore(options, id, db_dir, wal_dir));
}

IOStatus BackupEngineImpl::RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                                     const std::string& db_dir,
                                                     const std::string& wal_dir) const {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::shared_lock<std::shared_mutex> shared(mu_);
  return status_to_io_status(Restore(options, LatestGood(), db_dir, wal_dir));
}

Status BackupEngineImpl::Restore(const rocksdb::RestoreOptions& options, BackupID id,
                                 const std::string& db_dir, const std::string& wal_dir) const {
  const Backup* backup = nullptr;
  Status s = Find(id, &backup);
  if (s.ok()) s = CheckNames(MetaPath(id), backup->meta.files);
  if (s.ok()) s = CreateDirDurably(db_fs_.get(), db_dir);
  if (s.ok()) s = CreateDirDurably(db_fs_.get(), wal_dir);
  std::unique_ptr<FileLock> lock;  // the database must not be open
  if (s.ok()) s = db_fs_->LockFile(LockFileName(db_dir), &lock);
  if (s.ok()) s = ClearOtherDirs(db_fs_.get(), db_dir, wal_dir);
  if (s.ok()) {
    s = MarkUnfinished(db_fs_.get(), db_dir, "restore of backup " + std::to_string(id) + " of " + options_.backup_dir);
  }
  if (!s.ok()) return s;
  s = db_fs_->DeleteFile(CurrentFileName(db_dir));
  if (IsMissing(s)) s = Status::OK();
  if (s.ok()) s = db_fs_->SyncDir(db_dir);
  if (s.ok() && !options.keep_log_files) s = EmptyDir(db_fs_.get(), wal_dir, false);
  if (s.ok() && !options.keep_log_files) {
    s = EmptyDir(db_fs_.get(), JoinPath(wal_dir, "archive"), false);
  }
  if (s.ok() && options.keep_log_files) s = MoveArchivedLogs(db_fs_.get(), wal_dir);
  if (s.ok()) s = EmptyDir(db_fs_.get(), db_dir, options.keep_log_files);
  if (!s.ok()) return s;

  CopyControl control;
  control.limiter = restore_limiter_.get();
  control.sync = options_.sync;
  const std::string current = TempFileName(db_dir, 0);
  std::vector<std::function<Status()>> tasks;
  for (const BackupFile& file : backup->meta.files) {
    uint64_t number = 0;
    FileType type;
    ParseFileName(file.name, &number, &type);
    std::string to = JoinPath(type == FileType::kWal ? wal_dir : db_dir, file.name);
    if (type == FileType::kCurrent) to = current;
    if (type == FileType::kWal && options.keep_log_files && db_fs_->FileExists(to).ok()) continue;
    tasks.push_back([this, &file, &control, to] {
      CopySource from;
      from.fs = fs_.get();
      from.path = PathOf(file);
      from.size = file.size;
      CopyResult result;
      Status copied = CopyFile(from, db_fs_.get(), to, control, &result);
      if (copied.ok() && result.crc32c != file.crc32c) {
        copied = Status::Corruption(from.path, "does not have its checksum");
      }
      return copied;
    });
  }
  s = RunInParallel(tasks, options_.max_background_operations, nullptr);
  if (s.ok() && options_.sync) s = db_fs_->SyncDir(db_dir);
  if (s.ok() && options_.sync) s = db_fs_->SyncDir(wal_dir);
  if (s.ok()) s = RecordWalDir(db_fs_.get(), db_dir, wal_dir);
  if (s.ok()) s = db_fs_->RenameFile(current, CurrentFileName(db_dir));
  if (s.ok() && options_.sync) s = db_fs_->SyncDir(db_dir);
  if (s.ok()) s = UnmarkUnfinished(db_fs_.get(), db_dir);
  Log("restored backup " + std::to_string(id) + " to " + db_dir + ": " + s.ToString());
  return s;
}

}  // namespace compassdb
