// SPDX-License-Identifier: Apache-2.0
#include "db/open/open.h"

#include <algorithm>
#include <set>

#include "db/guarded_db.h"
#include "db/open/lost_manifest.h"
#include "db/report/info_log.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "format/format_version.h"
#include "format/number_limits.h"
#include "manifest/foreign_directory.h"
#include "options/sanitize.h"
#include "rocksdb/version.h"
#include "util/coding.h"
#include "util/no_memory.h"
#include "wal/wal_reader.h"

namespace compassdb {

namespace {

bool IsDirectory(FileSystem* fs, const std::string& path) {
  std::vector<std::string> names;
  return fs->GetChildren(path, &names).ok();
}

// Whether the name of the format stands where the first record of a log has it.
Status BeginsLikeALog(FileSystem* fs, const std::string& path, bool* yes) {
  constexpr size_t kBeginning = 64;
  char magic[8], room[kBeginning];
  EncodeFixed64(magic, kWalFormat.magic);
  std::unique_ptr<SequentialFile> file;
  Slice read;
  Status s = fs->NewSequentialFile(path, &file);
  if (s.ok()) s = file->Read(kBeginning, &read, room);
  *yes = s.ok() && read.ToString().find(std::string(magic, sizeof(magic))) != std::string::npos;
  return s.IsCorruption() ? Status::OK() : s;  // an encrypted log of which no segment is whole
}

}  // namespace

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

// What is possible without CURRENT, which `path` shows to be gone.
Status DbOpener::LostCurrent(FileSystem* fs, const std::string& dir, const std::string& path) {
  std::string start;
  Status s = ReadStart(fs, path, sizeof(kSealMagic), &start);
  if (s.IsInvalidArgument()) return s;  // another key
  if (s.ok() && IsSealed(start)) return Status::InvalidArgument(path, kSealedAdvice);
  if (s = CheckNotSealed(fs, dir); !s.ok()) return s;
  std::vector<std::string> names;
  s = fs->GetChildren(dir, &names);
  if (!s.ok()) return s;
  // It may be in another directory, of which only the caller's options know.
  uint64_t found = 0;
  FileType kind = FileType::kTemp;
  const bool known = ParseFilePath(path, &found, &kind);
  const bool elsewhere = known && kind == FileType::kPieceFile && ParentOf(path) != dir;
  const std::string logs = known && kind == FileType::kWal ? ParentOf(path) : dir;
  bool tables = elsewhere, state = false;
  LostManifest records([](const std::string&) {});
  for (const std::string& name : names) {
    uint64_t number = 0, count = 0, bytes = 0;
    FileType type;
    bool whole = false;
    if (!ParseFileName(name, &number, &type)) continue;
    if (type == FileType::kPieceFile) fs->GetFileSize(JoinPath(dir, name), &bytes).PermitUncheckedError();
    tables = tables || bytes > 0 || type == FileType::kPageFile;
    if (s.ok() && bytes > 0) s = records.Add(fs, JoinPath(dir, name), number);
    if (s.ok() && type == FileType::kPageFile) s = Status::Corruption(JoinPath(dir, name), "is of a table-less column family");
    if (state || (type != FileType::kManifest && type != FileType::kManifestMirror)) continue;
    Manifest::Salvage(fs, dir, number, [](const EditRecord&) { return Status::OK(); }, &count, &whole)
        .PermitUncheckedError();  // what it cannot read it does not count
    state = count > 0;
  }
  const std::string lost = "is missing, but " + path + " is there: ";
  if (state) return Status::Corruption(CurrentFileName(dir), lost + "RepairDB can bring the database back");
  SequenceNumber before = 0;
  if (!tables) s = CheckLogsAreAll(fs, dir, logs, &before);
  Owner owner;
  const bool moved = !fs->FileExists(IdentityFileName(dir)).ok() && ReadOwner(fs, ParentOf(path), &owner).ok();
  const std::string advice = moved ? "; if the database was moved, open it where it is" : "";
  RecoveredState in_files;
  if (s.ok() && tables && !elsewhere) s = records.Find(&in_files);
  if (s.ok() && !elsewhere) s = FindDatabaseId(fs, dir, logs, records.Ids(), &in_files.db_id);
  if (!tables && s.ok()) {
    const std::string after = before == 0 ? "" : ", as far as it was written after sequence " + std::to_string(before);
    return Status::Corruption(CurrentFileName(dir),
                              lost + "RepairDB can bring the default column family back, from the logs" + after + advice);
  }
  if (s.ok()) {
    return Status::Corruption(CurrentFileName(dir), lost + "there is no manifest or mirror; RepairDB can put the state "
                                                           "together from the compaction files");
  }
  return Status::Corruption(CurrentFileName(dir), lost + "RepairDB cannot bring the database back: " + s.ToString() +
                                                      "; a backup or a checkpoint can" + advice);
}

// An error if CURRENT is gone, but not the files of a database, or if they are another engine's.
Status DbOpener::CheckForLostCurrent(FileSystem* fs, const std::string& dir, const std::set<std::string>& others) {
  if (Status s = CheckNotForeign(fs, dir); !s.ok()) return s;
  Ownership ownership(fs, dir);
  Status s = ownership.Load();
  if (!s.ok() && !s.IsCorruption()) return s;
  std::set<std::string> dirs;
  if (s.ok()) {
    if (s = RecordedDirs(fs, ownership, dir, &dirs); !s.ok()) return s;
  }
  for (const std::string& other : others) {
    if (ownership.Check(other, "path").ok()) dirs.insert(other);
  }
  dirs.insert(dir);
  for (const std::string& any : dirs) {
    // A manifest may be RocksDB's, but a mirror is ours.
    std::string own;
    if (s = FindOwnFile(fs, any, &own); !s.ok()) return s;
    if (!own.empty()) return LostCurrent(fs, dir, JoinPath(any, own));
  }
  for (const std::string& any : dirs) {
    std::vector<uint64_t> logs;
    s = ListWals(fs, any, 0, &logs);
    if (!s.ok() && !IsMissing(s)) return s;
    for (const uint64_t log : logs) {
      if (s = CheckLogIsEmpty(fs, dir, any, log, /*manifest_is_there=*/false); !s.ok()) return s;
    }
  }
  return Status::OK();
}

Status DbOpener::RecordedDirs(FileSystem* fs, const Ownership& ownership, const std::string& dir, std::set<std::string>* dirs) {
  std::set<std::string> recorded;
  const Places& places = ownership.places();
  if (!places.wal_dir.empty()) recorded.insert(places.wal_dir);
  for (const TablePlace& place : places.tables) recorded.insert(place.dir);
  // Without an id nothing was ever written in them, or DestroyDB did not come to its end.
  const bool was_one = fs->FileExists(IdentityFileName(dir)).ok();
  for (const std::string& other : recorded) {
    Status s = was_one ? ownership.CheckMounted(other, "path") : Status::OK();
    if (!s.ok()) return s;
    if (ownership.IsOwn(other) && fs->FileExists(other).ok()) dirs->insert(other);
  }
  return Status::OK();
}

Status DbOpener::CheckNotForeign(FileSystem* fs, const std::string& dir) {
  std::string foreign;
  Status s = FindForeignFile(fs, dir, &foreign);
  if (!s.ok() || foreign.empty()) return s;
  return Status::InvalidArgument(CurrentFileName(dir),
                                 "is missing, but " + foreign +
                                     " is there: the directory is not this engine's, and what is there is for its own "
                                     "engine to open or to repair");
}

// Looks, but changes nothing: a directory that is not ours stays as it is.
Status DbOpener::Locate(bool* exists) {
  FileSystem* const fs = db_->config_.fs;
  Status s = Manifest::ReadCurrent(fs, request_.name, &current_manifest_);
  *exists = s.ok();
  if (s.ok() && request_.options.error_if_exists && !request_.read_only) {
    return Status::InvalidArgument(request_.name, "exists (error_if_exists is true)");
  }
  return s.IsNotFound() ? CheckMayCreate(db_->config_) : s;
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

// Of all families that are opened.
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
  if (s.ok() && !is_new && request_.options.wal_dir.empty()) s = ownership_->CheckLogsAreHere(wal_dir);
  return s;
}

Status DbOpener::ClaimDirs(const RecoveredState* state, uint64_t first_number) {
  DBImpl* const db = db_.get();
  Ownership::Claims claims;
  claims.db_id = db->db_id_;
  claims.places.first_number = first_number;
  if (db->config_.wal_dir != db->config_.name) claims.places.wal_dir = db->config_.wal_dir;
  const std::vector<TablePath>& paths = db->config_.table_paths;
  const bool plain = paths.size() == 1 && request_.more_table_dirs.empty() && paths.front().dir == db->config_.name;
  for (const TablePath& path : paths) {
    if (!plain) claims.places.tables.push_back({"", path.dir, path.target_bytes});
  }
  for (const std::string& dir : request_.more_table_dirs) claims.places.tables.push_back({"", dir, 0});
  const auto equal = [](const TablePath& a, const TablePath& b) { return a.dir == b.dir && a.target_bytes == b.target_bytes; };
  for (const rocksdb::ColumnFamilyDescriptor& family : request_.families) {
    const std::vector<TablePath> own = db->config_.PathsOf(family.options);
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
  return db->ownership_->Claim(std::move(claims));
}

Status DbOpener::CheckLogsElsewhere(const RecoveredState& state) const {
  const DbConfig& config = db_->config_;
  std::set<std::string> dirs{config.name};
  const Ownership& ownership = *db_->ownership_;
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
  if (db_->ownership_ == nullptr) return error;
  FileSystem* const fs = db_->config_.fs;
  std::set<std::string> known;
  std::string unknown, real;
  for (const std::string& dir : table_dirs_) {
    if (fs->GetRealPath(dir, &real).ok()) known.insert(real);
  }
  for (const TablePlace& place : db_->ownership_->places().tables) {
    if (fs->GetRealPath(place.dir, &real).ok() && known.count(real) != 0) continue;
    unknown += (unknown.empty() ? "" : ", ") + place.dir + " (" +
               (place.family.empty() ? "db_paths" : "cf_paths of column family " + place.family) + ")";
  }
  if (unknown.empty()) return error;
  return Status::InvalidArgument("a file that the manifest names is missing: " + std::string(error.getState()),
                                 "the database has recorded these directories of its tables, and the options lack them: " + unknown);
}

namespace {

// What a power cut leaves of a file that was just begun: a log too short to hold its magic number, or a compaction
// file with a part of its own.
bool IsTornBeginning(const std::string& beginning, FileType type, const char (&magic)[8]) {
  constexpr size_t kLogMagicEnds = 24;  // at the latest
  if (type == FileType::kWal) return beginning.size() < kLogMagicEnds;
  if (beginning.size() >= sizeof(magic)) return false;
  for (size_t i = 0; i < beginning.size(); ++i) {
    if (beginning[i] != magic[i] && beginning[i] != '\0') return false;
  }
  return true;
}

}  // namespace

// A file that stands under a name of the database's, and is not its own. Of what cannot be read, or has lost its
// bytes in a crash, the name decides.
bool DbOpener::IsForeign(const std::string& dir, const std::string& name, FileType type, uint64_t number) const {
  if (number > 0 && number < db_->ownership_->places().first_number) return true;
  if (type != FileType::kWal && type != FileType::kPieceFile) return false;
  constexpr size_t kBeginning = 64;
  const std::string path = JoinPath(dir, name);
  FileSystem* const fs = db_->config_.fs;
  if (IsDirectory(fs, path)) return true;
  char magic[8], room[kBeginning];
  EncodeFixed64(magic, type == FileType::kWal ? kWalFormat.magic : kPieceFileFormat.magic);
  std::unique_ptr<SequentialFile> file;
  Slice read;
  Status s = fs->NewSequentialFile(path, &file);
  if (s.ok()) s = file->Read(kBeginning, &read, room);
  const std::string beginning = s.ok() ? read.ToString() : "";
  if (beginning.find_first_not_of('\0') == std::string::npos) return false;
  if (IsTornBeginning(beginning, type, magic)) return false;
  if (beginning.find(std::string(magic, sizeof(magic))) == std::string::npos) return true;
  std::string id;
  return type == FileType::kWal && !request_.logs_are_own && IdOfLog(fs, dir, number, &id).ok() && !id.empty() && id != db_->db_id_ && id != recovered_id_;
}

// Numbers are never used twice, also not those of files that a crash left.
Status DbOpener::SkipNumbersInUse() {
  const std::vector<std::string> tables = db_->files_->dirs()->All();
  std::set<std::string> dirs(tables.begin(), tables.end());
  dirs.insert({request_.name, db_->config_.wal_dir});
  for (const std::string& dir : dirs) {
    // What is not there must not come back in a power cut, under a number that is given out again for another directory.
    if (!request_.read_only) {
      if (Status s = db_->config_.fs->SyncDir(dir); !s.ok()) return s;
    }
    std::vector<std::string> names;
    Status s = db_->config_.fs->GetChildren(dir, &names);
    // Of a reader's directories one that is not there may hold nothing.
    if (request_.read_only && IsMissing(s)) continue;
    if (!s.ok()) return s;
    for (const std::string& name : names) {
      db_->commits_.RaiseNextNumber(NumberBehind(name));
    }
  }
  return Status::OK();
}

void DbOpener::DeleteNewFiles() const {
  if (first_new_number_ == 0 || writing_) return;
  for (const std::string& dir : db_->files_->dirs()->All()) {
    std::vector<std::string> names;
    db_->config_.fs->GetChildren(dir, &names).PermitUncheckedError();  // what is left is deleted by an opening that succeeds
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (ParseFileName(name, &number, &type) && type == FileType::kPieceFile && number >= first_new_number_) {
        db_->config_.fs->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();
      }
    }
  }
}

// A log that cannot be written is no reason not to open; a directory that was asked for, and cannot be made, is.
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
  // A primary beside this reader may have taken away what the manifest named when it was read.
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
  if (db_ != nullptr) {
    LogInfo(db_->config_.info_log.get(), "open failed: " + s.ToString());
    CatchOutOfMemory("Open", [&] {
      DeleteNewFiles();
      return Status::OK();
    }).PermitUncheckedError();
  }
  if (handles != nullptr) {
    for (ColumnFamilyHandle* handle : *handles) delete handle;
    handles->clear();
  }
  db_.reset();
  if (new_database_) {
    CatchOutOfMemory("Open", [&] {
      new_database_->Undo();
      return Status::OK();
    }).PermitUncheckedError();
  }
  return s;
}

