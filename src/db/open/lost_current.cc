// SPDX-License-Identifier: Apache-2.0
#include "db/open/lost_current.h"

#include <memory>

#include "db/open/db_config.h"
#include "db/open/lost_manifest.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "format/format_version.h"
#include "manifest/foreign_directory.h"
#include "manifest/manifest.h"
#include "manifest/own_file.h"
#include "util/coding.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"

namespace compassdb {

namespace {

// Whether the name of the format is where the first record of a log has it.
Status BeginsLikeALog(FileSystem* fs, const std::string& path, bool* yes) {
  std::string start;
  Status s = ReadStart(fs, path, kMagicEnds, &start);
  *yes = s.ok() && HasMagic(start, FileType::kWal);
  return s.IsCorruption() ? Status::OK() : s;  // an encrypted log without a whole segment
}

// The error for a lost CURRENT, which `path` shows, with what can be done.
Status LostCurrent(FileSystem* fs, const std::string& dir, const std::string& path) {
  std::string start;
  Status s = ReadStart(fs, path, sizeof(kSealMagic), &start);
  if (s.IsInvalidArgument()) return s;  // another key
  if (s.ok() && IsSealed(start)) return Status::InvalidArgument(path, kSealedAdvice);
  if (s = CheckNotSealed(fs, dir); !s.ok()) return s;
  std::vector<std::string> names;
  s = fs->GetChildren(dir, &names);
  if (!s.ok()) return s;
  // It may be in another directory, which only the caller's options name.
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
        .PermitUncheckedError();  // it does not count what it cannot read
    state = count > 0;
  }
  const std::string lost = "is missing, but " + path + " exists: ";
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

// OK for a log of a failed attempt to create a database: without a batch, or cut off within its header. Also for a
// file that is no log.
Status CheckLogIsEmpty(FileSystem* fs, const std::string& dir, const std::string& wal_dir, uint64_t number,
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
    // Nothing in it verifies. Without the name of the format at its beginning it is a foreign file.
    if (s = BeginsLikeALog(fs, path, &named); !s.ok()) return s;
    // Next to a manifest it may be the log of another engine's database.
    if (!named && (size == 0 || !manifest_is_there)) return Status::OK();
  }
  if (read == LogRead::kError && !log->status().IsCorruption()) return log->status();
  if (read == LogRead::kEnd || (read == LogRead::kTornTail && size < kMoreThanHeader)) return Status::OK();
  return LostCurrent(fs, dir, path);
}

Status CheckNothingIsThere(FileSystem* fs, const Ownership& ownership, const NewDatabaseDirs& places) {
  bool manifest_is_there = false;
  uint64_t number = 0;
  FileType type;
  std::vector<std::string> names;
  std::set<std::string> dirs;
  if (Status s = RecordedDirs(fs, ownership, places.home, &dirs); !s.ok()) return s;
  std::set<std::string> log_dirs = dirs;
  log_dirs.insert(places.wal_dir);
  dirs.insert(places.tables.begin(), places.tables.end());
  for (const std::string& dir : dirs) {
    if (Status s = fs->GetChildren(dir, &names); !s.ok()) return s;
    for (const std::string& name : names) {
      if (IsRocksDBTableName(name)) {
        return Status::InvalidArgument(CurrentFileName(places.home),
                                       "is missing, but RocksDB's or LevelDB's " + JoinPath(dir, name) + " exists");
      }
      if (!ParseFileName(name, &number, &type)) continue;
      manifest_is_there |= type == FileType::kManifest;
      if (type != FileType::kPieceFile) continue;
      if (IsDirectory(fs, JoinPath(dir, name))) continue;
      std::string start;
      Status s = ReadStart(fs, JoinPath(dir, name), sizeof(kSealMagic), &start);
      if (!s.ok()) return s;
      if (BeginsAsOurs(start, type)) {
        return LostCurrent(fs, places.home, JoinPath(dir, name));
      }
    }
  }
  for (const std::string& dir : log_dirs) {
    if (Status s = fs->GetChildren(dir, &names); !s.ok()) return s;
    for (const std::string& name : names) {
      if (!ParseFileName(name, &number, &type) || type != FileType::kWal) continue;
      if (Status s = CheckLogIsEmpty(fs, places.home, dir, number, manifest_is_there); !s.ok()) return s;
    }
  }
  return Status::OK();
}

// An unfinished creation may have left one.
Status CheckIdentity(FileSystem* fs, const std::string& dir) {
  const std::string path = IdentityFileName(dir);
  std::string id;
  Status s = ReadFileToString(fs, path, &id);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  if (id.size() == NewDbId().size() && id.find_first_not_of("0123456789abcdef-") == std::string::npos) return s;
  return Status::InvalidArgument(path, "is not the id of a database, and its name is needed: move it elsewhere");
}

// A killed process may leave one of any contents, but for its magic number.
Status CheckSyncedMark(FileSystem* fs, const std::string& wal_dir) {
  const std::string path = SyncedMarkFileName(wal_dir);
  std::string magic, start;
  PutFixed64(&magic, kSyncedMarkFormat.magic);
  Status s = ReadStart(fs, path, magic.size(), &start);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  if (start.find_first_not_of('\0') == std::string::npos || start == magic) return s;
  return Status::InvalidArgument(path, "is not a database's mark of synced logs, "
                                       "and its name is needed: move it elsewhere");
}

}  // namespace

Status CheckNotForeign(FileSystem* fs, const std::string& dir) {
  std::string foreign;
  Status s = FindForeignFile(fs, dir, &foreign);
  if (!s.ok() || foreign.empty()) return s;
  return Status::InvalidArgument(CurrentFileName(dir),
                                 "is missing, but " + foreign +
                                     " exists: the directory is not this engine's, and its files are for its own "
                                     "engine to open or to repair");
}

Status RecordedDirs(FileSystem* fs, const Ownership& ownership, const std::string& dir, std::set<std::string>* dirs) {
  std::set<std::string> recorded;
  const Places& places = ownership.places();
  if (!places.wal_dir.empty()) recorded.insert(places.wal_dir);
  for (const TablePlace& place : places.tables) recorded.insert(place.dir);
  // Without an id nothing was ever written in them, or DestroyDB was interrupted.
  const bool was_one = fs->FileExists(IdentityFileName(dir)).ok();
  for (const std::string& other : recorded) {
    Status s = was_one ? ownership.CheckMounted(other, "path") : Status::OK();
    if (!s.ok()) return s;
    if (ownership.IsOwn(other) && fs->FileExists(other).ok()) dirs->insert(other);
  }
  return Status::OK();
}

Status CheckForLostCurrent(FileSystem* fs, const std::string& dir, const std::set<std::string>& others) {
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

Status CheckMayBeMadeIn(FileSystem* fs, const Ownership& ownership, const NewDatabaseDirs& dirs) {
  Status s = CheckNothingIsThere(fs, ownership, dirs);
  if (s.ok()) s = CheckIdentity(fs, dirs.home);
  return s.ok() ? CheckSyncedMark(fs, dirs.wal_dir) : s;
}

}  // namespace compassdb
