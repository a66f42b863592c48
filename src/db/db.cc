// SPDX-License-Identifier: Apache-2.0
// The static part of rocksdb::DB, and the defaults of its virtual methods.
#include "rocksdb/db.h"

#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "db/families/column_family_handle.h"
#include "db/open/db_config.h"
#include "db/open/open.h"
#include "db/report/info_log.h"
#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "manifest/own_file.h"
#include "manifest/unfinished.h"
#include "rocksdb/write_batch.h"
#include "services/trash_bin.h"
#include "util/no_memory.h"

namespace ROCKSDB_NAMESPACE {

const std::string kDefaultColumnFamilyName("default");
const std::string kPersistentStatsColumnFamilyName("___rocksdb_stats_history___");

DB::~DB() = default;

namespace {

Status OpenOne(const Options& options, const std::string& name, DB** db, bool read_only,
               bool error_if_wal_file_exists) {
  return compassdb::CatchOutOfMemory("Open", [&] {
    compassdb::DbOpener::Request request;
    request.options = DBOptions(options);
    request.name = name;
    request.families.emplace_back(kDefaultColumnFamilyName, ColumnFamilyOptions(options));
    request.read_only = read_only;
    request.error_if_wal_file_exists = error_if_wal_file_exists;
    return compassdb::DbOpener(std::move(request)).Open(nullptr, db);
  });
}

Status OpenMany(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db, bool read_only,
                bool error_if_wal_file_exists) {
  if (handles == nullptr) return Status::InvalidArgument("DB::Open: handles is null");
  return compassdb::CatchOutOfMemory("Open", [&] {
    compassdb::DbOpener::Request request;
    request.options = options;
    request.name = name;
    request.families = families;
    request.read_only = read_only;
    request.error_if_wal_file_exists = error_if_wal_file_exists;
    return compassdb::DbOpener(std::move(request)).Open(handles, db);
  });
}

// Drops all that is newer than `time`, where there are timestamps: all tables are rewritten, and compactions drop
// newer records. No reads or writes at the same time.
Status TrimHistory(DB* db, ColumnFamilyHandle* handle, const std::string& time) {
  const compassdb::ColumnFamily& family = *compassdb::FamilyOf(handle);
  if (family.timestamp_size() == 0) return Status::OK();
  if (Status s = db->Flush(FlushOptions(), handle); !s.ok()) return s;
  family.history()->TrimTo(time);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  Status s = db->CompactRange(options, handle, nullptr, nullptr);
  family.history()->TrimTo("");
  return s;
}

// Deletes our files in a directory, except those where `spare` (if any) returns true.
Status DestroyFilesIn(compassdb::FileSystem* fs, const std::string& dir,
                      const std::set<compassdb::FileType>& types,
                      const std::function<bool(const std::string& name, compassdb::FileType, uint64_t)>& spare = nullptr) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (!s.ok()) return compassdb::IsMissing(s) ? Status::OK() : s;
  Status result;
  for (const std::string& name : names) {
    uint64_t number = 0;
    compassdb::FileType type;
    const bool trash = compassdb::IsTrashName(name);
    if (trash && types.count(compassdb::FileType::kPieceFile) == 0) continue;
    // The name of trash has a suffix.
    const std::string named = trash ? name.substr(0, name.size() - (sizeof(compassdb::kTrashSuffix) - 1)) : name;
    if (!compassdb::ParseFileName(named, &number, &type) || (!trash && types.count(type) == 0) ||
        (spare != nullptr && spare(named, type, number))) {
      continue;
    }
    s = fs->DeleteFile(compassdb::JoinPath(dir, name));
    if (!s.ok() && !s.IsNotFound() && result.ok()) result = s;
  }
  return result;
}

// Other databases may have their LOG there, too.
Status DestroyInfoLogs(compassdb::FileSystem* fs, const std::string& dbname, const std::string& db_log_dir) {
  compassdb::InfoLogPlace place;
  if (Status s = compassdb::InfoLogPlaceOf(fs, dbname, db_log_dir, &place); !s.ok()) return s;
  std::vector<std::string> names;
  Status s = fs->GetChildren(place.dir, &names);
  if (!s.ok()) return compassdb::IsMissing(s) ? Status::OK() : s;
  Status result;
  for (const std::string& name : names) {
    uint64_t micros = 0;
    const std::string path = compassdb::JoinPath(place.dir, name);
    if (!compassdb::ParseInfoLogName(name, place.name, &micros)) continue;
    if (!compassdb::IsInfoLog(fs, path)) continue;
    s = fs->DeleteFile(path);
    if (!s.ok() && !s.IsNotFound() && result.ok()) result = s;
  }
  return result;
}

// A directory that was a database's has no owner now.
void LeaveDir(compassdb::FileSystem* fs, const std::string& dir, bool own) {
  if (own) DestroyFilesIn(fs, dir, {compassdb::FileType::kOwner, compassdb::FileType::kLock}).PermitUncheckedError();
  fs->DeleteDir(dir).PermitUncheckedError();  // it may not be empty
}

// The directories of the options, without the database's own.
Status DirsOf(compassdb::FileSystem* fs, const std::string& name, const Options& options,
              const std::vector<ColumnFamilyDescriptor>& families, std::set<std::string>* wal_dirs,
              std::set<std::string>* table_dirs) {
  bool own_logs = true;
  Status s = options.wal_dir.empty() ? Status::OK() : compassdb::IsWalDirOwn(fs, name, options.wal_dir, &own_logs);
  if (!own_logs) wal_dirs->insert(options.wal_dir);
  for (const DbPath& path : options.db_paths) table_dirs->insert(path.path);
  for (const DbPath& path : options.cf_paths) table_dirs->insert(path.path);
  for (const ColumnFamilyDescriptor& family : families) {
    for (const DbPath& path : family.options.cf_paths) table_dirs->insert(path.path);
  }
  table_dirs->erase(name);
  return s;
}

Status CheckDirs(const compassdb::Ownership& ownership, const std::set<std::string>& wal_dirs, const std::set<std::string>& table_dirs) {
  Status s;
  for (const std::string& dir : wal_dirs) {
    if (s.ok()) s = ownership.Check(dir, "wal_dir");
  }
  for (const std::string& dir : table_dirs) {
    if (s.ok()) s = ownership.Check(dir, "path");
  }
  return s;
}

Status DestroyArchive(compassdb::FileSystem* fs, const std::string& wal_dir,
                      const compassdb::OwnFiles& own_files) {
  const std::string archive = compassdb::WalArchiveName(wal_dir);
  Status s = DestroyFilesIn(fs, archive, {compassdb::FileType::kWal}, [&](const std::string& name, compassdb::FileType, uint64_t) {
    return compassdb::IsOfOthers(fs, archive, name, own_files);
  });
  fs->DeleteDir(archive).PermitUncheckedError();  // it may not exist, or not be empty
  return s;
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, DB** db) {
  return OpenOne(options, name, db, false, false);
}

Status DB::Open(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  return OpenMany(options, name, families, handles, db, false, false);
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name, DB** db,
                           bool error_if_wal_file_exists) {
  return OpenOne(options, name, db, true, error_if_wal_file_exists);
}

Status DB::OpenForReadOnly(const DBOptions& options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** db,
                           bool error_if_wal_file_exists) {
  return OpenMany(options, name, families, handles, db, true, error_if_wal_file_exists);
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, DB** db) {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = OpenAsSecondary(
      DBOptions(options), name, secondary_path,
      {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))}, &handles,
      db);
  for (ColumnFamilyHandle* handle : handles) delete handle;  // the database has one of its own
  return s;
}

