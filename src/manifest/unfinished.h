// SPDX-License-Identifier: Apache-2.0
// The file UNFINISHED: a directory that has it holds a part of a database. Restores and checkpoints write it first and
// delete it last. Open, repair and all that reads CURRENT refuse such a directory by name.
//
// It holds one line: what was begun there.
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

inline constexpr char kUnfinishedFileName[] = "UNFINISHED";

// Durably. `what` names the work, as in "restore of backup 3".
Status MarkUnfinished(FileSystem* fs, const std::string& dir, const std::string& what);
// The end of the work, or of its leftovers.
Status UnmarkUnfinished(FileSystem* fs, const std::string& dir);

// OK without the file, with *what empty.
Status ReadUnfinished(FileSystem* fs, const std::string& dir, std::string* what);
// Incomplete, with what was begun there, if the file is there.
Status CheckFinished(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
