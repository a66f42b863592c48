// SPDX-License-Identifier: Apache-2.0
// What option strings have beyond util/option_string.h: lists and escapes.
//
//   list = element { ":" element }, an element in braces may hold ":"
//
// In values of type string, a backslash stands before a backslash, "#" and ":";
// line ends are written as backslash and "r" or "n".
#pragma once

#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "util/option_string.h"

namespace compassdb {

using rocksdb::Status;

// The elements of a list; braces around an element, or around the whole list, are removed.
Status SplitOptionList(const std::string& text, std::vector<std::string>* elements);

std::string EscapeOptionValue(const std::string& raw);
std::string UnescapeOptionValue(const std::string& escaped);

}  // namespace compassdb
