// SPDX-License-Identifier: Apache-2.0
// Standard streams may be closed or full. A failed write does not end a command by itself:
// FinishOutput reports errors of standard output. Errors of standard error are ignored.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace compassdb_cli {

// Opens standard streams that the caller closed, to something that can be neither read nor written. Otherwise a
// file of the database gets their number, and messages are written into it. Call before any file is opened.
void OpenStandardStreams();

void WriteOutput(std::string_view text);
void WriteError(std::string_view text);

template <typename... Args>
void PrintOut(fmt::format_string<Args...> format, Args&&... args) {
  WriteOutput(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void PrintError(fmt::format_string<Args...> format, Args&&... args) {
  WriteError(fmt::format(format, std::forward<Args>(args)...));
}

// Returns `code`, or prints a message and returns a failure if a write to standard output failed.
int FinishOutput(const std::string& command, int code);

}  // namespace compassdb_cli
