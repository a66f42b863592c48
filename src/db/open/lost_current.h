// SPDX-License-Identifier: Apache-2.0
// Decides what a directory without CURRENT holds: nothing, another engine's files, or a database that lost it. Tables
// and batches are only written once CURRENT is durable.
//
// Thread safety: functions without state. They change nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "manifest/ownership.h"

namespace compassdb {

// InvalidArgument if the files are another engine's.
Status CheckNotForeign(FileSystem* fs, const std::string& dir);

// The recorded directories, without `dir`, that are the database's own. An error if one is not mounted.
Status RecordedDirs(FileSystem* fs, const Ownership& ownership, const std::string& dir, std::set<std::string>* dirs);

// OK if there is no database in `dir`. `others`: directories that the options name. An error says how to restore the
// database, or which engine has the files.
Status CheckForLostCurrent(FileSystem* fs, const std::string& dir, const std::set<std::string>& others);

// OK if a new database can be made in these directories, where an earlier attempt to make it may have ended early.
// `ownership` is loaded.
struct NewDatabaseDirs {
  std::string home;
  std::string wal_dir;
  std::vector<std::string> tables;
};
Status CheckMayBeMadeIn(FileSystem* fs, const Ownership& ownership, const NewDatabaseDirs& dirs);

}  // namespace compassdb
