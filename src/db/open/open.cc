// SPDX-License-Identifier: Apache-2.0
#include "db/open/open.h"

#include <algorithm>
#include <set>

#include "db/open/lost_current.h"
#include "db/report/info_log.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "format/number_limits.h"
#include "manifest/own_file.h"
#include "options/sanitize.h"
#include "rocksdb/version.h"
#include "store/pages.h"
#include "util/no_memory.h"
#include "wal/wal_reader.h"

namespace compassdb {

const rocksdb::ColumnFamilyOptions* DbOpener::OptionsOf(const std::string& family) const {
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (descriptor.name == family) return &descriptor.options;
  }
  return nullptr;
}

Status DbOpener::CheckRequest() {
  std::set<std::string> names;
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (!names.insert(descriptor.name).second) {
      return Status::InvalidArgument("column family listed twice", descriptor.name);
    }
  }
  if (names.count(rocksdb::kDefaultColumnFamilyName) == 0) {
    return Status::InvalidArgument("Default column family not specified");
  }
  const rocksdb::CompressionType wal_compression = request_.options.wal_compression;
  request_.options = SanitizeDbOptions(request_.options);
  wal_compression_missing_ = request_.options.wal_compression != wal_compression;
  if (request_.options.db_paths.empty()) {
    request_.options.db_paths.emplace_back(request_.name, UINT64_MAX);
  }
  std::vector<NamedFamilyOptions> families;
  for (rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (descriptor.options.comparator == nullptr) {
      return Status::InvalidArgument("column family " + descriptor.name + ": comparator is null");
    }
    descriptor.options = SanitizeFamilyOptions(request_.options, descriptor.options);
    families.push_back({descriptor.name, descriptor.options});
  }
  return ValidateOptions(request_.options, families);
}

// Changes nothing: a directory of others stays as it is.
Status DbOpener::Locate(bool* exists) {
  FileSystem* const fs = database().config.fs;
  Status s = Manifest::ReadCurrent(fs, request_.name, &current_manifest_);
  *exists = s.ok();
  if (s.ok() && request_.options.error_if_exists && !request_.read_only) {
    return Status::InvalidArgument(request_.name, "exists (error_if_exists is true)");
  }
  return s.IsNotFound() ? CheckMayCreate(database().config) : s;
}

Status DbOpener::CheckMayCreate(const DbConfig& config) const {
  if (!request_.read_only && request_.options.create_if_missing) return CheckNotForeign(config.fs, request_.name);
  const std::vector<std::string> tables = TableDirsOf(config);
  std::set<std::string> dirs(tables.begin(), tables.end());
  dirs.insert(config.wal_dir);
  if (Status s = CheckForLostCurrent(config.fs, request_.name, dirs); !s.ok()) return s;
  if (request_.read_only) return Status::PathNotFound(request_.name, "there is no CompassDB database");
  return Status::InvalidArgument(request_.name, "does not exist (create_if_missing is false)");
}

// The directories of all families that are opened.
std::vector<std::string> DbOpener::TableDirsOf(const DbConfig& config) const {
  std::vector<std::string> dirs{config.name};
  for (const TablePath& path : config.table_paths) dirs.push_back(path.dir);
  for (const std::string& dir : request_.more_table_dirs) dirs.push_back(dir);
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    for (const TablePath& path : config.PathsOf(descriptor.options)) dirs.push_back(path.dir);
  }
  return dirs;
}

Status DbOpener::CheckOwnership(const std::string& wal_dir, bool is_new) {
  Status s = ownership_->Load();
  const auto check = [&](const std::string& dir, const char* option) {
    if (s.ok() && dir != request_.name) s = ownership_->Check(dir, option);
    if (s.ok() && !is_new) s = ownership_->CheckMounted(dir, option);
  };
  check(wal_dir, "wal_dir");
  for (const std::string& dir : table_dirs_) check(dir, "path");
  if (s.ok() && !is_new && request_.options.wal_dir.empty()) s = ownership_->CheckLogsExist(wal_dir);
  return s;
}

