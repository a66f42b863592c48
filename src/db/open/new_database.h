// SPDX-License-Identifier: Apache-2.0
// Notes what the creation of a database adds to a file system, so that a failed attempt leaves no new file or
// directory.
//
// Thread safety: none; one opener has it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "env/file_system.h"

namespace compassdb {

class NewDatabase {
 public:
  explicit NewDatabase(std::shared_ptr<FileSystem> fs) : fs_(std::move(fs)) {}

  // Notes the existing files, before a directory of the database is made.
  Status Note(const std::string& dir);
  // From here on the lock is held: new files are of this attempt.
  void SetLocked() { locked_ = true; }
  // Deletes newer files. `own_log`: the attempt opened LOG, and an earlier one gets its name back.
  // If CURRENT cannot be deleted, all files stay: they are a database. Other errors are ignored.
  void Undo(bool own_log) const;

 private:
  using Names = std::set<std::string>;
  bool DeleteNamingFiles() const;
  void RestoreInfoLog(const std::string& dir, const Names& before) const;

  std::shared_ptr<FileSystem> fs_;
  std::vector<std::string> missing_;  // directories, with their parents in front of them
  std::map<std::string, Names> names_;  // by directory
  bool locked_ = false;
};

}  // namespace compassdb
