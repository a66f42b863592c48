// SPDX-License-Identifier: Apache-2.0
// What option strings have beyond api/option_string.h: lists.
//
//   list = element { ":" element }, an element in braces may hold ":"
#pragma once

#include <string>
#include <vector>

#include "api/option_string.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Status;

// The elements of a list; braces around an element, or around the whole list, are removed.
Status SplitOptionList(const std::string& text, std::vector<std::string>* elements);

}  // namespace compassdb
