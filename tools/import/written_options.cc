// SPDX-License-Identifier: Apache-2.0
#include "written_options.h"

#include <charconv>
#include <fstream>
#include <string_view>

namespace compassdb_import {
namespace {

// A backslash and a character stand for that character, or for the end of a line.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return out;
}

bool Take(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// "{id=Name;...}" and "Name" both mean Name.
std::string IdOf(std::string_view value) {
  const size_t id = value.find("id=");
  if (value.empty() || value[0] != '{' || id == std::string_view::npos) return std::string(value);
  return std::string(value.substr(id + 3, value.find_first_of(";}", id) - id - 3));
}

// The delimiter of "{id=...;delimiter=TEXT;}". TEXT may be a semicolon or a bracket. An empty one is not written.
std::optional<std::string> DelimiterOf(std::string_view value) {
  constexpr std::string_view kName = ";delimiter=", kEnd = ";}";
  const size_t at = value.find(kName);
  const size_t end = value.rfind(kEnd);
  if (at == std::string_view::npos || end == std::string_view::npos || end <= at + kName.size()) return std::nullopt;
  return Unescaped(value.substr(at + kName.size(), end - at - kName.size()));
}

void ReadFamilyLine(std::string_view line, WrittenFamily* family) {
  if (Take(&line, "comparator=")) {
    family->comparator = IdOf(line);
  } else if (Take(&line, "merge_operator=")) {
    family->merge_operator = IdOf(line);
    family->delimiter = DelimiterOf(line);
  } else if (Take(&line, "prefix_extractor=")) {
    if (line != "nullptr") family->prefix_extractor = line;
  } else if (Take(&line, "num_levels=")) {
    std::from_chars(line.data(), line.data() + line.size(), family->num_levels);
  }
}

}  // namespace

WrittenOptions ReadOptionsFile(const std::string& path) {
  WrittenOptions options;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  WrittenFamily* family = nullptr;
  bool of_database = false;
  while (std::getline(in, text)) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    std::string_view line = text;
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (!line.empty() && line[0] == '[') {
      const size_t open = line.find('"'), close = line.rfind('"');
      const bool named = open != std::string_view::npos && close > open;
      of_database = line.substr(0, 10) == "[DBOptions";
      family = nullptr;
      if (named && line.substr(0, 11) == "[CFOptions ") {
        const std::string name = Unescaped(line.substr(open + 1, close - open - 1));
        family = &options.families[name];
        family->name = name;
      }
    } else if (family != nullptr) {
      ReadFamilyLine(line, family);
    } else if (Take(&line, "pebble_version=")) {
      options.pebble_version = line;
    } else if (of_database && Take(&line, "wal_dir=")) {
      options.wal_dir = Unescaped(line);
    }
  }
  return options;
}

}  // namespace compassdb_import