Status DB::OpenAsSecondary(const DBOptions& options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  *db = nullptr;
  if (handles == nullptr) return Status::InvalidArgument("OpenAsSecondary: handles is null");
  if (secondary_path.empty()) {
    return Status::InvalidArgument("OpenAsSecondary: secondary_path is empty");
  }
  compassdb::DbOpener::Request request;
  request.options = options;
  request.options.create_if_missing = false;
  request.name = name;
  request.families = families;
  request.read_only = true;
  request.secondary_path = secondary_path;
  return compassdb::DbOpener(std::move(request)).Open(handles, db);
}

Status DB::OpenAndCompact(const std::string&, const std::string&, const std::string&, std::string*,
                          const CompactionServiceOptionsOverride&) {
  return Status::NotSupported("OpenAndCompact: remote compaction");
}

Status DB::OpenAndCompact(const OpenAndCompactOptions&, const std::string&, const std::string&,
                          const std::string&, std::string*,
                          const CompactionServiceOptionsOverride&) {
  return Status::NotSupported("OpenAndCompact: remote compaction");
}

Status DB::OpenAndTrimHistory(const DBOptions& options, const std::string& name,
                              const std::vector<ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles, DB** db,
                              std::string trim_ts) {
  *db = nullptr;
  if (options.avoid_flush_during_recovery) {
    return Status::InvalidArgument(
        "avoid_flush_during_recovery incompatible with OpenAndTrimHistory");
  }
  for (const ColumnFamilyDescriptor& family : families) {
    const Comparator* const comparator = family.options.comparator;
    const size_t size = comparator == nullptr ? 0 : comparator->timestamp_size();
    if (size != 0 && size != trim_ts.size()) {
      return Status::InvalidArgument("OpenAndTrimHistory: the timestamp has another size than those of "
                                     "column family " + family.name);
    }
  }
  std::unique_ptr<DB> opened;
  if (Status s = DB::Open(options, name, families, handles, db); !s.ok()) return s;
  opened.reset(std::exchange(*db, nullptr));
  Status s;
  for (ColumnFamilyHandle* handle : *handles) {
    if (s.ok()) s = TrimHistory(opened.get(), handle, trim_ts);
  }
  if (s.ok()) {
    *db = opened.release();
    return s;
  }
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
  return s;
}

