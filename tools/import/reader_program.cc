// SPDX-License-Identifier: Apache-2.0
#include "reader_program.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace compassdb_import {

namespace {

bool ParseArguments(int argc, char** argv, Request* request) {
  request->argv = argv;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool flag = argument == "--wal-dir" || argument == "--db-path" || argument == "--merge-delimiter";
    if (!flag) {
      if (!request->directory.empty()) return false;
      request->directory = argument;
      continue;
    }
    if (++i == argc) return false;
    if (argument == "--wal-dir") request->wal_dir = argv[i];
    if (argument == "--db-path") request->db_paths.push_back(argv[i]);
    if (argument == "--merge-delimiter") request->merge_delimiter = argv[i];
  }
  return !request->directory.empty();
}

}  // namespace

bool WriteFrame(FrameType type, std::string_view payload) {
  std::string head(1, type);
  AppendNumber(&head, payload.size());
  return std::fwrite(head.data(), 1, head.size(), stdout) == head.size() &&
         std::fwrite(payload.data(), 1, payload.size(), stdout) == payload.size();
}

void Note(const std::string& text) { WriteFrame(kNote, text); }

int Refuse(const std::string& text) {
  WriteFrame(kError, text);
  std::fflush(stdout);
  return 1;
}

int RefusePebble(const std::string& directory, const std::string& file, const WrittenOptions& written) {
  return Refuse(directory + " is a database of Pebble (" + file + " says pebble_version=" + written.pebble_version +
                "), not of RocksDB");
}

int RefusePrepared(const std::string& directory, const std::string& transaction) {
  return Refuse("transaction '" + transaction + "' in the logs of " + directory +
                " is prepared, and import does not carry it over: commit it or roll it back first, with TransactionDB");
}

int RefuseEntity(const std::string& family, const std::string& key) {
  return Refuse("column family '" + family + "': key " + key +
                " is a wide-column entity (PutEntity); such data cannot be imported");
}

int CheckComparator(const std::string& family, const std::string& comparator) {
  const std::string is = "column family '" + family + "': comparator '" + comparator + "' is ";
  if (comparator == std::string(kBytewise) + ".u64ts" || comparator == std::string(kReverseBytewise) + ".u64ts") {
    return Refuse(is + "of keys with timestamps, which import does not carry over; such data cannot be imported");
  }
  if (comparator != kBytewise && comparator != kReverseBytewise) {
    return Refuse(is + "neither '" + kBytewise + "' nor '" + kReverseBytewise + "'; such data cannot be imported");
  }
  return 0;
}

// "1234567890#rocksdb.bytes.written", or the format's version.
bool IsStatisticsKey(std::string_view key) {
  if (key.substr(0, 19) == "__persistent_stats_") return true;
  constexpr size_t kDigits = 10;
  return key.size() > kDigits + 1 && key[kDigits] == '#' && key.substr(0, kDigits).find_first_not_of("0123456789") == key.npos;
}

void NoteStatistics() {
  Note(std::string("column family '") + kStatsFamily +
       "' is not imported: it holds statistics that RocksDB itself wrote (persist_stats_to_disk)");
}

std::string HintOf(const std::string& error) {
  if (error.find("No such file") == std::string::npos) return "";
  return " (if the database has db_paths, give each of them, in their order, with --db-path DIR)";
}

std::string CannotFold(const WrittenFamily& written) {
  const std::string holds = "column family '" + written.name + "': it holds merge operands, and ";
  if (written.AppendsStrings()) {
    return holds + "OPTIONS do not record the delimiter of merge_operator '" + written.merge_operator +
           "': give it with --merge-delimiter TEXT";
  }
  if (written.merge_operator == kNoMergeOperator) return holds + "OPTIONS name no merge_operator; such data cannot be imported";
  return holds + "merge_operator '" + written.merge_operator +
         "' is not one of RocksDB's own that import can fold; such data cannot be imported";
}

int RunReader(int argc, char** argv, const char* program, const char* ended, const std::function<int(Request)>& run) {
  Request request;
  if (!ParseArguments(argc, argv, &request)) {
    std::fprintf(stderr, "usage: %s DIR [--wal-dir DIR] [--db-path DIR]... [--merge-delimiter TEXT] (run by `compassdb import`)\n",
                 program);
    return 2;
  }
  try {
    return run(std::move(request));
  } catch (const std::exception& e) {
    return Refuse(ended + WhatEnded(e));
  }
}

}  // namespace compassdb_import
