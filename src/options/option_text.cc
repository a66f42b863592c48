// SPDX-License-Identifier: Apache-2.0
#include "options/option_text.h"

#include "rocksdb/convenience.h"
#include "util/c_locale.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

// The position behind the brace that closes the one at `open`; npos if there is none.
size_t EndOfBraces(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string::npos;
}

size_t SkipSpace(const std::string& text, size_t pos) {
  while (pos < text.size() && IsAsciiSpace(text[pos])) ++pos;
  return pos;
}

// Reads the token at `pos` up to `separator`; `*next` is where the one after it starts, or npos.
Status NextToken(const std::string& text, char separator, size_t pos, std::string* token,
                 size_t* next) {
  pos = SkipSpace(text, pos);
  if (pos < text.size() && text[pos] == '{') {
    const size_t end = EndOfBraces(text, pos);
    if (end == std::string::npos) {
      return Status::InvalidArgument("Mismatched curly braces for nested options");
    }
    *token = Trim(text.substr(pos + 1, end - pos - 2));
    const size_t rest = SkipSpace(text, end);
    if (rest < text.size() && text[rest] != separator) {
      return Status::InvalidArgument("Unexpected chars after nested options");
    }
    *next = rest < text.size() ? rest + 1 : std::string::npos;
    return Status::OK();
  }
  const size_t end = text.find(separator, pos);
  *token = Trim(text.substr(pos, end == std::string::npos ? end : end - pos));
  *next = end == std::string::npos ? end : end + 1;
  return Status::OK();
}

}  // namespace

Status SplitOptionList(const std::string& input, std::vector<std::string>* elements) {
  elements->clear();
  std::string text = Trim(input);
  size_t pos = 0;
  while (pos != std::string::npos && pos < text.size()) {
    std::string element;
    const Status s = NextToken(text, ':', pos, &element, &pos);
    if (!s.ok()) return s;
    // One element in braces that spans the text is a list in braces.
    if (elements->empty() && pos == std::string::npos && text[0] == '{' &&
        element.find_first_of(":{") != std::string::npos) {
      return SplitOptionList(element, elements);
    }
    elements->push_back(std::move(element));
  }
  return Status::OK();
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map) {
  const Status s = compassdb::ParseOptionString(opts_str, opts_map);
  for (auto& option : *opts_map) option.second = compassdb::Trim(option.second);
  return s;
}

}  // namespace ROCKSDB_NAMESPACE
