// SPDX-License-Identifier: Apache-2.0
// Which engine's files are in a directory without a CURRENT of ours.
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

bool IsDirectory(FileSystem* fs, const std::string& path);

// The first n bytes of a file, or all of it.
Status ReadStart(FileSystem* fs, const std::string& path, size_t n, std::string* bytes);

// *what: "RocksDB's or LevelDB's /db/000004.log", of a table, log, manifest or marker; empty if there is none. Files that
// any program may have left, such as OPTIONS or an empty log, do not count.
Status FindForeignFile(FileSystem* fs, const std::string& dir, std::string* what);

// A name in `dir` of a file that only this engine makes; empty if there is none.
Status FindOwnFile(FileSystem* fs, const std::string& dir, std::string* name);

// InvalidArgument with advice if manifests, logs or tables need a key, another key, or none. Without it they look damaged.
Status CheckNotSealed(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
