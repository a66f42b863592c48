// SPDX-License-Identifier: Apache-2.0
// Whose a file is: what Open, DestroyDB and a restore may read or delete, and what they must leave alone.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "env/file_system.h"
#include "format/file_names.h"

namespace compassdb {

// The magic number of its format is in a log, manifest or compaction file before this.
inline constexpr size_t kMagicEnds = 64;
bool HasMagic(const std::string& start, FileType type);
// The same, or the file is encrypted. Of an info log: it names this engine.
bool BeginsAsOurs(const std::string& start, FileType type);
// A log or compaction file that this engine did not begin, or a directory. Of what cannot be read, or lost its first
// bytes in a crash, the name decides.
bool WasBegunByOthers(FileSystem* fs, const std::string& path, FileType type);
// Whether the file at the place of an info log begins as one does, with a date, or is empty.
bool IsInfoLog(FileSystem* fs, const std::string& path);

// Whether something in `dir` shows that it is a database of this engine, or what is left of one.
Status IsDatabaseDir(FileSystem* fs, const std::string& dir, bool* yes);

// How a database's files are known.
struct OwnFiles {
  uint64_t first_number = 0;      // files with smaller numbers were there before it (PLACES)
  std::set<std::string> log_ids;  // in the headers of its logs; empty: not known
  bool must_show = false;         // the directory has no OWNER: a log is of others until its id shows whose it is
};

// Whether a file with a name of the database's is not its own: it is older than the database, or of another
// engine, or a log of another database. For damaged files the name decides.
bool IsOfOthers(FileSystem* fs, const std::string& dir, const std::string& name,
                const OwnFiles& own);

}  // namespace compassdb