Status DB::ListColumnFamilies(const DBOptions& options, const std::string& name,
                              std::vector<std::string>* families) {
  const std::shared_ptr<compassdb::FileSystem> fs =
      compassdb::FileSystemOfEnv(options.env != nullptr ? options.env : Env::Default());
  std::set<std::string> others;
  if (!options.wal_dir.empty()) others.insert(options.wal_dir);
  for (const DbPath& path : options.db_paths) others.insert(path.path);
  const Status s = compassdb::DbOpener::ListFamilies(fs.get(), name, others, families);
  return s.IsNotFound() ? Status::PathNotFound(name, "there is no CompassDB database") : s;
}

Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& families) {
  using compassdb::FileType;
  const std::shared_ptr<compassdb::FileSystem> owned = compassdb::FileSystemOfEnv(options.env);
  compassdb::FileSystem* const fs = owned.get();
  std::vector<std::string> names;
  Status s = fs->GetChildren(name, &names);
  if (compassdb::IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  uint64_t manifest = 0;
  s = compassdb::Manifest::ReadCurrent(fs, name, &manifest);
  // Another engine's database is not destroyed, but a damaged one of ours is.
  if (s.IsInvalidArgument() || s.IsNotSupported()) return s;
  compassdb::Ownership ownership(fs, name);
  if (s.IsNotFound()) {
    // A directory of another database is not a database itself: there is nothing to delete.
    if (s = ownership.CheckHome(); !s.ok()) return s.IsInvalidArgument() ? Status::OK() : s;
  }
  // The directories that the options name, and those that the database has recorded.
  std::set<std::string> wal_dirs, table_dirs;
  bool is_database = false;
  s = DirsOf(fs, name, options, families, &wal_dirs, &table_dirs);
  if (s.ok()) s = compassdb::IsDatabaseDir(fs, name, &is_database);
  if (!is_database) {
    if (s.ok()) s = CheckDirs(ownership, wal_dirs, table_dirs);
    if (s.ok()) fs->DeleteDir(name).PermitUncheckedError();  // it may have other files, which are not ours
    return s;
  }
  std::unique_ptr<compassdb::FileLock> lock;
  if (s.ok()) s = fs->LockFile(compassdb::LockFileName(name), &lock);
  if (s.ok()) s = ownership.Load();
  const std::string& recorded = ownership.places().wal_dir;
  if (!recorded.empty() && ownership.IsOwn(recorded)) wal_dirs.insert(recorded);
  for (const compassdb::TablePlace& place : ownership.places().tables) {
    if (ownership.IsOwn(place.dir)) table_dirs.insert(place.dir);
  }
  table_dirs.erase(name);
  if (s.ok()) s = CheckDirs(ownership, wal_dirs, table_dirs);
  if (!s.ok()) return s;
  Status result;
  const auto note = [&result](const Status& status) {
    if (result.ok()) result = status;
  };
  // In a directory without OWNER, the ids of logs and the manifest's tables show which files are this database's.
  std::set<uint64_t> live;
  std::string id, identity;
  compassdb::DbOpener::LiveTables(fs, name, &live, &id).PermitUncheckedError();
  compassdb::ReadFileToString(fs, compassdb::IdentityFileName(name), &identity).PermitUncheckedError();
  compassdb::OwnFiles own_files{ownership.places().first_number, {}};
  for (const std::string& known : {id, identity}) {
    if (!known.empty()) own_files.log_ids.insert(known);
  }
  // CURRENT first, durably: the rest of a failed destruction is no database. Without IDENTITY, deleted directories do
  // not count as missing.
  for (const FileType type : {FileType::kCurrent, FileType::kIdentity}) {
    note(DestroyFilesIn(fs, name, {type}));
    if (result.ok()) note(fs->SyncDir(name));
    if (!result.ok()) return result;
  }
  const auto spare_in = [&](const std::string& dir) {
    return [&](const std::string& file, FileType, uint64_t) {
      return compassdb::IsOfOthers(fs, dir, file, own_files);
    };
  };
  for (const std::string& dir : wal_dirs) {
    const bool own = ownership.IsOwn(dir);
    if (own) note(DestroyArchive(fs, dir, own_files));
    own_files.must_show = !own;
    note(DestroyFilesIn(fs, dir, {FileType::kWal, FileType::kSyncedMark}, spare_in(dir)));
    own_files.must_show = false;
    LeaveDir(fs, dir, own);
  }
  for (const std::string& dir : table_dirs) {
    const bool own = ownership.IsOwn(dir);
    note(DestroyFilesIn(fs, dir, {FileType::kPieceFile, FileType::kPageFile}, [&](const std::string& file, FileType, uint64_t number) {
      return own ? compassdb::IsOfOthers(fs, dir, file, own_files) : live.count(number) == 0;
    }));
    LeaveDir(fs, dir, own);
  }
  if (!options.db_log_dir.empty()) {
    note(DestroyInfoLogs(fs, name, options.db_log_dir));
  }
  note(DestroyArchive(fs, name, own_files));
  note(DestroyFilesIn(fs, name,
                      {FileType::kWal, FileType::kSyncedMark, FileType::kPieceFile, FileType::kPageFile, FileType::kManifest,
                       FileType::kManifestMirror, FileType::kInfoLog, FileType::kOptions, FileType::kTemp},
                      spare_in(name)));
  note(DestroyFilesIn(fs, name, {FileType::kPlaces}));
  if (result.ok()) note(compassdb::UnmarkUnfinished(fs, name));
  note(DestroyFilesIn(fs, name, {FileType::kLock}));  // while it is held
  lock.reset();
  fs->DeleteDir(name).PermitUncheckedError();  // the application may keep files of its own there
  return result;
}

Status DB::CreateColumnFamily(const ColumnFamilyOptions&, const std::string&,
                              ColumnFamilyHandle**) {
  return Status::NotSupported("CreateColumnFamily");
}
Status DB::CreateColumnFamilies(const ColumnFamilyOptions&, const std::vector<std::string>&,
                                std::vector<ColumnFamilyHandle*>*) {
  return Status::NotSupported("CreateColumnFamilies");
}
Status DB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>&,
                                std::vector<ColumnFamilyHandle*>*) {
  return Status::NotSupported("CreateColumnFamilies");
}
Status DB::DropColumnFamily(ColumnFamilyHandle*) { return Status::NotSupported("DropColumnFamily"); }
Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>&) {
  return Status::NotSupported("DropColumnFamilies");
}
Status DB::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  if (DefaultColumnFamily() == handle) {
    return Status::InvalidArgument(
        "Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return Status::OK();
}
Status DB::PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     const WideColumns& columns) {
  WriteBatch batch;
  const Status s = batch.PutEntity(family, key, columns);
  return s.ok() ? Write(options, &batch) : s;
}
Status DB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return Status::NotSupported("DeleteRange");
}
Status DB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                       const Slice&) {
  return Status::NotSupported("DeleteRange with a timestamp");
}
FileSystem* DB::GetFileSystem() const { return GetEnv()->GetFileSystem().get(); }

}  // namespace ROCKSDB_NAMESPACE
