// SPDX-License-Identifier: Apache-2.0
// The syntax of option strings, one for options files, SetOptions() and CreateFromString():
//
//   options = [ "{" ] pair { ";" pair } [ ";" ] [ "}" ]
//   pair    = name "=" value
//   value   = text without ";"  |  "{" anything with balanced braces "}"
//
// White space around names and values does not count. Braces around a value are dropped. What
// RocksDB 7.8.3 refuses, as an empty pair, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocksdb/status.h"

namespace compassdb {

using OptionMap = std::unordered_map<std::string, std::string>;

// InvalidArgument, naming the text at fault, if `text` does not parse. A name given twice keeps its last
// value.
rocksdb::Status ParseOptionString(const std::string& text, OptionMap* options);

// Takes a value, or an element of a list: the text from *pos to `separator`, which *pos is moved
// behind.
rocksdb::Status TakeToken(const std::string& text, char separator, size_t* pos, std::string* token);

// What an object is made from: "" or "nullptr" (no id), "id", "id=x; a=1", or "a=1" (default_id).
// Text that is no option string is an id.
void ParseObjectString(const std::string& text, const std::string& default_id, std::string* id,
                       OptionMap* options);

// The answer where `options`, which are not empty, mean nothing to the object of `text`.
rocksdb::Status UnknownOption(const std::string& text, const OptionMap& options);

// Values of RocksDB's types. False for text that is none.
//   bool      true, false, 1, 0
//   integers  decimal, with a suffix k, m, g or t (powers of 1024, either case; an `int` knows no
//             t). What follows does not count: "64MB" is 64 MiB, "1.5g" is 1, "0x100" is 0.
//             A negative number wraps in an unsigned option, so "-1" is its largest value.
//   double    What follows does not count.
bool ParseBool(const std::string& text, bool* value);
bool ParseSigned(const std::string& text, int64_t* value);
bool ParseInt(const std::string& text, int* value);
bool ParseUnsigned(const std::string& text, uint64_t* value);
bool ParseDouble(const std::string& text, double* value);

// In values of type string, a backslash precedes a backslash, "#" and ":"; line ends are written as backslash and
// "r" or "n".
std::string EscapeOptionValue(const std::string& raw);
std::string UnescapeOptionValue(const std::string& escaped);

// Puts a value into braces if it could not be read back otherwise.
std::string QuoteOptionValue(const std::string& value, const std::string& delimiter);

}  // namespace compassdb
