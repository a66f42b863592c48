// SPDX-License-Identifier: Apache-2.0
// One JSON object as a record: the members "key" and "value", or "key_hex" and "value_hex".
#pragma once

#include <optional>
#include <string>

namespace compassdb_cli {

// A member of the object: a string's characters, or the compact text of another value, with numbers and
// the order of members as in the input.
struct JsonMember {
  std::string text;
  bool is_string = false;
};

struct JsonRecord {
  std::optional<JsonMember> key, value, key_hex, value_hex;
};

// Empty, or why `line` is not one JSON object, with the column (in bytes, from 1 on). However deep it is nested, the stack does not grow.
std::string ParseJsonRecord(const std::string& line, JsonRecord* record);

}  // namespace compassdb_cli