Status DbOpener::ClaimDirs(const RecoveredState* state, uint64_t first_number) {
  DatabaseState& db = database();
  Ownership::Claims claims;
  claims.db_id = db.manifest_state.db_id();
  claims.places.first_number = first_number;
  if (db.config.wal_dir != db.config.name) claims.places.wal_dir = db.config.wal_dir;
  const std::vector<TablePath>& paths = db.config.table_paths;
  const bool plain = paths.size() == 1 && request_.more_table_dirs.empty() && paths.front().dir == db.config.name;
  for (const TablePath& path : paths) {
    if (!plain) claims.places.tables.push_back({"", path.dir, path.target_bytes});
  }
  for (const std::string& dir : request_.more_table_dirs) claims.places.tables.push_back({"", dir, 0});
  const auto equal = [](const TablePath& a, const TablePath& b) { return a.dir == b.dir && a.target_bytes == b.target_bytes; };
  for (const rocksdb::ColumnFamilyDescriptor& family : request_.families) {
    const std::vector<TablePath> own = db.config.PathsOf(family.options);
    if (std::equal(own.begin(), own.end(), paths.begin(), paths.end(), equal)) continue;  // it names none
    for (const TablePath& path : own) claims.places.tables.push_back({family.name, path.dir, path.target_bytes});
  }
  std::set<uint64_t> live;
  if (state != nullptr) {
    if (!copied_) claims.logs_id = state->db_id;
    AddLiveTables(*state, &live);
    claims.is_live_table = [&live](const std::string& path) {
      uint64_t number = 0;
      FileType type;
      return ParseFilePath(path, &number, &type) && live.count(number) != 0;
    };
  }
  return db.ownership->Claim(std::move(claims));
}

Status DbOpener::CheckLogsElsewhere(const RecoveredState& state) const {
  const DbConfig& config = database().config;
  std::set<std::string> dirs{config.name};
  const Ownership& ownership = *database().ownership;
  if (const std::string& recorded = ownership.places().wal_dir; !recorded.empty() && ownership.IsOwn(recorded)) dirs.insert(recorded);
  std::string used, other;
  if (Status s = config.fs->GetRealPath(config.wal_dir, &used); !s.ok()) return s;
  for (const std::string& dir : dirs) {
    std::vector<uint64_t> logs;
    if (!config.fs->GetRealPath(dir, &other).ok() || other == used) continue;
    if (Status s = ListWals(config.fs, dir, state.min_log_number, &logs); !s.ok()) {
      if (IsMissing(s)) continue;
      return s;
    }
    for (const uint64_t number : logs) {
      std::unique_ptr<WalReader> log;
      Slice batch;
      if (!WalReader::Open(config.fs, dir, number, &log).ok() || log->ReadBatch(&batch) != LogRead::kRecord) continue;
      const std::string& id = log->header().db_id;
      if (!id.empty() && id != state.db_id) continue;
      return Status::InvalidArgument(
          "wal_dir is " + config.wal_dir + ", but logs of this database are in " + dir + ", such as " + WalFileName("", number),
          "open it with the wal_dir that has them, or bring all of them to one place");
    }
  }
  return Status::OK();
}

Status DbOpener::ExplainMissing(const Status& error) const {
  if (database().ownership == nullptr) return error;
  FileSystem* const fs = database().config.fs;
  std::set<std::string> known;
  std::string unknown, real;
  for (const std::string& dir : table_dirs_) {
    if (fs->GetRealPath(dir, &real).ok()) known.insert(real);
  }
  for (const TablePlace& place : database().ownership->places().tables) {
    if (fs->GetRealPath(place.dir, &real).ok() && known.count(real) != 0) continue;
    unknown += (unknown.empty() ? "" : ", ") + place.dir + " (" +
               (place.family.empty() ? "db_paths" : "cf_paths of column family " + place.family) + ")";
  }
  if (unknown.empty()) return error;
  return Status::InvalidArgument("a file that the manifest names is missing: " + std::string(error.getState()),
                                 "the database has recorded these directories of its tables, and the options lack them: " + unknown);
}

// A file with a name of the database's that is not its own.
bool DbOpener::IsForeign(const std::string& dir, const std::string& name, FileType type, uint64_t number) const {
  if (number > 0 && number < database().ownership->places().first_number) return true;
  if (type != FileType::kWal && type != FileType::kPieceFile) return false;
  FileSystem* const fs = database().config.fs;
  if (WasBegunByOthers(fs, JoinPath(dir, name), type)) return true;
  std::string id;
  return type == FileType::kWal && !request_.logs_are_own && IdOfLog(fs, dir, number, &id).ok() && !id.empty() &&
         id != database().manifest_state.db_id() && id != recovered_id_;
}

