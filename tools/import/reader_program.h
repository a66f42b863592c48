// SPDX-License-Identifier: Apache-2.0
// What the two programs that read for `compassdb import` share: arguments, frames on standard output, and what they
// refuse with which text. It knows no class of RocksDB, as one of the programs contains RocksDB's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol.h"
#include "written_options.h"

namespace compassdb_import {

inline constexpr char kReverseBytewise[] = "rocksdb.ReverseBytewiseComparator";
// RocksDB's own family, written by persist_stats_to_disk. Its Open fails if it exists already.
inline constexpr char kStatsFamily[] = "___rocksdb_stats_history___";
// Merge operators whose result depends on nothing but the operands. TtlMergeOperator takes the time of the reading.
inline constexpr const char* kFoldedOperators[] = {"PutOperator", "UInt64AddOperator", "MaxOperator", "BytesXOR", "MergeSortOperator"};

struct Request {
  std::string directory;
  std::string wal_dir;  // empty: to be found
  std::vector<std::string> db_paths;
  std::optional<std::string> merge_delimiter;
  char** argv = nullptr;
};

bool WriteFrame(FrameType type, std::string_view payload);
void Note(const std::string& text);
// The end of the reading, and the program's exit code. So do those below, unless they return 0.
int Refuse(const std::string& text);
// `file`: the OPTIONS.
int RefusePebble(const std::string& directory, const std::string& file, const WrittenOptions& written);
int RefusePrepared(const std::string& directory, const std::string& transaction);
// `key` in hexadecimal digits.
int RefuseEntity(const std::string& family, const std::string& key);
// 0 if the comparator is one of those that import carries over.
int CheckComparator(const std::string& family, const std::string& comparator);

// Whether the key of kStatsFamily is one of RocksDB's.
bool IsStatisticsKey(std::string_view key);
void NoteStatistics();
// What an error at the opening may ask the user for.
std::string HintOf(const std::string& error);
// Why operands of the family cannot be folded.
std::string CannotFold(const WrittenFamily& written);

// A program's main. `ended`: what precedes the text of an exception.
int RunReader(int argc, char** argv, const char* program, const char* ended, const std::function<int(Request)>& run);

}  // namespace compassdb_import
