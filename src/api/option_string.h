// SPDX-License-Identifier: Apache-2.0
// The syntax of option strings, one for options files, SetOptions() and CreateFromString():
//
//   options = [ "{" ] pair { ";" pair } [ ";" ] [ "}" ]
//   pair    = name "=" value
//   value   = text without ";"  |  "{" anything with balanced braces "}"
//
// White space around names and values does not count. Braces around a value are dropped.
#pragma once

#include <string>
#include <unordered_map>

#include "rocksdb/status.h"

namespace compassdb {

using OptionMap = std::unordered_map<std::string, std::string>;

// InvalidArgument, naming the text at fault, if `text` does not parse. A name given twice keeps its last
// value.
rocksdb::Status ParseOptionString(const std::string& text, OptionMap* options);

// What an object is made from: "" or "nullptr" (no id), "id", "id=x; a=1", or "a=1" (default_id).
rocksdb::Status ParseObjectString(const std::string& text, const std::string& default_id,
                                  std::string* id, OptionMap* options);

// The id of an object that has no options: `text` itself, or its "id" where it is written as "{id=x}" or "id=x". Other
// text is ignored, as in RocksDB.
rocksdb::Status IdOfPlainObject(const std::string& text, std::string* id);

// The answer where `options`, which are not empty, mean nothing to the object of `text`.
rocksdb::Status UnknownOption(const std::string& text, const OptionMap& options);

// In values of type string, a backslash precedes a backslash, "#" and ":"; line ends are written as backslash and
// "r" or "n".
std::string EscapeOptionValue(const std::string& raw);
std::string UnescapeOptionValue(const std::string& escaped);

// Puts a value into braces if it could not be read back otherwise.
std::string QuoteOptionValue(const std::string& value, const std::string& delimiter);

}  // namespace compassdb
