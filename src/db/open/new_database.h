// SPDX-License-Identifier: Apache-2.0
// What making a database adds to a file system, so that an attempt that fails leaves nothing: no file, and no directory
// that was not there before.
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

  // Notes what is there, before a directory of the database is made.
  Status Note(const std::string& dir);
  // From here on the lock is held: files that come are of this attempt.
  void SetLocked() { locked_ = true; }
  // Deletes what came since then. What cannot be deleted stays.
  void Undo() const;

 private:
  std::shared_ptr<FileSystem> fs_;
  std::vector<std::string> missing_;  // directories, with their parents in front of them
  std::map<std::string, std::set<std::string>> names_;  // by directory
  bool locked_ = false;
};

}  // namespace compassdb
