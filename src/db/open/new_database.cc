// SPDX-License-Identifier: Apache-2.0
#include "db/open/new_database.h"

#include <algorithm>
#include <map>

#include "env/missing.h"
#include "format/file_names.h"

namespace compassdb {

Status NewDatabase::Note(const std::string& dir) {
  std::vector<std::string> names;
  Status s = fs_->GetChildren(dir, &names);
  if (!s.ok() && !IsMissing(s)) return s;
  names_[dir] = Names(names.begin(), names.end());
  std::vector<std::string> missing;
  for (std::string d = dir; IsMissing(fs_->FileExists(d)); d = ParentOf(d)) {
    missing.push_back(d);
    if (ParentOf(d) == d) break;
  }
  missing_.insert(missing_.end(), missing.rbegin(), missing.rend());
  return Status::OK();
}

Status NewDatabase::LookUnderLock(bool* is_new) {
  locked_ = true;
  const Status s = fs_->FileExists(CurrentFileName(home_));
  *is_new = is_new_ = IsMissing(s);
  return is_new_ ? Status::OK() : s;
}

// The first log that the attempt renamed is the one that was there.
void NewDatabase::RestoreInfoLog(const Names& before) const {
  std::vector<std::string> names;
  std::map<uint64_t, std::string> renamed;
  if (!fs_->GetChildren(info_log_.dir, &names).ok()) return;
  for (const std::string& name : names) {
    uint64_t micros = 0;
    if (before.count(name) != 0 || !ParseInfoLogName(name, info_log_.name, &micros)) continue;
    renamed[micros] = JoinPath(info_log_.dir, name);
  }
  if (renamed.empty()) return;
  if (!fs_->RenameFile(renamed.begin()->second, JoinPath(info_log_.dir, info_log_.name)).ok()) return;
  renamed.erase(renamed.begin());
  for (const auto& [micros, path] : renamed) fs_->DeleteFile(path).PermitUncheckedError();
}

// CURRENT and PLACES first, durably: without them the rest is not a database.
bool NewDatabase::DeleteNamingFiles(const Names& before) const {
  for (const std::string& name : {CurrentFileName(""), PlacesFileName("")}) {
    if (before.count(name) != 0) continue;
    const Status s = fs_->DeleteFile(JoinPath(home_, name));
    if (IsMissing(s)) continue;
    if (!s.ok() || !fs_->SyncDir(home_).ok()) return false;
  }
  return true;
}

// Not LOCK, and no log of messages if one was there before.
void NewDatabase::DeleteNewFiles(const std::string& dir, const Names& before) const {
  std::vector<std::string> names;
  if (!fs_->GetChildren(dir, &names).ok()) return;
  // All files of a new directory are of this attempt.
  const bool made = std::find(missing_.begin(), missing_.end(), dir) != missing_.end();
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type = FileType::kTemp;
    const bool logs = dir == info_log_.dir && ParseInfoLogName(name, info_log_.name, &number);
    if (before.count(name) != 0 || (logs && before.count(info_log_.name) != 0)) continue;
    const bool ours = logs || made || name.ends_with(".dbtmp") || ParseFileName(name, &number, &type);
    if (ours && JoinPath(dir, name) != LockFileName(home_)) fs_->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();
  }
}

void NewDatabase::Undo(bool own_log) const {
  const auto home = names_.find(home_);
  // If the look failed, this attempt made no CURRENT.
  const bool mine = is_new_ || (locked_ && IsMissing(fs_->FileExists(CurrentFileName(home_))));
  if (mine && home != names_.end()) {
    if (!DeleteNamingFiles(home->second)) return;
    for (const auto& [dir, before] : names_) DeleteNewFiles(dir, before);
    const auto logs = names_.find(info_log_.dir);
    if (own_log && logs != names_.end() && logs->second.count(info_log_.name) != 0) RestoreInfoLog(logs->second);
    if (home->second.count(LockFileName("")) == 0) fs_->DeleteFile(LockFileName(home_)).PermitUncheckedError();
  }
  for (auto dir = missing_.rbegin(); dir != missing_.rend(); ++dir) fs_->DeleteDir(*dir).PermitUncheckedError();
}

}  // namespace compassdb
