// SPDX-License-Identifier: Apache-2.0
#include "util/c_locale.h"
#include "util/string_util.h"

#include <cstdio>

namespace compassdb {

namespace {

constexpr char kDigits[] = "0123456789ABCDEF";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendEscaped(std::string* out, const Slice& data) {
  for (size_t i = 0; i < data.size(); ++i) {
    const auto c = static_cast<unsigned char>(data[i]);
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out->push_back(static_cast<char>(c));
    } else {
      out->append({'\\', 'x', kDigits[c >> 4], kDigits[c & 15]});
    }
  }
}

}  // namespace

std::string HexEncode(const Slice& data) {
  std::string out;
  out.reserve(data.size() * 2);
  for (size_t i = 0; i < data.size(); ++i) {
    const auto c = static_cast<unsigned char>(data[i]);
    out.push_back(kDigits[c >> 4]);
    out.push_back(kDigits[c & 15]);
  }
  return out;
}

bool HexDecode(const Slice& hex, std::string* data) {
  data->clear();
  if (hex.size() % 2 != 0) return false;
  data->reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexValue(hex[i]), low = HexValue(hex[i + 1]);
    if (high < 0 || low < 0) {
      data->clear();
      return false;
    }
    data->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

std::string EscapeString(const Slice& data) {
  std::string out;
  AppendEscaped(&out, data);
  return out;
}

std::string EscapeKey(const Slice& key, size_t max_bytes) {
  std::string out = "'";
  const bool cut = key.size() > max_bytes;
  AppendEscaped(&out, cut ? Slice(key.data(), max_bytes) : key);
  out += '\'';
  if (cut) {
    out += "... (";
    out += std::to_string(key.size());
    out += " bytes)";
  }
  return out;
}

std::string JsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool IsNumber(const std::string& text, bool may_have_point) {
  bool has_digit = false;
  for (size_t i = text.starts_with('-') ? 1 : 0; i < text.size(); ++i) {
    if (IsAsciiDigit(text[i])) {
      has_digit = true;
    } else if (text[i] == '.' && may_have_point) {
      may_have_point = false;
    } else {
      return false;
    }
  }
  return has_digit;
}

bool ConsumeDecimal(Slice* input, uint64_t* value) {
  uint64_t v = 0;
  size_t n = 0;
  for (; n < input->size() && (*input)[n] >= '0' && (*input)[n] <= '9'; ++n) {
    const auto digit = static_cast<uint64_t>((*input)[n] - '0');
    if (v > (UINT64_MAX - digit) / 10) return false;
    v = v * 10 + digit;
  }
  if (n == 0) return false;
  input->remove_prefix(n);
  *value = v;
  return true;
}

std::string Trim(const std::string& s) {
  constexpr char kSpace[] = " \t\r\n\f\v";
  const size_t begin = s.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> Split(const std::string& s, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t end = s.find(separator, start);
    parts.push_back(s.substr(start, end == std::string::npos ? end : end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

std::string HumanBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  double v = static_cast<double>(bytes);
  size_t unit = 0;
  for (; v >= 1024 && unit + 1 < std::size(kUnits); ++unit) v /= 1024;
  char buf[32];
  CLocaleSnprintf(buf, sizeof(buf), unit == 0 ? "%.0f %s" : "%.2f %s", v, kUnits[unit]);
  return buf;
}

}  // namespace compassdb
