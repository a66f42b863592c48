// SPDX-License-Identifier: Apache-2.0
// Standard streams that may be closed, full or gone: what cannot be written ends no command by
// itself. Errors of standard output are told by FinishOutput, those of standard error by nobody.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace compassdb_cli {

// Gives the numbers of standard streams that the caller closed to something that can be neither read nor written, or
// else files of the database get them, and messages are written into those. Call before any file is opened.
void OpenStandardStreams();

void WriteOutput(std::string_view text);
void WriteError(std::string_view text);

template <typename... Args>
void PrintOut(fmt::format_string<Args...> format, Args&&... args) {
  WriteOutput(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Tell(fmt::format_string<Args...> format, Args&&... args) {
  WriteError(fmt::format(format, std::forward<Args>(args)...));
}

// `code`, or that of a failure, after a message, if something of standard output was lost.
int FinishOutput(const std::string& command, int code);

}  // namespace compassdb_cli
