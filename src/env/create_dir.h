// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// With its parents, durably. Fine if it exists; then what failed before its entry was durable is made good.
Status CreateDirDurably(FileSystem* fs, const std::string& dir);

}  // namespace compassdb
