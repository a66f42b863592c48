// SPDX-License-Identifier: Apache-2.0
// Names of files of RocksDB and LevelDB.
#pragma once

#include <cstdint>
#include <string>

namespace compassdb::rocksdb_files {

// "000123.sst".
inline std::string NumberedName(uint64_t number, const char* suffix) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return digits + "." + suffix;
}

// True for the name of a log.
inline bool IsLogName(const std::string& name, uint64_t* number) {
  const size_t dot = name.find('.');
  constexpr size_t kMostDigits = 19;
  if (dot == 0 || dot > kMostDigits || name.substr(dot) != ".log") return false;
  *number = 0;
  for (const char c : name.substr(0, dot)) {
    if (c < '0' || c > '9') return false;
    *number = *number * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

}  // namespace compassdb::rocksdb_files
