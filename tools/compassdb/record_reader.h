// SPDX-License-Identifier: Apache-2.0
// Reads key-value records from lines of text.
//
//   tsv   key TAB value
//   json  {"key": "...", "value": "..."}; "key_hex" and "value_hex" hold hex;
//         a value that is no string is taken as compact JSON text
//   hex   0xKEY ==> 0xVALUE, as `ldb dump --hex` writes it (`ldb scan --hex`
//         writes " : " instead); the trailer "Keys in range: N" is skipped
#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "exit_codes.h"

namespace compassdb_cli {

enum class Format { kAuto, kTsv, kJson, kHex };

struct Record {
  std::string key;
  std::string value;
};

class RecordReader {
 public:
  // Reads `in`, called `name` in messages. With `escaped`, backslash escapes
  // in TSV stand for the bytes that they name.
  RecordReader(std::istream* in, std::string name, Format format, bool escaped)
      : in_(in), name_(std::move(name)), format_(format), escaped_(escaped) {}

  // True: *record is the next one. False: the end, or an error if error() is
  // not empty; it names file and line.
  bool Next(Record* record);

  const std::string& error() const { return error_; }
  // Of bad input, or of input that cannot be read.
  ExitCode error_code() const { return error_code_; }
  Format format() const { return format_; }
  uint64_t bytes() const { return bytes_; }

 private:
  bool Detect();
  bool ParseTsv(Record* record);
  bool ParseJson(Record* record);
  bool ParseHex(Record* record);
  bool Bad(const std::string& why);

  std::istream* const in_;
  const std::string name_;
  Format format_;
  const bool escaped_;
  std::string line_;
  uint64_t line_number_ = 0;
  uint64_t bytes_ = 0;
  std::string error_;
  ExitCode error_code_ = kBadInput;
};

}  // namespace compassdb_cli
