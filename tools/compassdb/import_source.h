// SPDX-License-Identifier: Apache-2.0
// The reading end of tools/import/protocol.h: runs the helper process and
// gives its frames.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace compassdb_cli {

class ImportSource {
 public:
  ImportSource() = default;
  ~ImportSource();
  ImportSource(const ImportSource&) = delete;

  // Starts `reader` with its arguments: the RocksDB directory, and flags. False with error() set.
  bool Start(const std::string& reader, const std::vector<std::string>& arguments);

  // The next frame; notes are printed and skipped. False with error() set: the helper's own words, or that
  // it ended too early.
  bool Next(char* type, std::string* payload);

  const std::string& error() const { return error_; }

 private:
  bool Read(char* buffer, uint64_t size);

  pid_t pid_ = -1;
  std::FILE* pipe_ = nullptr;
  std::string error_;
};

// Where the helper is: next to this program, else in PATH.
std::string FindReader();

}  // namespace compassdb_cli
