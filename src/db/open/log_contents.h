// SPDX-License-Identifier: Apache-2.0
// For RepairDB: how many records of each column family a log has, before it is replayed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "env/file_system.h"

namespace compassdb {

struct LogContents {
  std::map<uint32_t, uint64_t> records;  // by column family
  std::set<uint32_t> merged;             // families with merge operands
};

// Adds the records that a replay can read. The replay reports damage.
Status ReadLogContents(FileSystem* fs, const std::string& wal_dir, uint64_t number, LogContents* contents);

}  // namespace compassdb
