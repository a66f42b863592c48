// SPDX-License-Identifier: Apache-2.0
// Restores a backup. The directory is marked as unfinished before anything in it changes, until the end. CURRENT is
// deleted first and written last.
#include <algorithm>
#include <functional>
#include <set>

#include "copies/backup_engine_impl.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "manifest/foreign_directory.h"
#include "manifest/own_file.h"
#include "manifest/ownership.h"
#include "manifest/unfinished.h"
#include "util/parallel.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

// The directories that a restore replaces, and which of their files are the old database's.
struct OldDatabase {
  bool exists = false;
  OwnFiles files, logs;      // in its directory, and in that of the logs
  std::vector<std::string> other_dirs;  // other than that of the new logs
  bool keeps_files = false;  // of others, with numbers below first_number
};

// Deletes the files in `dir` that are the database's, if there is such a directory.
Status EmptyDir(FileSystem* fs, const std::string& dir, const OwnFiles& own,
                const std::function<bool(FileType)>& wanted) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (IsMissing(s)) return Status::OK();
  for (const std::string& name : names) {
    if (!s.ok()) break;
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || !wanted(type)) continue;
    if (IsOfOthers(fs, dir, name, own)) continue;
    Status deleted = fs->DeleteFile(JoinPath(dir, name));
    if (!IsMissing(deleted)) s = deleted;
  }
  return s;
}

// Foreign files stay. It is an error if the restored database would take one for its own.
Status CheckForOthers(FileSystem* fs, const std::string& dir, const OwnFiles& own, bool keep_logs,
                      const std::vector<BackupFile>& files, OldDatabase* old) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  uint64_t number = 0, smallest = UINT64_MAX;
  FileType type;
  std::set<std::string> restored;
  for (const BackupFile& file : files) {
    if (!ParseFileName(file.name, &number, &type)) continue;
    if (number > 0 && type != FileType::kInfoLog) smallest = std::min(smallest, number);
    restored.insert(file.name);
  }
  const bool may_be_own = old->exists || own.must_show;
  for (const std::string& name : names) {
    if (!ParseFileName(name, &number, &type) || type == FileType::kLock || (keep_logs && type == FileType::kWal)) continue;
    if (may_be_own && !IsOfOthers(fs, dir, name, own)) continue;
    const bool below = number > 0 && number < own.first_number && own.first_number <= smallest;
    old->keeps_files = old->keeps_files || below;
    if (!below && (type == FileType::kWal || restored.count(name) != 0)) {
      return Status::InvalidArgument(JoinPath(dir, name), "is not of a database in this place, and is in the way: move it elsewhere");
    }
  }
  return Status::OK();
}

// The old database may have files in other directories, which are deleted, too. Foreign files stay. Changes nothing.
Status FindOldDatabase(FileSystem* fs, const std::string& db_dir, const std::string& wal_dir, const std::vector<BackupFile>& files,
                      bool keep_logs, OldDatabase* old) {
  Ownership ownership(fs, db_dir);
  std::string foreign;
  Status s = IsDatabaseDir(fs, db_dir, &old->exists);
  if (s.ok() && !old->exists) s = FindForeignFile(fs, db_dir, &foreign);
  if (s.ok() && !foreign.empty()) {
    return Status::InvalidArgument(db_dir, "has " + foreign + ": restore to another directory, or delete that database first");
  }
  if (s.ok() && !fs->FileExists(CurrentFileName(db_dir)).ok()) s = ownership.CheckHome();
  if (s.ok()) s = ownership.Load();
  if (s.IsCorruption()) s = Status::OK();  // it is replaced, and the files that it named stay
  if (s.ok()) s = ownership.Check(wal_dir, "wal_dir");
  if (!s.ok()) return s;
  old->files.first_number = old->logs.first_number = ownership.places().first_number;
  old->logs.must_show = !ownership.IsOwn(wal_dir);
  std::string id;
  if (old->logs.must_show && ReadFileToString(fs, IdentityFileName(db_dir), &id).ok()) old->logs.log_ids.insert(id);
  s = CheckForOthers(fs, db_dir, old->files, keep_logs, files, old);
  if (s.ok()) s = CheckForOthers(fs, wal_dir, old->logs, keep_logs, files, old);
  std::vector<std::string> dirs;
  for (const TablePlace& place : ownership.places().tables) dirs.push_back(place.dir);
  if (!keep_logs && !ownership.places().wal_dir.empty()) dirs.push_back(ownership.places().wal_dir);
  std::string logs, real;
  if (s.ok()) s = fs->GetRealPath(wal_dir, &logs);
  for (const std::string& dir : dirs) {
    if (!ownership.IsOutside(dir) || !ownership.IsOwn(dir) || !fs->GetRealPath(dir, &real).ok() || real == logs) continue;
    old->other_dirs.push_back(dir);
  }
  return s;
}

