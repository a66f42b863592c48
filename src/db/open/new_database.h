// SPDX-License-Identifier: Apache-2.0
// Notes what the creation of a database adds to a file system, so that a failed attempt can delete it.
//
// Thread safety: none; one opener has it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/report/info_log.h"
#include "env/file_system.h"

namespace compassdb {

class NewDatabase {
 public:
  NewDatabase(std::shared_ptr<FileSystem> fs, std::string home, InfoLogPlace info_log)
      : fs_(std::move(fs)), home_(std::move(home)), info_log_(std::move(info_log)) {}

  // Notes the existing files, before a directory of the database is made.
  Status Note(const std::string& dir);
  // The lock is held from here on. *is_new: no other process has made the database since, so new files are of this
  // attempt.
  Status LookUnderLock(bool* is_new);
  // Deletes newer files; the caller holds the lock. `own_log`: the attempt opened LOG, and an earlier one gets its
  // name back. If CURRENT or PLACES cannot be deleted durably, all other files stay. Other errors are ignored.
  void Undo(bool own_log) const;

 private:
  using Names = std::set<std::string>;
  bool DeleteNamingFiles(const Names& before) const;
  void DeleteNewFiles(const std::string& dir, const Names& before) const;
  void RestoreInfoLog(const Names& before) const;

  std::shared_ptr<FileSystem> fs_;
  std::string home_;
  InfoLogPlace info_log_;
  std::vector<std::string> missing_;  // directories, with their parents in front of them
  std::map<std::string, Names> names_;  // by directory
  bool locked_ = false;
  bool is_new_ = false;  // there was no database under the lock
};

}  // namespace compassdb
