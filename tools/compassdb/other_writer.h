// SPDX-License-Identifier: Apache-2.0
// Reading a database that another process writes. That process may free parts of its files, which
// then look damaged to this one.
#pragma once

#include <rocksdb/status.h>

#include <string>

namespace compassdb_cli {

// Call before this process opens the database at `path` to read it.
void WatchForWriter(const std::string& path);

// A Corruption becomes Busy with the same text if another process has or had that database open.
rocksdb::Status BusyIfWritten(const rocksdb::Status& status);

}  // namespace compassdb_cli
