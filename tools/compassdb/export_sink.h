// SPDX-License-Identifier: Apache-2.0
// The writing end of tools/import/protocol.h: runs the helper process that has RocksDB, and gives
// it frames. The helper writes the reason of a failure to its standard output.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace compassdb_cli {

class ExportSink {
 public:
  ExportSink() = default;
  ~ExportSink();
  ExportSink(const ExportSink&) = delete;

  // Starts `writer` on the directory to be made. False with error() set.
  bool Start(const std::string& writer, const std::string& directory);

  // False if the helper has ended.
  bool Send(char type, std::string_view payload);

  // Waits for the helper. False if it failed, with error() set.
  bool Finish();

  const std::string& error() const { return error_; }

 private:
  // The helper's output until it ends.
  std::string ReadReason();

  pid_t pid_ = -1;
  std::FILE* pipe_ = nullptr;
  int reason_ = -1;
  std::string error_;
};

// Where the helper is: next to this program, else in PATH.
std::string FindWriter();

}  // namespace compassdb_cli
