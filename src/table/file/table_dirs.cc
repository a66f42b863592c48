// SPDX-License-Identifier: Apache-2.0
#include "table/file/table_dirs.h"

#include <algorithm>

#include "env/missing.h"
#include "format/file_names.h"

namespace compassdb {

// A later path may have an older copy of the file.
size_t WhichExists(FileSystem* fs, const std::vector<std::string>& paths, bool* found) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const Status s = fs->FileExists(paths[i]);
    *found = s.ok();
    if (!IsMissing(s)) return i;
  }
  return 0;
}

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
  std::vector<std::string> paths;
  for (const std::string& dir : dirs) paths.push_back(PieceFileName(dir, number));
  bool found = false;
  const std::string& dir = dirs[WhichExists(fs_, paths, &found)];
  if (found) Put(number, dir);
  return dir;
}

std::string TableDirs::PathOf(uint64_t number) { return PieceFileName(DirOf(number), number); }

Status TableDirs::Explain(const Status& error, uint64_t number) const {
  const std::vector<std::string> dirs = All();
  if (!IsMissing(error) || dirs.size() == 1) return error;
  std::string list;
  for (const std::string& dir : dirs) {
    const std::string path = PieceFileName(dir, number);
    const Status s = fs_->FileExists(path);
    if (s.ok()) return Status::IOError(path, "was not found, and exists");
    if (!IsMissing(s)) return s;
    list += (list.empty() ? "" : ", ") + dir;
  }
  return Status::PathNotFound(PieceFileName("", number) + " is in none of " + list);
}

}  // namespace compassdb
