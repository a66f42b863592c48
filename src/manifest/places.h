// SPDX-License-Identifier: Apache-2.0
// Two small files that say where a database's files are (docs/formats/places.md):
//
//   PLACES  in the database's directory: its other directories
//   OWNER   in a directory outside of it: the database that has files in it
//
// Both have a random token, which every open for writing renews. A copy of the database keeps an old token, so it does
// not count as the owner of what the original wrote later.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/file_system.h"

namespace compassdb {

struct TablePlace {
  std::string family;  // the family with this cf_path; empty: db_paths
  std::string dir;
  uint64_t target_bytes = 0;
};

struct Places {
  std::string token;
  std::string previous_token;  // until every OWNER has the new one
  uint64_t first_number = 0;   // files with smaller numbers existed before the database
  std::string wal_dir;         // empty: the database's own directory
  std::vector<TablePlace> tables;
};

struct Owner {
  std::string db_id;
  std::string directory;  // of the database, without symbolic links
  std::string token;
};

std::string NewPlaceToken();
// True if `path` is `dir` or inside it; both without symbolic links.
bool IsWithin(const std::string& path, const std::string& dir);

// IsMissing if there is no such file. Directories inside `db_dir` are stored relative to it; they are returned joined
// with it.
Status ReadPlaces(FileSystem* fs, const std::string& db_dir, Places* places);
Status WritePlaces(FileSystem* fs, const std::string& db_dir, const Places& places);
Status ReadOwner(FileSystem* fs, const std::string& dir, Owner* owner);
Status WriteOwner(FileSystem* fs, const std::string& dir, const Owner& owner);

}  // namespace compassdb
