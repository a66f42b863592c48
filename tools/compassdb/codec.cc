// SPDX-License-Identifier: Apache-2.0
#include "codec.h"

#include <algorithm>
#include <cstdint>

namespace compassdb_cli {
namespace {

constexpr char kUpperDigits[] = "0123456789ABCDEF";

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToHex(std::string_view bytes) { return "0x" + HexDigits(bytes); }

std::string HexDigits(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const unsigned char c : bytes) {
    out.push_back(kUpperDigits[c >> 4]);
    out.push_back(kUpperDigits[c & 15]);
  }
  return out;
}

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() < 2 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X') ||
      text.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string out;
  out.reserve(text.size() / 2 - 1);
  for (size_t i = 2; i < text.size(); i += 2) {
    const int high = DigitValue(text[i]), low = DigitValue(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

std::string EscapeByte(char byte) {
  const auto u = static_cast<unsigned char>(byte);
  return {'\\', 'x', kUpperDigits[u >> 4], kUpperDigits[u & 15]};
}

std::string Escape(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (u < 0x20 || u == 0x7f) {
      out += EscapeByte(c);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case '\\':
        out.push_back('\\');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'x': {
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = DigitValue(text[i + 1]), low = DigitValue(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const size_t length = lead < 0x80       ? 1
                          : lead >> 5 == 6  ? 2
                          : lead >> 4 == 14 ? 3
                          : lead >> 3 == 30 ? 4
                                            : 0;
    if (length == 0 || i + length > bytes.size()) return false;
    uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t j = 1; j < length; ++j) {
      const auto next = static_cast<unsigned char>(bytes[i + j]);
      if (next >> 6 != 2) return false;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      return false;
    i += length;
  }
  return true;
}

std::string Printable(std::string_view bytes) {
  constexpr size_t kMost = 200;
  const bool plain = IsUtf8(bytes) && std::all_of(bytes.begin(), bytes.end(), [](char c) {
                       return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
                     });
  if (plain && bytes.size() <= kMost) return std::string(bytes);
  std::string out = ToHex(bytes.substr(0, kMost / 2));
  return bytes.size() > kMost / 2 ? out + "..." : out;
}

}  // namespace compassdb_cli
