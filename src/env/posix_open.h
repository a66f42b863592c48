// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rocksdb/status.h"

namespace compassdb {

// Opens a file to be read; `flags` in addition to O_RDONLY and O_CLOEXEC. IOError that says what it is for what is no
// regular file: opening a FIFO would wait for its writer. `operation` is for messages.
rocksdb::Status OpenRegularFile(const char* operation, const std::string& path, int flags, int* fd);

}  // namespace compassdb
