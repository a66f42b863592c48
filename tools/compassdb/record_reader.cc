// SPDX-License-Identifier: Apache-2.0
#include "record_reader.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "codec.h"
#include "input_kind.h"
#include "json_record.h"

namespace compassdb_cli {
namespace {

constexpr std::string_view kTrailer = "Keys in range: ";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// "Keys in range: 12"
bool IsTrailer(std::string_view line) {
  if (!StartsWith(line, kTrailer)) return false;
  return line.find_first_not_of("0123456789", kTrailer.size()) >= line.find_last_not_of(" \r") + 1;
}

// The bytes of a member, which may be given as hex.
std::optional<std::string> Bytes(std::optional<JsonMember>&& plain, const std::optional<JsonMember>& hex) {
  if (plain) return std::move(plain->text);
  if (!hex || !hex->is_string) return std::nullopt;
  return FromHex(StartsWith(hex->text, "0x") ? hex->text : "0x" + hex->text);
}

}  // namespace

bool RecordReader::Bad(const std::string& why) {
  error_ = fmt::format("{}:{}: {}", name_, line_number_, why);
  return false;
}

bool RecordReader::Detect() {
  if (StartsWith(line_, "{")) {
    format_ = Format::kJson;
  } else if (IsTrailer(line_) ||
             (StartsWith(line_, "0x") && (line_.find(" ==> 0x") != std::string::npos ||
                                          line_.find(" : 0x") != std::string::npos))) {
    format_ = Format::kHex;
  } else if (line_.find('\t') != std::string::npos) {
    format_ = Format::kTsv;
  } else {
    return Bad("cannot recognise the format from this line; give --format");
  }
  return true;
}

bool RecordReader::LookAtBegin() {
  line_.erase(0, Utf8MarkBytes(line_));
  if (const std::string why = WhyNotText(line_, name_); !why.empty()) {
    error_ = fmt::format("{}: {}", name_, why);
    return false;
  }
  return true;
}

bool RecordReader::Next(Record* record) {
  while (error_.empty() && in_.Next(&line_)) {
    ++line_number_;
    bytes_ += line_.size() + 1;
    if (line_number_ == 1 && !LookAtBegin()) return false;
    const bool blank = line_.empty() || line_ == "\r";
    if (format_ == Format::kAuto) {
      if (blank) continue;
      if (!Detect()) return false;
    }
    if (format_ == Format::kTsv && blank) {
      if (blank_line_ == 0) blank_line_ = line_number_;
      continue;
    }
    if (format_ == Format::kTsv) return ParseTsv(record);
    if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (format_ == Format::kJson) return ParseJson(record);
    if (IsTrailer(line_)) continue;
    return ParseHex(record);
  }
  if (error_.empty() && !in_.error().empty()) {
    error_ = in_.error();
    error_code_ = kFailed;
  }
  return false;
}

void RecordReader::Release() {
  constexpr size_t kLarge = 1 << 20;
  for (std::string* bytes : {&line_, &key_, &value_}) {
    if (bytes->capacity() > kLarge) std::string().swap(*bytes);
  }
}

bool RecordReader::ParseTsv(Record* record) {
  if (blank_line_ != 0) {
    line_number_ = blank_line_;
    return Bad("a blank line between records");
  }
  std::string_view line = line_;
  const bool returns = !line.empty() && line.back() == '\r';
  // The writer escapes a CR of its own.
  if (returns && escaped_) line.remove_suffix(1);
  if (line_number_ == 1 && returns && !escaped_) keeps_return_ = true;
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return Bad("no tab between key and value");
  record->key = line.substr(0, tab);
  record->value = line.substr(tab + 1);
  if (!escaped_) return true;
  const auto unescape = [this](std::string_view* part, std::string* bytes) {
    if (part->find('\\') == std::string_view::npos) return true;
    std::optional<std::string> plain = Unescape(*part);
    if (!plain) return Bad("bad backslash escape in " + Printable(*part));
    *bytes = std::move(*plain);
    *part = *bytes;
    return true;
  };
  return unescape(&record->key, &key_) && unescape(&record->value, &value_);
}

bool RecordReader::ParseJson(Record* record) {
  JsonRecord members;
  if (const std::string why = ParseJsonRecord(line_, &members); !why.empty()) return Bad(why);
  std::optional<std::string> key = Bytes(std::move(members.key), members.key_hex);
  std::optional<std::string> value = Bytes(std::move(members.value), members.value_hex);
  if (!key) return Bad("no \"key\" (text) or \"key_hex\" (hex digits)");
  if (!value) return Bad("no \"value\" or \"value_hex\" (hex digits)");
  return Keep(std::move(*key), std::move(*value), record);
}

bool RecordReader::ParseHex(Record* record) {
  std::string_view line = line_;
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  std::string_view separator = " ==> ";
  size_t at = line.find(separator);
  if (at == std::string_view::npos) at = line.find(separator = " : ");
  if (at == std::string_view::npos) return Bad("not of the form 0xKEY ==> 0xVALUE");
  std::optional<std::string> key = FromHex(line.substr(0, at));
  std::optional<std::string> value = FromHex(line.substr(at + separator.size()));
  if (!key) return Bad("the key is not 0x and pairs of hex digits");
  if (!value) return Bad("the value is not 0x and pairs of hex digits");
  return Keep(std::move(*key), std::move(*value), record);
}

bool RecordReader::Keep(std::string&& key, std::string&& value, Record* record) {
  key_ = std::move(key);
  value_ = std::move(value);
  *record = {key_, value_};
  return true;
}

}  // namespace compassdb_cli
