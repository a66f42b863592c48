// SPDX-License-Identifier: Apache-2.0
// Recognises an input by its first bytes.
#pragma once

#include <string>
#include <string_view>

namespace compassdb_cli {

// Why lines of text cannot be read from an input that begins like this: compressed, or UTF-16. Empty: they can.
// `name` is the file's, for the command that helps.
std::string WhyNotText(std::string_view begin, const std::string& name);

// Of the UTF-8 byte order mark at the beginning; 0 if there is none.
size_t Utf8MarkBytes(std::string_view begin);

}  // namespace compassdb_cli
