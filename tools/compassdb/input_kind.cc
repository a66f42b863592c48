// SPDX-License-Identifier: Apache-2.0
#include "input_kind.h"

#include <fmt/core.h>

namespace compassdb_cli {
namespace {

using std::string_view_literals::operator""sv;

struct Compression {
  std::string_view magic;
  const char* name;
  const char* reader;
};
constexpr Compression kCompressions[] = {
    {"\x1f\x8b\x08"sv, "gzip", "zcat"},         {"\x28\xb5\x2f\xfd"sv, "zstd", "zstdcat"},
    {"BZh"sv, "bzip2", "bzcat"},                {"\xfd" "7zXZ\0"sv, "xz", "xzcat"},
    {"\x04\x22\x4d\x18"sv, "lz4", "lz4cat"},    {"PK\x03\x04"sv, "zip", "unzip -p"},
    {"\xff\x06\0\0sNaPpY"sv, "snappy", "snzip -dc"}};
constexpr std::string_view kBzip2Block = "1AY&SY";  // behind the magic and a digit

// For a shell.
std::string Quoted(const std::string& name) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+,:@%=-";
  if (name.find_first_not_of(kPlain) == std::string::npos && name[0] != '-') return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return (name[0] == '-' ? "-- " : "") + quoted + "'";
}

std::string Through(const std::string& command, const std::string& name) {
  return fmt::format("{}{} | compassdb load", command, name == "standard input" ? "" : " " + Quoted(name));
}

bool Begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

}  // namespace

std::string WhyNotText(std::string_view begin, const std::string& name) {
  for (const Compression& compression : kCompressions) {
    if (!Begins(begin, compression.magic)) continue;
    if (compression.magic == "BZh" && begin.substr(4, kBzip2Block.size()) != kBzip2Block) continue;
    return fmt::format("is {}-compressed; {}", compression.name, Through(compression.reader, name));
  }
  if (Begins(begin, "\xff\xfe") || Begins(begin, "\xfe\xff")) {
    return "is UTF-16 text; " + Through("iconv -f UTF-16 -t UTF-8", name);
  }
  return "";
}

size_t Utf8MarkBytes(std::string_view begin) { return Begins(begin, "\xef\xbb\xbf") ? 3 : 0; }

}  // namespace compassdb_cli
