// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "env/file_system.h"

namespace compassdb {

// Data and size of a file that somebody else wrote are durable. Its directory entry is not its affair.
Status SyncFile(FileSystem* fs, const std::string& path);

}  // namespace compassdb
