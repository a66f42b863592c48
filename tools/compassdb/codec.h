// SPDX-License-Identifier: Apache-2.0
// Bytes as text and back: hex as RocksDB's ldb writes it, escaped text, JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace compassdb_cli {

// "0x0AFF"; upper case, as ldb.
std::string ToHex(std::string_view bytes);
std::string HexDigits(std::string_view bytes);  // the same without "0x"
// Accepts "0x" or "0X" and an even number of digits in either case.
std::optional<std::string> FromHex(std::string_view text);

// Backslash escapes for backslash, tab, newline, return and all other bytes
// below 0x20 and 0x7f; anything else, UTF-8 included, stays as it is.
std::string Escape(std::string_view bytes);
std::string EscapeByte(char byte);  // "\\xHH"
std::optional<std::string> Unescape(std::string_view text);

bool IsUtf8(std::string_view bytes);

// A key or value for a message: unchanged if printable, else as hex; long ones
// are cut.
std::string Printable(std::string_view bytes);

}  // namespace compassdb_cli
