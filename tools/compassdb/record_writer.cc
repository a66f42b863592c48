// SPDX-License-Identifier: Apache-2.0
#include "record_writer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "codec.h"
#include "input_kind.h"

namespace compassdb_cli {
namespace {

constexpr size_t kChunkBytes = 64 << 10;

// Characters are not cut.
size_t CutUtf8(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && static_cast<unsigned char>(text[at]) >> 6 == 2) --at;
  return at;
}

std::string EncodeJson(std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

void RecordWriter::WriteLine() {
  written_ = written_ && std::fwrite(line_.data(), 1, line_.size(), stdout) == line_.size();
  line_.clear();
}

template <typename Encode>
void RecordWriter::Add(std::string_view bytes, const Encode& encode) {
  while (!bytes.empty() && written_) {
    const size_t n = bytes.size() <= kChunkBytes ? bytes.size()
                     : format_ == OutputFormat::kJson ? CutUtf8(bytes, kChunkBytes)
                                                      : kChunkBytes;
    line_ += encode(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (line_.size() >= kChunkBytes) WriteLine();
  }
}

void RecordWriter::AddMember(const std::string& name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    line_ += '"' + name + "\":\"";
    Add(bytes, EncodeJson);
  } else {
    line_ += '"' + name + "_hex\":\"";
    Add(bytes, HexDigits);
  }
  line_ += '"';
}

bool RecordWriter::Write(std::string_view key, std::string_view value) {
  ++count_;
  switch (format_) {
    case OutputFormat::kText: {
      const std::string begin = Escape(key.substr(0, 16));
      // The reader would take it for a mark of the whole input.
      if (count_ == 1 && (Utf8MarkBytes(begin) > 0 || !WhyNotText(begin, "").empty())) {
        line_ = EscapeByte(key.front());
        key.remove_prefix(1);
      }
      Add(key, Escape);
      if (keys_only_) break;
      line_ += '\t';
      Add(value, Escape);
      break;
    }
    case OutputFormat::kHex:
      line_ = "0x";
      Add(key, HexDigits);
      if (keys_only_) break;
      line_ += " ==> 0x";
      Add(value, HexDigits);
      break;
    case OutputFormat::kJson:
      line_ = '{';
      AddMember("key", key);
      if (!keys_only_) {
        line_ += ',';
        AddMember("value", value);
      }
      line_ += '}';
      break;
  }
  line_ += '\n';
  WriteLine();
  return written_;
}

}  // namespace compassdb_cli
