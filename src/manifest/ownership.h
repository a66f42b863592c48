// SPDX-License-Identifier: Apache-2.0
// Checks that the directories with a database's files belong to this database, in this place.
//
// A copy of a database has its id, and options that name the original's directories. So an id proves nothing. The
// token in PLACES and OWNER counts (manifest/places.h), and whether the owner that a directory names is still where
// the directory says:
//
//   token    owner's directory            answer
//   equal    this one                     own
//   equal    another, with the token      refused: this is a copy
//   equal    another, without             own: the database was moved
//   other    any                          refused, if there are logs or tables; else free
//   no OWNER                              free; logs and tables in it must show that they are the database's
//
// Directories inside of the database's own need no OWNER: a copy has copies of them. Another database that names them is
// refused, because PLACES above them has them.
//
// Thread safety: one thread; for Claim the database's lock is held.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "manifest/places.h"

namespace compassdb {

class Ownership {
 public:
  Ownership(FileSystem* fs, std::string db_dir) : fs_(fs), db_dir_(std::move(db_dir)) {}

  // Reads PLACES. A database without it is OK.
  Status Load();
  const Places& places() const { return places_; }

  // InvalidArgument, with advice, if the directory belongs to another database. Changes nothing.
  Status Check(const std::string& dir, const char* option) const;
  // The same of the database's directory, which has no CURRENT.
  Status CheckHome() const;
  // InvalidArgument if the directory was recorded, and there is nothing of the database: its disk is not mounted, say.
  Status CheckMounted(const std::string& dir, const char* option) const;
  // InvalidArgument if the recorded logs are missing, and the options name no others. `wal_dir` is what is used then.
  Status CheckLogsExist(const std::string& wal_dir) const;

  // The expected files of a directory without OWNER.
  struct Claims {
    std::string db_id;
    std::string logs_id;   // in the headers of the database's logs; empty: there may be none
    Places places;         // wal_dir and tables; Claim sets the rest
    std::function<bool(const std::string& path)> is_live_table;  // null: the caller has checked the files
  };
  // Makes all directories its own: locks them, renews the token, writes PLACES and OWNER.
  Status Claim(Claims claims);
  // For a family that is created while the database is open.
  Status AddTables(const std::string& family, const std::string& dir, uint64_t target_bytes);

  // Outside of the database's directory.
  bool IsOutside(const std::string& dir) const;
  // Inside, or outside with an OWNER that names this database.
  bool IsOwn(const std::string& dir) const;

 private:
  enum class Answer { kOwn, kFree, kUnmarked, kForeign };
  Answer Ask(const std::string& dir, Owner* owner, Status* error) const;
  bool IsHere(const std::string& dir) const;
  bool IsSame(const std::string& a, const std::string& b) const;
  bool HoldsFiles(const std::string& dir) const;
  Status Refuse(const std::string& dir, const char* option, const Owner& owner) const;
  // Checks that a directory outside is not inside of another database that uses it.
  Status CheckAbove(const std::string& dir, const char* option) const;
  bool IsUsedBy(const std::string& home, const std::string& path) const;
  // For a directory without OWNER.
  Status CheckUnmarked(const std::string& dir, const Claims& claims, bool logs) const;
  Status Mark(const std::string& dir, const std::string& db_id);

  FileSystem* const fs_;
  const std::string db_dir_;
  Places places_;
  bool has_places_ = false;
  std::string db_id_;
  std::vector<std::string> marked_;  // real paths
  std::vector<std::unique_ptr<FileLock>> locks_;
};

// The id in the header of a log; empty if it has none. OK also if the file is no log.
Status IdOfLog(FileSystem* fs, const std::string& wal_dir, uint64_t number, std::string* db_id);

}  // namespace compassdb
