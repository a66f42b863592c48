// SPDX-License-Identifier: Apache-2.0
// Where the logs of a RocksDB directory are. They are in it, or in a folder of it. The wal_dir of its OPTIONS may be a
// path of another machine, or belong to the database that the directory is a copy of: nothing outside is read unless
// the user names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace compassdb_import {

class LogPlaces {
 public:
  // `wal_dir` as OPTIONS have it; may be empty.
  LogPlaces(std::string source, std::string wal_dir);

  // `asked_for`: by the user; empty: nothing was. False with the text of a refusal if it is not clear which logs are
  // of this database. *note: what the user must know.
  bool Choose(const std::string& asked_for, std::string* refusal, std::string* note);

  const std::string& chosen() const { return chosen_; }
  // The refusal if the manifest asks for a log with a greater number than newest(). Empty: any will do.
  const std::string& lost() const { return lost_; }
  uint64_t newest() const { return newest_; }

 private:
  // The folders of the source that may be what OPTIONS name.
  std::vector<std::filesystem::path> FoldersInside() const;
  // Other existing ones.
  std::vector<std::filesystem::path> FoldersOutside() const;
  // Whether OPTIONS name no place, or the source.
  bool IsSource() const;
  std::string Flags() const;

  const std::string source_;
  const std::filesystem::path wal_dir_;
  std::string chosen_;
  std::string lost_;
  uint64_t newest_ = 0;
};

}  // namespace compassdb_import