// If logs have a directory of their own, the database records it, and the directory records its owner.
Status RecordWalDir(FileSystem* fs, const std::string& db_dir, const std::string& wal_dir, const OldDatabase& old) {
  Ownership ownership(fs, db_dir);
  std::string logs, home;
  Status s = fs->GetRealPath(wal_dir, &logs);
  if (s.ok()) s = fs->GetRealPath(db_dir, &home);
  if (!s.ok() || (logs == home && !old.keeps_files)) return s;
  Places places;
  places.token = NewPlaceToken();
  if (logs != home) places.wal_dir = wal_dir;
  if (old.keeps_files) places.first_number = old.files.first_number;
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

// Whether a database could consist of these files. Checked before the old database is deleted.
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
  OldDatabase old;
  if (s.ok()) s = FindOldDatabase(db_fs_.get(), db_dir, wal_dir, backup->meta.files, options.keep_log_files, &old);
  if (s.ok()) {
    s = MarkUnfinished(db_fs_.get(), db_dir, "restore of backup " + std::to_string(id) + " of " + options_.backup_dir);
  }
  if (!s.ok()) return s;
  s = db_fs_->DeleteFile(CurrentFileName(db_dir));
  if (IsMissing(s)) s = Status::OK();
  if (s.ok()) s = db_fs_->SyncDir(db_dir);
  const auto of_logs = [](FileType type) { return type == FileType::kWal || type == FileType::kSyncedMark; };
  for (const std::string& dir : old.other_dirs) {
    if (s.ok()) {
      s = EmptyDir(db_fs_.get(), dir, old.files, [&](FileType type) {
        return type == FileType::kPieceFile || type == FileType::kPageFile || (of_logs(type) && !options.keep_log_files);
      });
    }
    // Last: without it the next attempt would not know the other files.
    if (s.ok()) s = EmptyDir(db_fs_.get(), dir, old.files, [](FileType type) { return type == FileType::kOwner; });
  }
  if (s.ok() && !options.keep_log_files) s = EmptyDir(db_fs_.get(), wal_dir, old.logs, of_logs);
  if (s.ok() && !options.keep_log_files) s = EmptyDir(db_fs_.get(), WalArchiveName(wal_dir), old.logs, of_logs);
  if (s.ok() && options.keep_log_files) s = MoveArchivedLogs(db_fs_.get(), wal_dir);
  if (s.ok() && old.exists) {
    s = EmptyDir(db_fs_.get(), db_dir, old.files, [&](FileType type) {
      return type != FileType::kLock && !(options.keep_log_files && type == FileType::kWal);
    });
  }
  // Before there are logs, so that the next attempt finds them if this one fails.
  if (s.ok()) s = RecordWalDir(db_fs_.get(), db_dir, wal_dir, old);
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
  if (s.ok()) s = db_fs_->RenameFile(current, CurrentFileName(db_dir));
  if (s.ok() && options_.sync) s = db_fs_->SyncDir(db_dir);
  if (s.ok()) s = UnmarkUnfinished(db_fs_.get(), db_dir);
  Log("restored backup " + std::to_string(id) + " to " + db_dir + ": " + s.ToString());
  return s;
}

}  // namespace compassdb
