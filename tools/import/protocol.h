// SPDX-License-Identifier: Apache-2.0
// What compassdb-rocksdb-reader writes to the pipe that `compassdb import`
// reads. The two are programs of their own because RocksDB and CompassDB
// define the same symbols and cannot share a process.
//
//   frame    := type:1 byte  length:8 bytes little endian  payload
//   stream   := Hello Families ( FamilyBegin (Record | Progress)* FamilyEnd )* Done
//             | any prefix of it, then Error
//
//   Hello        "compassdb-import 3"
//   Families     { string name, string comparator }*, all of the database
//   FamilyBegin  string name
//   Record       string key, then the value up to the end of the payload
//   FamilyEnd    number of records, 8 bytes little endian
//   Done         empty
//   Progress     bytes of tables read, and of all that are to be read, 8 bytes each; between records
//   Note         one line of text for the user; may precede every other frame but Hello
//   Error        one line of text
//   string    := length:8 bytes little endian, bytes
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

namespace compassdb_import {

inline constexpr std::string_view kHelloText = "compassdb-import 3";
inline constexpr uint64_t kMostPayload = uint64_t{9} << 30;  // key and value below 4 GiB each

enum FrameType : char {
  kHello = 'H',
  kFamilies = 'L',
  kFamilyBegin = 'F',
  kRecord = 'R',
  kFamilyEnd = 'E',
  kDone = 'Z',
  kProgress = 'P',
  kNote = 'N',
  kError = 'X',
};

// Of an exception that RocksDB lets through: it has no thread, or no memory.
inline std::string WhatEnded(const std::exception& e) {
  std::string text = e.what();
  if (dynamic_cast<const std::system_error*>(&e) != nullptr) text += " (a limit of processes and threads, as of ulimit -u or pids.max?)";
  return text;
}

inline void AppendNumber(std::string* out, uint64_t number) {
  for (int i = 0; i < 8; ++i, number >>= 8) out->push_back(static_cast<char>(number & 255));
}

inline void AppendString(std::string* out, std::string_view text) {
  AppendNumber(out, text.size());
  out->append(text);
}

inline uint64_t DecodeNumber(const char* bytes) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

inline bool TakeNumber(std::string_view* in, uint64_t* number) {
  if (in->size() < 8) return false;
  *number = DecodeNumber(in->data());
  in->remove_prefix(8);
  return true;
}

inline bool TakeString(std::string_view* in, std::string_view* text) {
  uint64_t length;
  if (!TakeNumber(in, &length) || length > in->size()) return false;
  *text = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

}  // namespace compassdb_import
