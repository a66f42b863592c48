// SPDX-License-Identifier: Apache-2.0
#include "json_record.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace compassdb_cli {
namespace {

using std::string_view_literals::operator""sv;

// Receives the parser's events, in order. Builds no tree.
class RecordHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit RecordHandler(JsonRecord* record) : record_(record) {}

  bool null() override { return Scalar("null"); }
  bool boolean(bool yes) override { return Scalar(yes ? "true" : "false"); }
  bool number_integer(number_integer_t number) override { return Scalar(std::to_string(number)); }
  bool number_unsigned(number_unsigned_t number) override { return Scalar(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return Scalar(text); }
  bool binary(binary_t&) override { return false; }

  bool string(string_t& text) override {
    if (depth_ != 1) return Scalar(Quoted(text));
    if (member_ != nullptr) *member_ = {std::move(text), true};
    return true;
  }

  bool start_object(size_t) override { return Begin('{'); }
  bool end_object() override { return End('}'); }
  bool start_array(size_t) override { return Begin('['); }
  bool end_array() override { return End(']'); }

  bool key(string_t& name) override {
    if (depth_ > 1) {
      Separate();
      text_ += Quoted(name) + ':';
      first_ = true;
      return true;
    }
    std::optional<JsonMember>* const member = name == "key"         ? &record_->key
                                              : name == "value"     ? &record_->value
                                              : name == "key_hex"   ? &record_->key_hex
                                              : name == "value_hex" ? &record_->value_hex
                                                                    : nullptr;
    member_ = member == nullptr ? nullptr : &member->emplace();
    return true;
  }

  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: WHAT; last read: 'ALL OF THE TOKEN'"
    std::string_view what = error.what();
    for (const std::string_view before : {"] "sv, "parse error at line 1, column "sv}) {
      if (const size_t found = what.find(before); found != std::string_view::npos) what.remove_prefix(found + before.size());
    }
    if (!what.empty() && what.front() >= '0' && what.front() <= '9') {
      if (const size_t colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    }
    constexpr size_t kMost = 200;
    why_ = "bad JSON at column " + std::to_string(at) + ": " + std::string(what.substr(0, kMost));
    if (what.size() > kMost) why_ += "...";
    return false;
  }

  // After an unsuccessful parse.
  std::string why() const { return why_.empty() ? "JSON, but not an object" : why_; }

 private:
  static std::string Quoted(const std::string& text) { return nlohmann::json(text).dump(); }

  void Separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  bool Scalar(const std::string& text) {
    if (depth_ == 0) return false;  // no object
    Separate();
    text_ += text;
    if (depth_ == 1) Take();
    return true;
  }

  bool Begin(char bracket) {
    if (depth_ == 0) {
      ++depth_;
      return bracket == '{';
    }
    Separate();
    text_ += bracket;
    first_ = true;
    ++depth_;
    return true;
  }

  bool End(char bracket) {
    if (--depth_ == 0) return true;
    text_ += bracket;
    first_ = false;
    if (depth_ == 1) Take();
    return true;
  }

  // The value of a member of the record is complete.
  void Take() {
    if (member_ != nullptr) member_->text = std::move(text_);
    text_.clear();
    first_ = true;
  }

  JsonRecord* const record_;
  JsonMember* member_ = nullptr;
  std::string text_;
  bool first_ = true;  // no comma before what comes next
  size_t depth_ = 0;
  std::string why_;
};

}  // namespace

std::string ParseJsonRecord(const std::string& line, JsonRecord* record) {
  RecordHandler handler(record);
  return nlohmann::json::sax_parse(line, &handler) ? "" : handler.why();
}

}  // namespace compassdb_cli
