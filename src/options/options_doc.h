// SPDX-License-Identifier: Apache-2.0
// The part of docs/options.md that the option tables write.
#pragma once

#include <string>

namespace compassdb {

inline constexpr const char* kOptionsBegin =
    "<!-- options: written by the tables in src/options -->\n";
inline constexpr const char* kOptionsEnd = "<!-- options: end -->\n";

// Markdown, without the two marks.
std::string OptionsDocument();

}  // namespace compassdb
