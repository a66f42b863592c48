// SPDX-License-Identifier: Apache-2.0
// A database that a command makes. It is built elsewhere, and moved to its place when it is whole:
//
//   PLACE.unfinished/made-by-COMMAND   shows whose it is; locked while the command works
//   PLACE.unfinished/db                the database
//   PLACE.unfinished/moving            names that are moved to PLACE, if PLACE is an existing directory
//
// If PLACE is such a directory (which may be a mount point), all this is in PLACE/compassdb.unfinished, and
// PLACE/UNFINISHED makes CompassDB refuse the place. The files are moved up at the end, CURRENT last. The next run of
// the same command removes the rest of a killed one.
//
// Knows only CURRENT and MANIFEST of a database, so it works for RocksDB's files, too.
// Thread safety: none.
#pragma once

#include <rocksdb/status.h>

#include <filesystem>
#include <string>
#include <vector>

namespace compassdb_cli {

// A database that is made in a directory with names like a database's, which is not vacant.
class MadeInPlace {
 public:
  // Notes what is there.
  explicit MadeInPlace(const std::string& place);
  // Removes the database, which must be closed, and nothing that was there before.
  void Remove() const;

 private:
  const std::string place_;
  std::vector<std::string> before_;
};

class Unfinished {
 public:
  Unfinished() = default;
  // Removes what was built, unless it was published.
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;

  // Whether a database can be made at `place`: it does not exist, or is empty except for what a killed command left
  // and `lost+found`. `foreign`: files that are none of a database's may be there, too.
  static bool IsVacant(const std::string& place, bool foreign);

  // Makes the directory to build in. `command`, as in "import", marks it.
  rocksdb::Status Begin(const std::string& command, const std::string& place);
  // Where to build.
  std::string directory() const { return (staging_ / "db").string(); }
  // Durable when it returns. The database must be closed.
  rocksdb::Status Publish();

 private:
  rocksdb::Status MakeParents();
  rocksdb::Status TakeMark(const std::string& command, bool leftover);
  rocksdb::Status MarkPlace(const std::string& command);
  rocksdb::Status MoveUp();
  // The contents of the staging directory, and what was moved out of it; the mark last.
  rocksdb::Status Clear();
  void Unlock();

  std::filesystem::path place_;
  std::filesystem::path staging_;
  std::filesystem::path mark_;
  std::vector<std::filesystem::path> made_parents_;  // outermost first
  bool inside_ = false;  // the place was there before
  int lock_ = -1;        // of the mark; -1: there is nothing to remove
};

}  // namespace compassdb_cli
