// SPDX-License-Identifier: Apache-2.0
// The writing end of tools/import/protocol.h: runs the helper process that has RocksDB, and gives
// it frames. The helper tells its errors on standard error itself.
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

  // Waits for the helper. False if it failed, with error() set if it could not say so itself.
  bool Finish();

  const std::string& error() const { return error_; }

 private:
  pid_t pid_ = -1;
  std::FILE* pipe_ = nullptr;
  std::string error_;
};

// Where the helper is: beside this program, else wherever PATH finds it.
std::string FindWriter();

}  // namespace compassdb_cli
