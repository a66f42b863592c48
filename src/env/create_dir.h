// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// Creates it with its parents, durably, also if it exists. Directories that this process may not open are not
// synced.
Status CreateDirDurably(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
