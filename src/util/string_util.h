// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

// Upper-case digits, two per byte, as RocksDB's tools print them.
std::string HexEncode(const Slice& data);
// False if the length is odd or a character is no hex digit; either case is read.
bool HexDecode(const Slice& hex, std::string* data);

// Printable ASCII stays, the rest (and the backslash) becomes \xNN.
std::string EscapeString(const Slice& data);
// For messages: 'key', escaped and cut to at most max_bytes with "..." and its length.
std::string EscapeKey(const Slice& key, size_t max_bytes = 64);

// With quotes around it.
std::string JsonString(const std::string& text);

// Digits, perhaps after "-"; with `may_have_point` perhaps with one point, also first or last.
bool IsNumber(const std::string& text, bool may_have_point);
// Decimal digits only, no sign, no overflow; consumes them from `input`.
bool ConsumeDecimal(Slice* input, uint64_t* value);

// Clears a buffer that is used again. Frees the memory that a large record needed.
inline void ClearBuffer(std::string* buffer) {
  constexpr size_t kKept = 1 << 20;
  if (buffer->capacity() > kKept) {
    std::string().swap(*buffer);
  } else {
    buffer->clear();
  }
}

std::string Trim(const std::string& s);  // ASCII white space at both ends
std::vector<std::string> Split(const std::string& s, char separator);
// 1536 -> "1.50 KB"; for reports.
std::string HumanBytes(uint64_t bytes);

}  // namespace compassdb
