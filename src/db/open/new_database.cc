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

// The first log that the attempt renamed is the one that was there.
void NewDatabase::RestoreInfoLog(const std::string& dir, const Names& before) const {
  std::vector<std::string> names;
  std::map<uint64_t, std::string> renamed;
  if (!fs_->GetChildren(dir, &names).ok()) return;
  for (const std::string& name : names) {
    uint64_t micros = 0;
    if (before.count(name) != 0 || !ParseInfoLogName(name, InfoLogFileName(""), &micros)) continue;
    renamed[micros] = JoinPath(dir, name);
  }
  if (renamed.empty()) return;
  if (!fs_->RenameFile(renamed.begin()->second, InfoLogFileName(dir)).ok()) return;
  renamed.erase(renamed.begin());
  for (const auto& [micros, path] : renamed) fs_->DeleteFile(path).PermitUncheckedError();
}

// CURRENT and PLACES first, durably: the rest of a failed removal is not a database. False if one of them may stay.
bool NewDatabase::DeleteNamingFiles() const {
  for (const auto& [dir, before] : names_) {
    bool deleted = false;
    for (const std::string& name : {CurrentFileName(""), PlacesFileName("")}) {
      if (before.count(name) != 0) continue;
      const Status s = fs_->DeleteFile(JoinPath(dir, name));
      if (!s.ok() && !IsMissing(s)) return false;
      deleted |= s.ok();
    }
    if (deleted && !fs_->SyncDir(dir).ok()) return false;
  }
  return true;
}

void NewDatabase::Undo(bool own_log) const {
  if (locked_ && !DeleteNamingFiles()) return;  // an empty database stays, which can be opened
  for (const auto& [dir, before] : names_) {
    std::vector<std::string> names;
    if (!locked_ || !fs_->GetChildren(dir, &names).ok()) continue;
    // All files of a new directory are of this attempt.
    const bool made = std::find(missing_.begin(), missing_.end(), dir) != missing_.end();
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type = FileType::kTemp;
      const bool parsed = ParseFileName(name, &number, &type);
      if (before.count(name) != 0 || !(parsed || made)) continue;
      if (type == FileType::kInfoLog && before.count(InfoLogFileName("")) != 0) continue;
      fs_->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();
    }
  }
  for (const auto& [dir, before] : names_) {
    if (locked_ && own_log && before.count(InfoLogFileName("")) != 0) RestoreInfoLog(dir, before);
  }
  for (auto dir = missing_.rbegin(); dir != missing_.rend(); ++dir) fs_->DeleteDir(*dir).PermitUncheckedError();
}

}  // namespace compassdb
