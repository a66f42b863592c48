// SPDX-License-Identifier: Apache-2.0
// The options that decide how a database is read, from an OPTIONS file of any version of RocksDB. RocksDB's own loader
// silently replaces what it cannot build, and refuses files of some versions altogether.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace compassdb_import {

inline constexpr char kBytewise[] = "leveldb.BytewiseComparator";
inline constexpr char kNoMergeOperator[] = "nullptr";

struct WrittenFamily {
  std::string name;
  std::string comparator = kBytewise;
  std::string merge_operator = kNoMergeOperator;
  std::optional<std::string> delimiter;  // of StringAppendOperator; versions up to 6 do not write it
  std::string prefix_extractor;          // empty: none
  int num_levels = 0;

  bool AppendsStrings() const {
    return merge_operator == "StringAppendOperator" || merge_operator == "StringAppendTESTOperator";
  }
};

struct WrittenOptions {
  std::map<std::string, WrittenFamily> families;  // by name
  std::string wal_dir;
  std::string pebble_version;  // empty: it is not Pebble's
};

// Unreadable values are empty.
WrittenOptions ReadOptionsFile(const std::string& path);

}  // namespace compassdb_import
