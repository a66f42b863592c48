// SPDX-License-Identifier: Apache-2.0
#include "exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "other_writer.h"
#include "streams.h"

namespace compassdb_cli {

const char* ExitCodesText() {
  return "Exit codes of compassdb:\n"
         "  0  done\n"
         "  1  the key does not exist (get)\n"
         "  2  usage error: unknown command, flag or value\n"
         "  3  the database or the system failed: no such database, locked,\n"
         "     no space, I/O error, no such column family, refused import\n"
         "  4  corruption was found (any command; verify looks for it)\n"
         "  5  bad input data (load, plan-tableless: a line that is not in the format)\n"
         "Errors are one line on standard error: \"compassdb: <what>: <file, key or option>\".\n";
}

int ExitCodeOf(const rocksdb::Status& status) {
  if (BusyIfWritten(status).IsCorruption()) return kCorrupt;
  return kFailed;
}

std::string Shortened(const std::string& text) {
  constexpr size_t kLongWord = 100, kKept = 20;
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    if (end - at > kLongWord) {
      result += text.substr(at, kKept) + (text[end - 1] == ' ' ? "... " : "...");
    } else {
      result += text.substr(at, end - at);
    }
    at = end;
  }
  return result;
}

int Fail(int code, const std::string& what, const std::string& detail) {
  std::string line = fmt::format("compassdb: {}: {}", what, detail);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fflush(stdout);
  PrintError("{}\n", line);
  return code;
}

int Fail(const std::string& what, const rocksdb::Status& status) {
  return Fail(ExitCodeOf(status), what, BusyIfWritten(status).ToString());
}

}  // namespace compassdb_cli