// Numbers are never used twice, also not those of files that a crash left.
Status DbOpener::SkipNumbersInUse() {
  const std::vector<std::string> tables = database().tables->dirs()->All();
  std::set<std::string> dirs(tables.begin(), tables.end());
  dirs.insert({request_.name, database().config.wal_dir});
  for (const std::string& dir : dirs) {
    // A deleted file must not come back in a power cut, under a number that is used again in another directory.
    if (!request_.read_only) {
      if (Status s = database().config.fs->SyncDir(dir); !s.ok()) return s;
    }
    std::vector<std::string> names;
    Status s = database().config.fs->GetChildren(dir, &names);
    // A reader may have a directory that does not exist, without files.
    if (request_.read_only && IsMissing(s)) continue;
    if (!s.ok()) return s;
    for (const std::string& name : names) {
      database().commits.RaiseNextNumber(NumberBehind(name));
    }
  }
  return Status::OK();
}

void DbOpener::DeleteNewFiles() const {
  if (first_new_number_ == 0 || writing_) return;
  for (const std::string& dir : database().tables->dirs()->All()) {
    std::vector<std::string> names;
    // The next successful open deletes the rest.
    database().config.fs->GetChildren(dir, &names).PermitUncheckedError();
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (ParseFileName(name, &number, &type) && type == FileType::kPieceFile && number >= first_new_number_) {
        database().config.fs->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();
      }
    }
  }
}

// If LOG cannot be written, the database opens nevertheless. It does not if a configured directory cannot be made.
Status DbOpener::OpenInfoLog(DbConfig* config) {
  const std::string& dir =
      request_.secondary_path.empty() ? request_.name : request_.secondary_path;
  if (config->info_log != nullptr || (request_.read_only && request_.secondary_path.empty())) {
    return Status::OK();
  }
  if (const std::string& asked_for = config->options.db_log_dir; !asked_for.empty()) {
    if (Status s = config->fs->CreateDir(asked_for); !s.ok()) return s;
  }
  rocksdb::CreateLoggerFromOptions(dir, config->options, &config->info_log).PermitUncheckedError();
  config->options.info_log = config->info_log;
  return Status::OK();
}

Status DbOpener::Open(std::vector<ColumnFamilyHandle*>* handles, rocksdb::DB** db) {
  Status s = OpenOnce(handles, db);
  if (!request_.read_only || !request_.secondary_path.empty()) return s;
  // A concurrent primary may have deleted files that the manifest named when it was read.
  constexpr int kMostAttempts = 100;
  for (int attempt = 1; (s.IsCorruption() || s.IsIOError()) && attempt < kMostAttempts; ++attempt) {
    if (!ManifestHasMovedOn(FileSystemOfEnv(request_.options.env).get())) break;
    *this = DbOpener(std::move(request_));
    s = OpenOnce(handles, db);
  }
  return s;
}

Status DbOpener::OpenOnce(std::vector<ColumnFamilyHandle*>* handles, rocksdb::DB** db) {
  *db = nullptr;
  if (handles != nullptr) handles->clear();
  Status s = CatchOutOfMemory("Open", [&] { return OpenParts(handles); });
  if (s.ok()) {
    *db = db_.release();
    return s;
  }
  if (engine_ != nullptr) {
    LogInfo(database().config.info_log.get(), "open failed: " + s.ToString());
    CatchOutOfMemory("Open", [&] {
      DeleteNewFiles();
      return Status::OK();
    }).PermitUncheckedError();
  }
  if (handles != nullptr) {
    for (ColumnFamilyHandle* handle : *handles) delete handle;
    handles->clear();
  }
  // Nobody else opens the directory until the new files are deleted.
  const std::unique_ptr<FileLock> lock = engine_ != nullptr ? std::move(database().lock) : std::move(lock_);
  db_.reset();
  recovered_.reset();
  engine_ = nullptr;
  if (new_database_) {
    CatchOutOfMemory("Open", [&] {
      new_database_->Undo(/*own_log=*/request_.options.info_log == nullptr);
      return Status::OK();
    }).PermitUncheckedError();
  }
  return s;
}

