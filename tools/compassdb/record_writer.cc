// SPDX-License-Identifier: Apache-2.0
#include "record_writer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "codec.h"
#include "input_kind.h"

namespace compassdb_cli {
namespace {

void AddMember(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    (*object)[name] = bytes;
  } else {
    (*object)[name + "_hex"] = ToHex(bytes).substr(2);
  }
}

}  // namespace

bool RecordWriter::Write(std::string_view key, std::string_view value) {
  ++count_;
  switch (format_) {
    case OutputFormat::kText:
      line_ = Escape(key);
      // The reader would take it for a mark of the whole input.
      if (count_ == 1 && (Utf8MarkBytes(line_) > 0 || !WhyNotText(line_, "").empty())) {
        line_.replace(0, 1, EscapeByte(line_[0]));
      }
      if (!keys_only_) line_ += '\t' + Escape(value);
      break;
    case OutputFormat::kHex:
      line_ = ToHex(key);
      if (!keys_only_) line_ += " ==> " + ToHex(value);
      break;
    case OutputFormat::kJson: {
      nlohmann::ordered_json object = nlohmann::ordered_json::object();
      AddMember(&object, "key", key);
      if (!keys_only_) AddMember(&object, "value", value);
      line_ = object.dump();
      break;
    }
  }
  line_ += '\n';
  return std::fwrite(line_.data(), 1, line_.size(), stdout) == line_.size();
}

}  // namespace compassdb_cli