Status DbOpener::NoteNewDirs(const DbConfig& config, const std::set<std::string>& dirs, bool is_new) {
  new_database_.emplace(FileSystemOfEnv(request_.options.env));
  for (const std::string& dir : dirs) {
    if (!is_new && !IsMissing(config.fs->FileExists(dir))) continue;
    if (Status s = new_database_->Note(dir); !s.ok()) return s;
  }
  const std::string& logs = config.options.db_log_dir;
  return logs.empty() || !is_new ? Status::OK() : new_database_->Note(logs);
}

Status DbOpener::OpenParts(std::vector<ColumnFamilyHandle*>* handles) {
  if (Status s = CheckRequest(); !s.ok()) return s;
  DbConfig config;
  if (Status s = ProjectDbOptions(request_.options, request_.name, &config); !s.ok()) return s;
  FileSystem* const fs = config.fs;

  // First without a trace, then with the lock held.
  Status s = Manifest::ReadCurrent(fs, request_.name, &current_manifest_);
  if (!s.ok() && !s.IsNotFound()) return s;
  const bool is_new = s.IsNotFound();
  if (is_new) {
    if (s = CheckMayCreate(config); !s.ok()) return s;
  }
  table_dirs_ = TableDirsOf(config);
  ownership_ = std::make_unique<Ownership>(fs, request_.name);
  if (s = CheckOwnership(config.wal_dir, is_new); !s.ok()) return s;
  std::unique_ptr<FileLock> lock;
  if (!request_.read_only) {
    std::set<std::string> dirs(table_dirs_.begin(), table_dirs_.end());
    dirs.insert(config.wal_dir);
    if (s = NoteNewDirs(config, dirs, is_new); !s.ok()) return s;
    for (const std::string& dir : dirs) {
      if (s = CreateDirDurably(fs, dir); !s.ok()) return s;
    }
    if (s = fs->LockFile(LockFileName(request_.name), &lock); !s.ok()) return s;
    if (is_new) new_database_->SetLocked();
    if (s = CheckOwnership(config.wal_dir, is_new); !s.ok()) return s;  // the last owner may have ended meanwhile
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
  request_.options.Dump(config.info_log.get());
  WarnAboutHints(config.info_log.get(), request_.options, families);
  if (wal_compression_missing_) {
    rocksdb::Warn(config.info_log.get(),
                  "option wal_compression is kNoCompression: what was given is not linked into this build");
  }
  db_ = std::make_unique<GuardedDB>(std::move(config), request_.read_only, std::move(ownership_));
  db_->lock_ = std::move(lock);
  if (links == nullptr) {
    for (const std::string& dir : table_dirs_) db_->files_->dirs()->Add(dir);
  }
  if (!request_.secondary_path.empty()) {
    std::set<std::string> names;
    for (const auto& family : families) names.insert(family.name);
    db_->secondary_ = std::make_unique<Secondary>(db_.get(), table_dirs_, std::move(links), std::move(names));
    db_->live_files_.Refuse(Status::NotSupported("Not supported operation in secondary mode."));
    db_->reader_.Follow(db_->secondary_.get());
    db_->family_factory_.FollowPrimary();
  }

  bool exists = false;
  s = Locate(&exists);
  if (exists && is_new) new_database_.reset();  // another process was faster
  if (s.ok() && db_->secondary_ != nullptr) {
    s = RecoverSecondary();
  } else if (s.ok()) {
    s = exists ? RecoverExisting() : CreateNew();
  }
  if (s.ok()) s = CheckDirectIo();
  if (s.ok() && !request_.read_only) s = CompleteStores();
  if (s.ok() && !request_.read_only) s = CreateMissingFamilies();
  if (s.ok()) MakeHandles(handles);
  if (s.ok() && !request_.read_only) s = db_->options_files_.Write();
  if (s.ok() && !request_.read_only) {
    if (Status limit = db_->space_.TrackAll(); !limit.ok()) {
      db_->SetBackgroundError(limit, rocksdb::BackgroundErrorReason::kFlush);
    }
    {
      MutexLock guard(&db_->mu_);
      for (const auto& family : db_->families_.All()) family->LimitMemTable();
      db_->opened_ = true;
      db_->wal_limit_ = db_->WalLimit();
      db_->stalls_.Update();
      db_->MaybeSchedule();
    }
    db_->space_.Start(db_->families_);
    db_->reports_.stats_dump()->Schedule();
    db_->idle_looks_.Schedule();
  }
  return s;
}

// An Env that knows no direct I/O says so now, not at the first flush.
Status DbOpener::CheckDirectIo() {
  const DbConfig& config = db_->config_;
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

// OK for a log as an attempt to make a database leaves it: without a batch, or cut short within its header. And for
// what is no log.
Status DbOpener::CheckLogIsEmpty(FileSystem* fs, const std::string& dir, const std::string& wal_dir, uint64_t number,
                                 bool manifest_is_there) {
  constexpr uint64_t kMoreThanHeader = 512;
  std::unique_ptr<WalReader> log;
  Slice batch;
  uint64_t size = 0;
  const std::string path = WalFileName(wal_dir, number);
  if (IsDirectory(fs, path)) return Status::OK();
  Status s = fs->GetFileSize(path, &size);
  std::string start;
  if (s.ok()) s = ReadStart(fs, path, sizeof(kSealMagic), &start);
  if (s.IsCorruption()) s = Status::OK();  // an encrypted log that a power cut tore within its first segment
  if (s.ok() && IsSealed(start)) return LostCurrent(fs, dir, path);
  if (s.ok()) s = WalReader::Open(fs, wal_dir, number, &log);
  if (!s.ok()) return s;
  const LogRead read = log->ReadBatch(&batch);
  bool named = false;
  if (read == LogRead::kTornTail && !log->has_header()) {
    // Nothing in it verifies. Without the name of the format at its beginning it is a file of somebody else.
    if (s = BeginsLikeALog(fs, path, &named); !s.ok()) return s;
    // Beside a manifest it may be the log of another engine's database.
    if (!named && (size == 0 || !manifest_is_there)) return Status::OK();
  }
  if (read == LogRead::kError && !log->status().IsCorruption()) return log->status();
  if (read == LogRead::kEnd || (read == LogRead::kTornTail && size < kMoreThanHeader)) return Status::OK();
  return LostCurrent(fs, dir, path);
}

// Tables and batches are only ever written once CURRENT is durable: without it they are a database that lost it,
// and a new one in its place would delete them.
Status DbOpener::CheckNothingIsThere() {
  FileSystem* const fs = db_->config_.fs;
  bool manifest_is_there = false;
  uint64_t number = 0;
  FileType type;
  std::vector<std::string> names;
  std::set<std::string> dirs;
  if (Status s = RecordedDirs(fs, *db_->ownership_, request_.name, &dirs); !s.ok()) return s;
  std::set<std::string> log_dirs = dirs;
  log_dirs.insert(db_->config_.wal_dir);
  dirs.insert(table_dirs_.begin(), table_dirs_.end());
  for (const std::string& dir : dirs) {
    if (Status s = fs->GetChildren(dir, &names); !s.ok()) return s;
    for (const std::string& name : names) {
      if (IsRocksDBTableName(name)) {
        return Status::InvalidArgument(CurrentFileName(request_.name),
                                       "is missing, but RocksDB's or LevelDB's " + JoinPath(dir, name) + " is there");
      }
      if (!ParseFileName(name, &number, &type)) continue;
      manifest_is_there |= type == FileType::kManifest;
      if (type != FileType::kPieceFile) continue;
      if (IsDirectory(fs, JoinPath(dir, name))) continue;
      std::string start;
      Status s = ReadStart(fs, JoinPath(dir, name), sizeof(kSealMagic), &start);
      if (!s.ok()) return s;
      if (IsSealed(start) || (start.size() == 8 && DecodeFixed64(start.data()) == kPieceFileFormat.magic)) {
        return LostCurrent(fs, request_.name, JoinPath(dir, name));
      }
    }
  }
  for (const std::string& dir : log_dirs) {
    if (Status s = fs->GetChildren(dir, &names); !s.ok()) return s;
    for (const std::string& name : names) {
      if (!ParseFileName(name, &number, &type) || type != FileType::kWal) continue;
      if (Status s = CheckLogIsEmpty(fs, request_.name, dir, number, manifest_is_there); !s.ok()) return s;
    }
  }
  return Status::OK();
}

// One may be left of a creation that did not come to its end.
Status DbOpener::CheckIdentity() const {
  const std::string path = IdentityFileName(request_.name);
  std::string id;
  Status s = ReadFileToString(db_->config_.fs, path, &id);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  if (id.size() == NewDbId().size() && id.find_first_not_of("0123456789abcdef-") == std::string::npos) return s;
  return Status::InvalidArgument(path, "is not the id of a database, and its name is needed: move it elsewhere");
}

Status DbOpener::CreateNew() {
  DBImpl* const db = db_.get();
  if (Status s = CheckNothingIsThere(); !s.ok()) return s;
  if (Status s = CheckIdentity(); !s.ok()) return s;
  LogInfo(db->config_.info_log.get(), "creating " + request_.name);
  db->db_id_ = NewDbId();
  db->hash_seed_ = NewHashSeed();
  db->store_context_.hasher = KeyHasher(db->hash_seed_);
  std::shared_ptr<ColumnFamily> family;
  Status s = db->family_factory_.Make(0, rocksdb::kDefaultColumnFamilyName,
                            *OptionsOf(rocksdb::kDefaultColumnFamilyName), &family);
  if (s.ok()) s = family->store()->Open();
  if (!s.ok()) return s;
  // A file that is left of an attempt that never got to its CURRENT keeps its number.
  const uint64_t first_number = db->commits_.next_number();
  if (s = SkipNumbersInUse(); !s.ok()) return s;
  const bool others = db->commits_.next_number() > first_number;
  s = ClaimDirs(nullptr, others ? db->commits_.next_number() : 0);
  if (!s.ok()) return s;
  s = WriteFileAtomically(db->config_.fs, IdentityFileName(request_.name), db->db_id_);
  if (!s.ok()) return s;
  db->families_.Add(family);
  return StartWriting(WalRecoveryReport());
}

Status DbOpener::CompleteStores() {
  for (const auto& family : db_->families_.All()) {
    CommitItem item;
    item.family = family;
    bool changed = false;
    Status s = family->store()->Complete(&item.edit, &changed);
    if (s.ok() && !changed) continue;
    if (s.ok()) s = family->store()->Prepare(item.edit, &item.prepared);
    if (!s.ok()) return s;
    std::vector<CommitItem> items;
    items.push_back(std::move(item));
    ReadStateGarbage garbage(&db_->space_);
    MutexLock lock(&db_->mu_);
    if (s = db_->commits_.Commit(&items, garbage.list()); !s.ok()) return s;
  }
  return Status::OK();
}

Status DbOpener::CreateMissingFamilies() {
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (db_->families_.ByName(descriptor.name) != nullptr) continue;
    if (!request_.options.create_missing_column_families) {
      return Status::InvalidArgument("Column family not found", descriptor.name);
    }
    std::shared_ptr<ColumnFamily> family;
    if (Status s = db_->family_manager_.Create(descriptor.options, descriptor.name, &family); !s.ok()) return s;
  }
  return Status::OK();
}

// All families are there by now.
void DbOpener::MakeHandles(std::vector<ColumnFamilyHandle*>* handles) {
  if (handles != nullptr) {
    for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
      handles->push_back(new ColumnFamilyHandleImpl(db_->families_.ByName(descriptor.name), &db_->family_manager_));
    }
  }
  db_->family_manager_.MakeDefaultHandle();
}

}  // namespace compassdb
