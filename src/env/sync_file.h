// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// Makes data and size of an existing file durable, without its directory entry.
Status SyncFile(FileSystem* fs, const std::string& path);

}  // namespace compassdb
