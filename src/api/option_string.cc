// SPDX-License-Identifier: Apache-2.0
#include "api/option_string.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include "util/c_locale.h"
#include "util/string_util.h"

namespace compassdb {

using rocksdb::Status;

namespace {

// Position of the brace that closes the one at `open`; npos if there is none.
size_t ClosingBrace(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string::npos;
}

bool IsWrapped(const std::string& text) {
  return !text.empty() && text.front() == '{' && ClosingBrace(text, 0) == text.size() - 1;
}

// As RocksDB trims: of white space alone the last character stays.
std::string TrimText(const std::string& text) {
  std::string trimmed = Trim(text);
  return trimmed.empty() && !text.empty() ? text.substr(text.size() - 1) : trimmed;
}

size_t SkipSpace(const std::string& text, size_t pos) {
  while (pos < text.size() && IsAsciiSpace(text[pos])) ++pos;
  return pos;
}

// The number that a text begins with.
struct Number {
  bool negative = false;
  uint64_t magnitude = 0;
  Slice rest;  // the text behind it

  // False if there is none, or if it is too large.
  bool Parse(const std::string& text) {
    size_t at = SkipSpace(text, 0);
    negative = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    rest = Slice(text.data() + at, text.size() - at);
    return ConsumeDecimal(&rest, &magnitude);
  }
  // In a signed type whose largest value is `most`.
  bool Fits(uint64_t most) const { return magnitude <= most + (negative ? 1 : 0); }
  uint64_t Wrapped() const { return negative ? 0 - magnitude : magnitude; }
};

// By how many bits the suffix that `rest` begins with shifts. Anything else counts as no suffix.
int SuffixShift(const Slice& rest, bool tera) {
  if (rest.empty()) return 0;
  switch (rest[0]) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return tera ? 40 : 0;
    default:
      return 0;
  }
}

}  // namespace

Status TakeToken(const std::string& text, char separator, size_t* pos, std::string* token) {
  const size_t begin = SkipSpace(text, *pos);
  size_t end;
  if (begin < text.size() && text[begin] == '{') {
    const size_t close = ClosingBrace(text, begin);
    if (close == std::string::npos) {
      return Status::InvalidArgument("option string: unbalanced braces in", text.substr(begin, 64));
    }
    *token = TrimText(text.substr(begin + 1, close - begin - 1));
    end = SkipSpace(text, close + 1);
    if (end < text.size() && text[end] != separator) {
      return Status::InvalidArgument("option string: text after the closing brace of",
                                     text.substr(begin, 64));
    }
  } else {
    end = std::min(text.find(separator, begin), text.size());
    *token = TrimText(text.substr(begin, end - begin));
  }
  *pos = end + 1;
  return Status::OK();
}

Status ParseOptionString(const std::string& text, OptionMap* options) {
  options->clear();
  std::string body = TrimText(text);
  while (body.size() > 2 && body.front() == '{' && body.back() == '}') {
    body = TrimText(body.substr(1, body.size() - 2));
  }
  for (size_t pos = 0; pos < body.size();) {
    const size_t equals = body.find_first_of("={};", pos);
    if (equals == std::string::npos || body[equals] != '=') {
      return Status::InvalidArgument("option string: '=' expected after", body.substr(pos, 64));
    }
    const std::string name = TrimText(body.substr(pos, equals - pos));
    if (name.empty()) {
      return Status::InvalidArgument("option string: name expected before",
                                     body.substr(equals, 64));
    }
    pos = equals + 1;
    const Status s = TakeToken(body, ';', &pos, &(*options)[name]);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

void ParseObjectString(const std::string& text, const std::string& default_id, std::string* id,
                       OptionMap* options) {
  options->clear();
  id->clear();
  if (text.empty() || text == "nullptr") return;
  const bool has_options =
      text.find('=') != std::string::npos && ParseOptionString(text, options).ok();
  const auto given = options->find("id");
  if (has_options && given != options->end()) {
    if (given->second != "nullptr") *id = given->second;
    options->erase(given);
  } else if (has_options && !default_id.empty()) {
    *id = default_id;
  } else {
    *id = text;
    options->clear();
  }
}

Status UnknownOption(const std::string& text, const OptionMap& options) {
  return Status::InvalidArgument("unknown option " + options.begin()->first, text);
}

std::string EscapeOptionValue(const std::string& raw) {
  std::string out;
  out.reserve(raw.size());
  for (const char c : raw) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\\':
      case '#':
      case ':':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string UnescapeOptionValue(const std::string& escaped) {
  std::string out;
  out.reserve(escaped.size());
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      out += escaped[i];
      continue;
    }
    if (++i == escaped.size()) break;
    const char c = escaped[i];
    out += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return out;
}

bool ParseBool(const std::string& text, bool* value) {
  if (text == "true" || text == "1") {
    *value = true;
  } else if (text == "false" || text == "0") {
    *value = false;
  } else {
    return false;
  }
  return true;
}

// Shifts wrap, as RocksDB's do.
bool ParseSigned(const std::string& text, int64_t* value) {
  Number number;
  if (!number.Parse(text) || !number.Fits(INT64_MAX)) return false;
  *value = static_cast<int64_t>(number.Wrapped() << SuffixShift(number.rest, true));
  return true;
}

bool ParseInt(const std::string& text, int* value) {
  Number number;
  if (!number.Parse(text) || !number.Fits(INT_MAX)) return false;
  *value = static_cast<int>(static_cast<uint32_t>(number.Wrapped()) << SuffixShift(number.rest, false));
  return true;
}

bool ParseUnsigned(const std::string& text, uint64_t* value) {
  Number number;
  if (!number.Parse(text)) return false;
  *value = number.Wrapped() << SuffixShift(number.rest, true);
  return true;
}

bool ParseDouble(const std::string& text, double* value) {
  char* end = nullptr;
  errno = 0;
  const double parsed = CLocaleStrtod(text.c_str(), &end);
  if (end == text.c_str() || errno == ERANGE) return false;
  *value = parsed;
  return true;
}

std::string QuoteOptionValue(const std::string& value, const std::string& delimiter) {
  const bool plain = value.find_first_of(";{}=\n") == std::string::npos &&
                     (delimiter.empty() || value.find(delimiter) == std::string::npos);
  return plain || IsWrapped(value) ? value : "{" + value + "}";
}

}  // namespace compassdb
