// SPDX-License-Identifier: Apache-2.0
// The file UNFINISHED: its directory has only a part of a database. Restores and checkpoints write it first and delete
// it last. Open, repair and all readers of CURRENT refuse such a directory.
//
// It has one line: the name of the work.
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

inline constexpr char kUnfinishedFileName[] = "UNFINISHED";

// Durably. `what` names the work, as in "restore of backup 3".
Status MarkUnfinished(FileSystem* fs, const std::string& dir, const std::string& what);
// When the work ends, or its leftovers are deleted.
Status UnmarkUnfinished(FileSystem* fs, const std::string& dir);

// OK without the file, with *what empty.
Status ReadUnfinished(FileSystem* fs, const std::string& dir, std::string* what);
// Incomplete, with the name of the work, if the file exists.
Status CheckFinished(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
