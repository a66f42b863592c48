// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace compassdb {

// The checksum of a whole compaction file, by the function of that name. The file is never punched (ExtentLedger).
struct FileChecksum {
  uint64_t file_number = 0;
  std::string checksum;
  std::string function;
};

}  // namespace compassdb
