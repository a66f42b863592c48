// SPDX-License-Identifier: Apache-2.0
// The directories that hold a database's compaction files, and which of them has which file.
//
// No file says where the others are: each is searched for once. So the directories
// may be listed in any order, and a file may be moved while the database is closed.
//
// Thread safety: all methods; files are searched for without the lock.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/file_system.h"
#include "util/mutex.h"

namespace compassdb {

// A directory with its target size (rocksdb::DbPath).
struct TablePath {
  std::string dir;
  uint64_t target_bytes = UINT64_MAX;
  bool operator==(const TablePath&) const = default;
};

// The first of the paths at which there is a file. With *found false: the first that could not be checked, else the
// first of all.
size_t WhichExists(FileSystem* fs, const std::vector<std::string>& paths, bool* found);

class TableDirs {
 public:
  TableDirs(FileSystem* fs, std::string dir) : fs_(fs), dirs_{std::move(dir)} {}

  void Add(const std::string& dir);  // without effect if it is listed
  std::vector<std::string> All() const;

  // The file is in `dir`, or will be.
  void Put(uint64_t number, const std::string& dir);
  // The file was deleted.
  void Forget(uint64_t number);

  // The first that has the file, or could not be checked; for a missing file the first of all.
  std::string DirOf(uint64_t number);
  std::string PathOf(uint64_t number);
  // An error of opening the file. It names the directories that were searched if there are several.
  // It says that the file is missing only if none of them can have it.
  Status Explain(const Status& error, uint64_t number) const;

 private:
  FileSystem* const fs_;
  mutable Mutex mu_;
  std::vector<std::string> dirs_ GUARDED_BY(mu_);  // never empty
  std::unordered_map<uint64_t, std::string> found_ GUARDED_BY(mu_);
};

}  // namespace compassdb
