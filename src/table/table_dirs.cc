// SPDX-License-Identifier: Apache-2.0
#include "table/table_dirs.h"

#include <algorithm>

#include "base/file_names.h"
#include "env/missing.h"

namespace compassdb {

void TableDirs::Add(const std::string& dir) {
  MutexLock lock(&mu_);
  if (std::find(dirs_.begin(), dirs_.end(), dir) == dirs_.end()) dirs_.push_back(dir);
}

std::vector<std::string> TableDirs::All() const {
  MutexLock lock(&mu_);
  return dirs_;
}

void TableDirs::Put(uint64_t number, const std::string& dir) {
  MutexLock lock(&mu_);
  found_[number] = dir;
}

void TableDirs::Forget(uint64_t number) {
  MutexLock lock(&mu_);
  found_.erase(number);
}

std::string TableDirs::DirOf(uint64_t number) {
  std::vector<std::string> dirs;
  {
    MutexLock lock(&mu_);
    const auto it = found_.find(number);
    if (it != found_.end()) return it->second;
    if (dirs_.size() == 1) return dirs_.front();
    dirs = dirs_;
  }
  for (const std::string& dir : dirs) {
    if (!fs_->FileExists(PieceFileName(dir, number)).ok()) continue;
    Put(number, dir);
    return dir;
  }
  return dirs.front();
}

std::string TableDirs::PathOf(uint64_t number) { return PieceFileName(DirOf(number), number); }

Status TableDirs::Explain(const Status& error, uint64_t number) const {
  const std::vector<std::string> dirs = All();
  if (!IsMissing(error) || dirs.size() == 1) return error;
  std::string list;
  for (const std::string& dir : dirs) list += (list.empty() ? "" : ", ") + dir;
  return Status::PathNotFound(PieceFileName("", number) + " is in none of " + list);
}

}  // namespace compassdb