Status DbOpener::NoteNewDirs(const DbConfig& config, const std::set<std::string>& dirs, bool is_new) {
  InfoLogPlace info_log;
  if (Status s = InfoLogPlaceOf(config.fs, request_.name, config.options.db_log_dir, &info_log); !s.ok()) return s;
  new_database_.emplace(FileSystemOfEnv(request_.options.env), request_.name, std::move(info_log));
  for (const std::string& dir : dirs) {
    if (!is_new && !IsMissing(config.fs->FileExists(dir))) continue;
    if (Status s = new_database_->Note(dir); !s.ok()) return s;
  }
  const std::string& logs = config.options.db_log_dir;
  Status s;
  if (is_new && !logs.empty()) s = new_database_->Note(logs);
  const bool archives = config.options.WAL_ttl_seconds > 0 || config.options.WAL_size_limit_MB > 0;
  if (s.ok() && is_new && archives) s = new_database_->Note(WalArchiveName(config.wal_dir));
  return s;
}

Status DbOpener::OpenParts(std::vector<ColumnFamilyHandle*>* handles) {
  if (Status s = CheckRequest(); !s.ok()) return s;
  DbConfig config;
  if (Status s = ProjectDbOptions(request_.options, request_.name, &config); !s.ok()) return s;
  FileSystem* const fs = config.fs;

  // First without a trace, then with the lock held.
  Status s = Manifest::ReadCurrent(fs, request_.name, &current_manifest_);
  if (!s.ok() && !s.IsNotFound()) return s;
  bool is_new = s.IsNotFound();
  if (is_new) {
    if (s = CheckMayCreate(config); !s.ok()) return s;
  }
  table_dirs_ = TableDirsOf(config);
  ownership_ = std::make_unique<Ownership>(fs, request_.name);
  if (s = CheckOwnership(config.wal_dir, is_new); !s.ok()) return s;
  if (!request_.read_only) {
    std::set<std::string> dirs(table_dirs_.begin(), table_dirs_.end());
    dirs.insert(config.wal_dir);
    if (s = NoteNewDirs(config, dirs, is_new); !s.ok()) return s;
    for (const std::string& dir : dirs) {
      if (s = CreateDirDurably(fs, dir); !s.ok()) return s;
    }
    if (s = fs->LockFile(LockFileName(request_.name), &lock_); !s.ok()) return s;
    if (is_new) {
      if (s = new_database_->LookUnderLock(&is_new); !s.ok()) return s;
      if (!is_new) new_database_.reset();  // another process was faster
    }
    if (s = CheckOwnership(config.wal_dir, is_new); !s.ok()) return s;  // the last owner may have ended since
  }
  std::unique_ptr<LinkDir> links;
  if (!request_.secondary_path.empty()) {
    if (s = CreateDirDurably(fs, request_.secondary_path); !s.ok()) return s;
    links = LinkDir::Make(fs, request_.secondary_path, request_.name, config.session_id);
    if (links != nullptr) {
      config.table_paths = {{links->path(), UINT64_MAX}};
      config.tables_linked = true;
    }
  }
  if (s = OpenInfoLog(&config); !s.ok()) return s;
  std::vector<NamedFamilyOptions> families;
  for (const auto& descriptor : request_.families) {
    families.push_back({descriptor.name, descriptor.options});
  }
  rocksdb::Header(config.info_log.get(), "CompassDB, API of RocksDB version: %s",
                  rocksdb::GetRocksVersionAsString().c_str());
  rocksdb::Header(config.info_log.get(), "DB Session ID: %s", config.session_id.c_str());
  rocksdb::Header(config.info_log.get(), "Jemalloc supported: 0");
  request_.options.Dump(config.info_log.get());
  WarnAboutHints(config.info_log.get(), request_.options, families);
  if (wal_compression_missing_) {
    rocksdb::Warn(config.info_log.get(),
                  "option wal_compression is kNoCompression: what was given is not linked into this build");
  }
  if (request_.read_only) config.access = request_.secondary_path.empty() ? Access::kReadOnly : Access::kSecondary;
  recovered_ = std::make_unique<Engine>(std::move(config), std::move(ownership_), std::move(lock_));
  engine_ = recovered_.get();
  if (links == nullptr) {
    for (const std::string& dir : table_dirs_) database().tables->dirs()->Add(dir);
  }
  if (!request_.secondary_path.empty()) {
    std::set<std::string> names;
    for (const auto& family : families) names.insert(family.name);
    engine_->Follow(table_dirs_, std::move(links), std::move(names));
  }

  bool exists = false;
  s = Locate(&exists);
  if (s.ok() && engine_->secondary != nullptr) {
    s = RecoverSecondary();
  } else if (s.ok()) {
    s = exists ? RecoverExisting() : CreateNew();
  }
  if (s.ok()) s = CheckDirectIo();
  if (s.ok() && !request_.read_only) s = CompleteStores();
  if (s.ok() && !request_.read_only) s = CreateMissingFamilies();
  if (s.ok()) MakeHandles(handles);
  if (s.ok() && !request_.read_only) s = engine_->options_files.Write();
  if (!s.ok()) return s;
  db_ = std::make_unique<DBImpl>(std::move(recovered_));
  engine_->Start(db_.get());
  return s;
}

