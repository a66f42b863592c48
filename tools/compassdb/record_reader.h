// SPDX-License-Identifier: Apache-2.0
// Reads key-value records from lines of text.
//
// A UTF-8 byte order mark at the beginning is not part of the first record. Compressed input and UTF-16 are refused.
//
//   tsv   key TAB value; blank lines only at the end
//   json  {"key": "...", "value": "..."}; "key_hex" and "value_hex" hold hex;
//         a value that is no string is taken as compact JSON text
//   hex   0xKEY ==> 0xVALUE, as `ldb dump --hex` writes it (`ldb scan --hex`
//         writes " : " instead); the trailer "Keys in range: N" is skipped
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exit_codes.h"
#include "line_reader.h"

namespace compassdb_cli {

enum class Format { kAuto, kTsv, kJson, kHex };

// Valid until the next call of the reader.
struct Record {
  std::string_view key;
  std::string_view value;
};

class RecordReader {
 public:
  // Reads `path`; "-" is standard input. With `escaped`, backslash escapes in TSV stand for the bytes that they name;
  // kAuto is TSV then.
  RecordReader(const std::string& path, Format format, bool escaped)
      : in_(path), name_(in_.name()), format_(escaped && format == Format::kAuto ? Format::kTsv : format), escaped_(escaped) {}

  // True: *record is the next one. False: the end, or an error if error() is
  // not empty; it names file and line.
  bool Next(Record* record);

  // Releases the memory of a large record.
  void Release();

  const std::string& error() const { return error_; }
  // Of bad input, or of input that cannot be read.
  ExitCode error_code() const { return error_code_; }
  Format format() const { return format_; }
  const std::string& name() const { return name_; }
  // The first line ends with CR LF, and the CR is a part of its value.
  bool keeps_return() const { return keeps_return_; }
  uint64_t bytes() const { return bytes_; }

 private:
  // Before the first line is used.
  bool LookAtBegin();
  bool Detect();
  bool ParseTsv(Record* record);
  bool ParseJson(Record* record);
  bool ParseHex(Record* record);
  bool Bad(const std::string& why);
  bool Keep(std::string&& key, std::string&& value, Record* record);

  LineReader in_;
  const std::string name_;
  Format format_;
  const bool escaped_;
  std::string line_;
  std::string key_, value_;  // of the record, where they are not parts of the line
  uint64_t line_number_ = 0;
  uint64_t blank_line_ = 0;  // the first of those at the end; 0: none so far
  bool keeps_return_ = false;
  uint64_t bytes_ = 0;
  std::string error_;
  ExitCode error_code_ = kBadInput;
};

}  // namespace compassdb_cli
