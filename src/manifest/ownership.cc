// SPDX-License-Identifier: Apache-2.0
#include "manifest/ownership.h"

#include <algorithm>
#include <set>

#include "env/missing.h"
#include "format/file_names.h"
#include "wal/wal_reader.h"

namespace compassdb {

Status IdOfLog(FileSystem* fs, const std::string& wal_dir, uint64_t number, std::string* db_id) {
  db_id->clear();
  std::unique_ptr<WalReader> log;
  if (Status s = WalReader::Open(fs, wal_dir, number, &log); !s.ok()) return s;
  if (log->ReadHeader() == LogRead::kRecord) *db_id = log->header().db_id;
  return Status::OK();
}

Status Ownership::Load() {
  Status s = ReadPlaces(fs_, db_dir_, &places_);
  has_places_ = s.ok();
  return IsMissing(s) ? Status::OK() : s;
}

bool Ownership::IsHere(const std::string& dir) const {
  std::string a, b;
  if (fs_->GetRealPath(dir, &a).ok() && fs_->GetRealPath(db_dir_, &b).ok() && a == b) return true;
  return fs_->GetFileId(dir, &a).ok() && fs_->GetFileId(db_dir_, &b).ok() && a == b;
}

bool Ownership::IsSame(const std::string& a, const std::string& b) const {
  std::string real_a, real_b;
  return fs_->GetRealPath(a, &real_a).ok() && fs_->GetRealPath(b, &real_b).ok() && real_a == real_b;
}

bool Ownership::IsOutside(const std::string& dir) const {
  std::string path, home;
  return !fs_->GetRealPath(dir, &path).ok() || !fs_->GetRealPath(db_dir_, &home).ok() ||
         (!IsWithin(path, home) && !IsHere(dir));
}

bool Ownership::HoldsFiles(const std::string& dir) const {
  std::vector<std::string> names;
  if (Status s = fs_->GetChildren(dir, &names); !s.ok()) return !IsMissing(s);
  for (const std::string& name : names) {
    uint64_t number = 0, bytes = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    if (type != FileType::kWal && type != FileType::kPieceFile && type != FileType::kPageFile) continue;
    if (!fs_->GetFileSize(JoinPath(dir, name), &bytes).ok() || bytes > 0) return true;
  }
  return false;
}

Ownership::Answer Ownership::Ask(const std::string& dir, Owner* owner, Status* error) const {
  *error = ReadOwner(fs_, dir, owner);
  if (IsMissing(*error)) {
    *error = Status::OK();
    return Answer::kUnmarked;
  }
  if (!error->ok()) return Answer::kForeign;
  const bool here = IsHere(owner->directory);
  const bool mine = has_places_ && !owner->token.empty() &&
                    (owner->token == places_.token || owner->token == places_.previous_token);
  if (mine && here) return Answer::kOwn;
  if (!here) {
    // Whether the owner is still where it was. A directory that cannot be read may have it.
    Places there;
    const Status s = ReadPlaces(fs_, owner->directory, &there);
    if (!s.ok() && !IsMissing(s)) return Answer::kForeign;
    if (s.ok() && (there.token == owner->token || there.previous_token == owner->token)) return Answer::kForeign;
  }
  if (mine) return Answer::kOwn;
  // The database lost CURRENT, or was deleted: the open checks the files.
  // So does a repair without PLACES.
  if (here && (!has_places_ || !fs_->FileExists(CurrentFileName(db_dir_)).ok())) return Answer::kFree;
  return HoldsFiles(dir) ? Answer::kForeign : Answer::kFree;
}

Status Ownership::Refuse(const std::string& dir, const char* option, const Owner& owner) const {
  return Status::InvalidArgument(
      std::string(option) + " " + dir + " holds the files of the database in " + owner.directory + " (id " + owner.db_id +
          "), not of the one in " + db_dir_ + ", where it was found",
      "a copy, or an older state, of a database needs directories of its own: give others in the options (compassdb: "
      "--wal-dir), or move the files in " + dir + " away; if they are of this very state, delete " + OwnerFileName(dir));
}

// Both are real paths.
bool Ownership::IsUsedBy(const std::string& home, const std::string& path) const {
  Places there;
  const bool current = fs_->FileExists(CurrentFileName(home)).ok();
  const Status s = ReadPlaces(fs_, home, &there);
  if (!s.ok() && !IsMissing(s)) return current;
  if (!s.ok()) {
    // All its files are in its own directory, or it was last opened by an earlier release.
    std::string id, other_id;
    if (!current || !HoldsFiles(path)) return false;
    return !ReadFileToString(fs_, IdentityFileName(db_dir_), &id).ok() ||
           !ReadFileToString(fs_, IdentityFileName(home), &other_id).ok() || id == other_id;
  }
  std::vector<std::string> dirs{WalArchiveName(home), JoinPath(home, "lost")};
  if (!there.wal_dir.empty()) dirs.push_back(there.wal_dir);
  for (const TablePlace& place : there.tables) dirs.push_back(place.dir);
  return std::any_of(dirs.begin(), dirs.end(), [&](const std::string& dir) {
    std::string real;
    return fs_->GetRealPath(dir, &real).ok() && real != home && IsWithin(path, real);
  });
}

Status Ownership::CheckAbove(const std::string& dir, const char* option) const {
  std::string path;
  if (Status s = fs_->GetRealPath(dir, &path); !s.ok()) return s;
  if (fs_->FileExists(CurrentFileName(path)).ok() || fs_->FileExists(PlacesFileName(path)).ok()) {
    return Status::InvalidArgument(std::string(option) + " " + dir + " is the directory of a database of its own",
                                   "not that of " + db_dir_);
  }
  for (std::string home = path; home != "/" && home != ".";) {
    home = ParentOf(home);
    if (IsHere(home)) break;
    if (!IsUsedBy(home, path)) continue;
    return Status::InvalidArgument(std::string(option) + " " + dir + " is a directory of the database in " + home +
                                       ", not of the one in " + db_dir_,
                                   "a copy of a database needs directories of its own: give others in the options "
                                   "(compassdb: --wal-dir)");
  }
  return Status::OK();
}

Status Ownership::Check(const std::string& dir, const char* option) const {
  if (!IsOutside(dir)) return Status::OK();
  Owner owner;
  Status error;
  switch (Ask(dir, &owner, &error)) {
    case Answer::kOwn:
      return Status::OK();
    case Answer::kFree:
    case Answer::kUnmarked:
      return CheckAbove(dir, option);
    case Answer::kForeign:
      break;
  }
  return error.ok() ? Refuse(dir, option, owner) : error;
}

Status Ownership::CheckHome() const {
  Owner owner;
  Places there;
  Status s = ReadOwner(fs_, db_dir_, &owner);
  if (s.ok() && !IsHere(owner.directory) && ReadPlaces(fs_, owner.directory, &there).ok() &&
      (there.token == owner.token || there.previous_token == owner.token)) {
    return Status::InvalidArgument(db_dir_, "is a directory of the database in " + owner.directory);
  }
  std::string path;
  if (s = fs_->GetRealPath(db_dir_, &path); !s.ok()) return s;
  for (std::string home = path; home != "/" && home != ".";) {
    home = ParentOf(home);
    if (IsUsedBy(home, path)) return Status::InvalidArgument(db_dir_, "is a directory of the database in " + home);
  }
  return Status::OK();
}

Status Ownership::CheckMounted(const std::string& dir, const char* option) const {
  bool recorded = !places_.wal_dir.empty() && IsSame(places_.wal_dir, dir);
  for (const TablePlace& place : places_.tables) recorded = recorded || IsSame(place.dir, dir);
  Owner owner;
  // OWNER is written before PLACES names its directory.
  if (!recorded || !IsOutside(dir) || !IsMissing(ReadOwner(fs_, dir, &owner)) || HoldsFiles(dir)) return Status::OK();
  return Status::InvalidArgument(std::string(option) + " " + dir + ", recorded as a directory of the database in " + db_dir_ +
                                     ", is " + (fs_->FileExists(dir).ok() ? "empty" : "not there"),
                                 "is it mounted? If it is lost for good, restore a backup; without one, see "
                                 "docs/operations/corruption.md");
}

Status Ownership::CheckLogsExist(const std::string& wal_dir) const {
  const std::string& logs = places_.wal_dir;
  if (logs.empty() || IsSame(logs, wal_dir) || IsOwn(logs)) return Status::OK();
  return Status::InvalidArgument(
      "the logs of the database in " + db_dir_ + " are in " + logs + ", which is not its own in this place, or not there",
      "give wal_dir (compassdb: --wal-dir): the directory of the logs, or " + db_dir_ + " to open a copy without them");
}

bool Ownership::IsOwn(const std::string& dir) const {
  if (!IsOutside(dir)) return true;
  Owner owner;
  Status error;
  return Ask(dir, &owner, &error) == Answer::kOwn;
}

Status Ownership::CheckUnmarked(const std::string& dir, const Claims& claims, bool logs) const {
  std::vector<std::string> names;
  if (Status s = fs_->GetChildren(dir, &names); !s.ok()) return s;
  bool live = false;
  std::string stranger;
  for (const std::string& name : names) {
    uint64_t number = 0, bytes = 0;
    FileType type;
    const std::string path = JoinPath(dir, name);
    if (!ParseFileName(name, &number, &type)) continue;
    if (type == FileType::kWal && logs) {
      std::string id;
      if (!IdOfLog(fs_, dir, number, &id).ok() || id.empty() || id == claims.logs_id) continue;
      return Status::InvalidArgument(path, "belongs to the database " + id + ", not to the one in " + db_dir_ +
                                               (claims.logs_id.empty() ? ", which is a copy: its logs are in its own directory"
                                                                       : ", " + claims.logs_id));
    }
    if (type != FileType::kPieceFile && type != FileType::kPageFile) continue;
    if (fs_->GetFileSize(path, &bytes).ok() && bytes == 0) continue;
    live |= claims.is_live_table(path);
    if (!claims.is_live_table(path)) stranger = path;
  }
  if (live || stranger.empty()) return Status::OK();
  return Status::InvalidArgument(stranger, "is not in the manifest of the database in " + db_dir_ +
                                               ": it is of another one, or a repair gave it up; move it elsewhere");
}

Status Ownership::Mark(const std::string& dir, const std::string& db_id) {
  std::string home;
  Status s = fs_->GetRealPath(db_dir_, &home);
  return s.ok() ? WriteOwner(fs_, dir, {db_id, home, places_.token}) : s;
}

Status Ownership::Claim(Claims claims) {
  db_id_ = claims.db_id;
  Places& next = claims.places;
  next.first_number = std::max(next.first_number, places_.first_number);
  std::vector<std::pair<std::string, bool>> outside;  // and whether it has the logs
  std::set<std::string> seen;
  const auto add = [&](const std::string& dir, bool logs) {
    std::string real;
    if (dir.empty() || !IsOutside(dir) || !fs_->GetRealPath(dir, &real).ok() || !seen.insert(real).second) return;
    outside.emplace_back(dir, logs);
  };
  add(next.wal_dir, true);
  for (const TablePlace& place : next.tables) add(place.dir, false);
  if (!has_places_ && next.wal_dir.empty() && next.tables.empty() && next.first_number == 0) return Status::OK();
  std::vector<std::string> unmarked;
  bool renew = true;  // not while some directory still has the previous token
  for (const auto& [dir, logs] : outside) {
    std::unique_ptr<FileLock> lock;
    if (Status s = fs_->LockFile(LockFileName(dir), &lock); !s.ok()) return s;
    locks_.push_back(std::move(lock));
    Owner owner;
    Status s;
    const Answer answer = Ask(dir, &owner, &s);
    if (answer == Answer::kUnmarked && claims.is_live_table != nullptr) s = CheckUnmarked(dir, claims, logs);
    if (answer == Answer::kOwn && owner.token != places_.token) renew = false;
    if (s.ok()) s = Check(dir, logs ? "wal_dir" : "path");
    if (!s.ok()) return s;
    marked_.push_back(dir);
    if (answer != Answer::kOwn) unmarked.push_back(dir);
  }
  next.previous_token = renew ? places_.token : places_.previous_token;
  next.token = renew ? NewPlaceToken() : places_.token;
  if (places_.token.empty()) places_.token = next.token;
  // An empty directory that PLACES names, without OWNER, is taken for one that is not mounted.
  for (const std::string& dir : unmarked) {
    if (Status s = Mark(dir, db_id_); !s.ok()) return s;
  }
  if (Status s = WritePlaces(fs_, db_dir_, next); !s.ok()) return s;
  places_ = next;
  has_places_ = true;
  for (const auto& [dir, logs] : outside) {
    if (Status s = Mark(dir, db_id_); !s.ok()) return s;
  }
  return Status::OK();
}

Status Ownership::AddTables(const std::string& family, const std::string& dir, uint64_t target_bytes) {
  Places next = places_;
  if (next.token.empty()) next.token = NewPlaceToken();
  next.tables.push_back({family, dir, target_bytes});
  const bool mark = IsOutside(dir) && std::find(marked_.begin(), marked_.end(), dir) == marked_.end() && !IsOwn(dir);
  if (mark) {
    std::unique_ptr<FileLock> lock;
    if (Status s = fs_->LockFile(LockFileName(dir), &lock); !s.ok()) return s;
    if (Status s = Check(dir, "cf_paths"); !s.ok()) return s;
    if (HoldsFiles(dir)) return Status::InvalidArgument("cf_paths " + dir, "holds files of another database");
    if (places_.token.empty()) places_.token = next.token;
    if (Status s = Mark(dir, db_id_); !s.ok()) return s;
    locks_.push_back(std::move(lock));
    marked_.push_back(dir);
  }
  if (Status s = WritePlaces(fs_, db_dir_, next); !s.ok()) return s;
  places_ = next;
  has_places_ = true;
  return Status::OK();
}

}  // namespace compassdb
