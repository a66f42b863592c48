// SPDX-License-Identifier: Apache-2.0
// The exit codes of `compassdb`. Scripts rely on these numbers.
#pragma once

#include <rocksdb/status.h>

#include <string>

namespace compassdb_cli {

enum ExitCode {
  kOk = 0,
  kNotFound = 1,
  kUsage = 2,
  kFailed = 3,
  kCorrupt = 4,
  kBadInput = 5,
};

// The text of `compassdb help exit-codes`.
const char* ExitCodesText();

// The code for a status that is not OK.
int ExitCodeOf(const rocksdb::Status& status);

// Long words, for example numbers of 300 digits, are cut.
std::string Shortened(const std::string& text);

// Prints "compassdb: <what>: <detail>" on standard error, on one line, and
// returns `code`.
int Fail(int code, const std::string& what, const std::string& detail);
int Fail(const std::string& what, const rocksdb::Status& status);

}  // namespace compassdb_cli