// Checks now that the Env has direct I/O, not at the first flush.
Status DbOpener::CheckDirectIo() {
  const DbConfig& config = database().config;
  Status s;
  if (config.options.use_direct_reads) {
    std::unique_ptr<RandomAccessFile> file;
    s = config.fs->NewRandomAccessFile(CurrentFileName(request_.name),
                                       PieceReadOptions(config.options), &file);
  }
  if (s.ok() && config.options.use_direct_io_for_flush_and_compaction && !request_.read_only) {
    const std::string path = TempFileName(request_.name, 0);
    std::unique_ptr<WritableFile> file;
    s = config.fs->NewWritableFile(path, PieceWriteOptions(config.options), &file);
    if (s.ok()) s = config.fs->DeleteFile(path);
  }
  return s;
}

Status DbOpener::CreateNew() {
  DatabaseState& db = database();
  const NewDatabaseDirs dirs{request_.name, db.config.wal_dir, table_dirs_};
  if (Status s = CheckMayBeMadeIn(db.config.fs, *db.ownership, dirs); !s.ok()) return s;
  LogInfo(db.config.info_log.get(), "creating " + request_.name);
  const uint64_t hash_seed = NewHashSeed();
  db.manifest_state.SetIdentity(NewDbId(), hash_seed);
  db.stores.hasher = KeyHasher(hash_seed);
  std::shared_ptr<ColumnFamily> family;
  Status s = engine_->family_factory.Make(0, rocksdb::kDefaultColumnFamilyName,
                            *OptionsOf(rocksdb::kDefaultColumnFamilyName), &family);
  if (s.ok()) s = family->store()->Open();
  if (!s.ok()) return s;
  // A file of an attempt that never wrote CURRENT keeps its number.
  const uint64_t first_number = db.commits.next_number();
  if (s = SkipNumbersInUse(); !s.ok()) return s;
  const bool others = db.commits.next_number() > first_number;
  s = ClaimDirs(nullptr, others ? db.commits.next_number() : 0);
  if (!s.ok()) return s;
  s = WriteFileAtomically(db.config.fs, IdentityFileName(request_.name), db.manifest_state.db_id());
  if (!s.ok()) return s;
  db.families.Add(family);
  return StartWriting(WalRecoveryReport());
}

Status DbOpener::CompleteStores() {
  for (const auto& family : database().families.All()) {
    Pages* const pages = family->store()->pages();
    if (pages == nullptr) continue;
    CommitItem item;
    item.family = family;
    bool changed = false;
    Status s = pages->Complete(&item.edit, &changed);
    if (s.ok() && !changed) continue;
    if (s.ok()) s = family->store()->Prepare(item.edit, &item.prepared);
    if (!s.ok()) return s;
    std::vector<CommitItem> items;
    items.push_back(std::move(item));
    ReadStateGarbage garbage(&engine_->space);
    MutexLock lock(&database().mu);
    if (s = database().commits.Commit(&items, garbage.list()); !s.ok()) return s;
  }
  return Status::OK();
}

Status DbOpener::CreateMissingFamilies() {
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (database().families.ByName(descriptor.name) != nullptr) continue;
    if (!request_.options.create_missing_column_families) {
      return Status::InvalidArgument("Column family not found", descriptor.name);
    }
    std::shared_ptr<ColumnFamily> family;
    Status s = engine_->family_manager.Create(descriptor.options, descriptor.name, &family);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// All families exist by now.
void DbOpener::MakeHandles(std::vector<ColumnFamilyHandle*>* handles) {
  if (handles != nullptr) {
    for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
      handles->push_back(
          engine_->family_handles.New(database().families.ByName(descriptor.name)));
    }
  }
  engine_->family_handles.MakeDefault(database().families.ById(0));
}

}  // namespace compassdb
