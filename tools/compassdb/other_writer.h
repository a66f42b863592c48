// SPDX-License-Identifier: Apache-2.0
// Reading a database that another process writes: what that frees within its files cannot be read any more and looks
// damaged to a reader that is not told of it.
#pragma once

#include <rocksdb/status.h>

#include <string>

namespace compassdb_cli {

// The database at `path` is going to be read, by this process.
void ReadsBeside(const std::string& path);

// Corruption as it is, or Busy with its text if another process has, or has had since then, that database open.
rocksdb::Status AsSeenBeside(const rocksdb::Status& status);

}  // namespace compassdb_cli
