// SPDX-License-Identifier: Apache-2.0
#include "api/option_string.h"

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

// Reads a value that begins at *pos and moves *pos behind its ";".
Status TakeValue(const std::string& text, const std::string& name, size_t* pos,
                 std::string* value) {
  const size_t begin = text.find_first_not_of(" \t\r\n", *pos);
  if (begin == std::string::npos || text[begin] != '{') {
    const size_t end = std::min(text.find(';', *pos), text.size());
    *value = Trim(text.substr(*pos, end - *pos));
    *pos = end + 1;
    return Status::OK();
  }
  const size_t close = ClosingBrace(text, begin);
  if (close == std::string::npos) {
    return Status::InvalidArgument("option string: unbalanced braces in the value of", name);
  }
  *value = text.substr(begin + 1, close - begin - 1);
  const size_t next = text.find_first_not_of(" \t\r\n", close + 1);
  if (next != std::string::npos && text[next] != ';') {
    return Status::InvalidArgument("option string: text after the closing brace of", name);
  }
  *pos = next == std::string::npos ? text.size() : next + 1;
  return Status::OK();
}

}  // namespace

Status ParseOptionString(const std::string& text, OptionMap* options) {
  options->clear();
  std::string body = Trim(text);
  while (IsWrapped(body)) body = Trim(body.substr(1, body.size() - 2));
  size_t pos = 0;
  while ((pos = body.find_first_not_of(" \t\r\n;", pos)) != std::string::npos) {
    const size_t equals = body.find_first_of("={};", pos);
    if (equals == std::string::npos || body[equals] != '=') {
      return Status::InvalidArgument("option string: '=' expected after", body.substr(pos, 64));
    }
    const std::string name = Trim(body.substr(pos, equals - pos));
    if (name.empty()) {
      return Status::InvalidArgument("option string: name expected before",
                                     body.substr(equals, 64));
    }
    pos = equals + 1;
    Status s = TakeValue(body, name, &pos, &(*options)[name]);
    if (!s.ok()) return s;
    if (pos >= body.size()) break;
  }
  return Status::OK();
}

Status ParseObjectString(const std::string& text, const std::string& default_id, std::string* id,
                         OptionMap* options) {
  options->clear();
  id->clear();
  const std::string body = Trim(text);
  if (body.empty() || body == "nullptr") return Status::OK();
  if (body.find('=') == std::string::npos) {
    *id = body;
    return Status::OK();
  }
  Status s = ParseOptionString(body, options);
  if (!s.ok()) return s;
  auto given = options->find("id");
  if (given == options->end()) {
    *id = default_id;
  } else {
    if (given->second != "nullptr") *id = given->second;
    options->erase(given);
  }
  return Status::OK();
}

Status IdOfPlainObject(const std::string& text, std::string* id) {
  *id = Trim(text);
  const size_t equals = id->find('=');
  const bool plain = equals == std::string::npos || Trim(id->substr(0, equals)) != "id";
  if (plain && id->compare(0, 1, "{") != 0) return Status::OK();
  OptionMap options;
  return ParseObjectString(text, "", id, &options);
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
    if (escaped[i] != '\\' || i + 1 == escaped.size()) {
      out += escaped[i];
      continue;
    }
    const char c = escaped[++i];
    out += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return out;
}

std::string QuoteOptionValue(const std::string& value, const std::string& delimiter) {
  const bool plain = value.find_first_of(";{}=\n") == std::string::npos &&
                     (delimiter.empty() || value.find(delimiter) == std::string::npos);
  return plain || IsWrapped(value) ? value : "{" + value + "}";
}

}  // namespace compassdb
