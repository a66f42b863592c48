// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// With its parents; what is made here is durable. Fine if it exists.
Status CreateDirDurably(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
