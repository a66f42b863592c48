// SPDX-License-Identifier: Apache-2.0
// The directories that hold a database's compaction files, and which of them has which file.
//
// No file says where the others are: they are found by looking, once each. So the
// directories may be listed in any order, and a file may be moved while the database is closed.
//
// Thread safety: all methods; files are looked for without the lock.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/file_system.h"
#include "util/mutex.h"

namespace compassdb {

// A directory with the bytes that it is meant for (rocksdb::DbPath).
struct TablePath {
  std::string dir;
  uint64_t target_bytes = UINT64_MAX;
};

// The first of the paths at which there is a file; with *found false, at which there may be one, as it could not be
// looked at, else the first of all.
size_t WhichExists(FileSystem* fs, const std::vector<std::string>& paths, bool* found);

class TableDirs {
 public:
  TableDirs(FileSystem* fs, std::string dir) : fs_(fs), dirs_{std::move(dir)} {}

  void Add(const std::string& dir);  // without effect if it is there
  std::vector<std::string> All() const;

  // The file is in `dir`, or is about to be.
  void Put(uint64_t number, const std::string& dir);
  // The file is gone.
  void Forget(uint64_t number);

  // The first that has the file, or could not be looked into; of a file that is nowhere the first of all.
  std::string DirOf(uint64_t number);
  std::string PathOf(uint64_t number);
  // An error of opening the file, which says where it was looked for if it is in none of several
  // directories. It says that the file is missing only if it is in none of them for sure.
  Status Explain(const Status& error, uint64_t number) const;

 private:
  FileSystem* const fs_;
  mutable Mutex mu_;
  std::vector<std::string> dirs_ GUARDED_BY(mu_);  // never empty
  std::unordered_map<uint64_t, std::string> found_ GUARDED_BY(mu_);
};

}  // namespace compassdb
