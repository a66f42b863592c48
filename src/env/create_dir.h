// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// With its parents, durably, also if it exists. Of directories of others that this process must not open it is left
// to them.
Status CreateDirDurably(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
