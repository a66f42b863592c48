// SPDX-License-Identifier: Apache-2.0
// Tests only: an edit from a line of words, "name=value". table=, values=, section= and run= add
// one with this number; names with a dot are fields of the last one. piece= is of the last table.
//
//   family=3 log=9 table=7 table.level=2 piece=5 piece.keys=10 -table=1/6
//
// Numbers may be max_number, max_sequence, uint32 or uint64, and more than those by "+1".
#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include "format/number_limits.h"
#include "manifest/version_edit.h"

namespace compassdb {

class EditText {
 public:
  explicit EditText(const std::string& line) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const size_t equal = word.find('=');
      name_ = word.substr(0, equal);
      value_ = equal == std::string::npos ? "" : word.substr(equal + 1);
      if (!Database() && !Family() && !Table() && !Values() && !Pages()) {
        unknown_ += "unknown: " + word + "\n";
      }
    }
  }
  const VersionEdit& edit() const { return edit_; }
  const std::string& unknown() const { return unknown_; }

 private:
  uint64_t Number() { return Number(value_); }
  uint64_t Number(const std::string& text) {
    const size_t plus = text.find('+');
    const std::string base = text.substr(0, plus);
    const uint64_t more = plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1));
    if (base == "max_number") return kMaxKnownNumber + more;
    if (base == "max_sequence") return kMaxKnownSequence + more;
    if (base == "uint32") return UINT32_MAX + more;
    if (base == "uint64") return UINT64_MAX;
    return std::stoull(base) + more;
  }
  // The parts of "first/second".
  std::string First() const { return value_.substr(0, value_.find('/')); }
  std::string Second() const { return value_.substr(value_.find('/') + 1); }

  template <class T>
  bool Set(const char* name, T* field) {
    if (name_ != name) return false;
    if constexpr (std::is_same_v<T, std::string>) {
      *field = value_;
    } else {
      *field = static_cast<T>(Number());
    }
    return true;
  }
  template <class T>
  bool Set(const char* name, std::optional<T>* field) {
    return name_ == name && Set(name, &field->emplace());
  }
  bool SetExtent(const std::string& of, Extent* extent) {
    return Set((of + ".file").c_str(), &extent->file_number) ||
           Set((of + ".offset").c_str(), &extent->offset) ||
           Set((of + ".length").c_str(), &extent->length);
  }

  bool Database() {
    if (name_ == "synced") {
      edit_.synced_log = {Number(First()), Number(Second())};
    } else if (name_ == "checksum") {  // number/checksum
      edit_.file_checksums.push_back({Number(First()), Second(), "F"});
    } else {
      return Set("db_id", &edit_.db_id) || Set("hash_seed", &edit_.hash_seed) ||
             Set("next_number", &edit_.next_number) ||
             Set("last_sequence", &edit_.last_sequence) ||
             Set("max_family", &edit_.max_column_family) || Set("min_log", &edit_.min_log_number);
    }
    return true;
  }
  bool Family() {
    if (name_ == "drop") return edit_.drop_column_family = true;
    return Set("family", &edit_.column_family) || Set("add", &edit_.add_column_family) ||
           Set("comparator", &edit_.comparator) || Set("log", &edit_.log_number) ||
           Set("history_low", &edit_.history_low);
  }
  bool Table() {
    if (name_ == "table") {
      edit_.added.push_back({1, TphMeta()});
      edit_.added.back().tph.tph_id = Number();
      return true;
    }
    if (name_ == "-table") {  // level/number
      edit_.deleted.push_back({static_cast<int>(Number(First())), Number(Second())});
      return true;
    }
    if (edit_.added.empty()) return false;
    TphMeta& t = edit_.added.back().tph;
    if (name_ == "piece") {
      piece_ = std::make_shared<PieceMeta>();
      piece_->piece_id = Number();
      t.pieces.push_back({piece_, 0});
      return true;
    }
    if (name_ == "table.search") {
      t.hash_range = true;
      t.search = {static_cast<uint32_t>(Number(First())),
                  static_cast<uint32_t>(Number(Second()))};
      return true;
    }
    return Set("table.level", &edit_.added.back().level) || Set("table.smallest", &t.smallest) ||
           Set("table.largest", &t.largest) || Set("table.largest_seq", &t.largest_seq) ||
           SetExtent("table", &t.directory) ||
           (piece_ != nullptr &&
            (Set("piece.keys", &piece_->num_keys) ||
             Set("piece.live", &t.pieces.back().live_keys) ||
             Set("piece.largest_seq", &piece_->largest_seq) ||
             SetExtent("piece", &piece_->extent)));
  }
  bool Values() {
    if (name_ == "values") {
      edit_.added_values.emplace_back().run_id = Number();
      return true;
    }
    if (name_ == "-values") {
      edit_.deleted_values.push_back(Number());
      return true;
    }
    if (edit_.added_values.empty()) return false;
    ValueRunMeta& m = edit_.added_values.back();
    if (name_ == "values.group") {  // prefix/bits
      m.group = {static_cast<uint32_t>(Number(First())), static_cast<uint32_t>(Number(Second()))};
      return true;
    }
    return Set("values.count", &m.num_values) || Set("values.notices", &m.num_notices) ||
           Set("values.records_bytes", &m.records_bytes) ||
           Set("values.keys_bytes", &m.keys_bytes) ||
           Set("values.places_bytes", &m.places_bytes) || SetExtent("values", &m.extent);
  }
  bool Pages() {
    if (name_ == "pages") {  // sections/bytes of a page
      edit_.page_geometry = {static_cast<uint32_t>(Number(First())),
                             static_cast<uint32_t>(Number(Second()))};
    } else if (name_ == "section") {
      edit_.page_sections.emplace_back().section = static_cast<uint32_t>(Number());
      edit_.page_sections.back().pages = 1;
    } else if (name_ == "run") {
      edit_.added_page_runs.emplace_back().run_id = Number();
    } else if (name_ == "-run") {
      edit_.deleted_page_runs.push_back(Number());
    } else if (name_ == "run.kind" && !edit_.added_page_runs.empty()) {
      edit_.added_page_runs.back().kind = static_cast<PageRunKind>(Number());
    } else if (Set("folded", &edit_.folded_sequence) || Set("keys_whole", &edit_.keys_whole) ||
               Set("in_place", &edit_.in_place_sequence)) {
      return true;
    } else {
      if (!edit_.page_sections.empty()) {
        PageSectionMeta& section = edit_.page_sections.back();
        if (Set("section.file", &section.file_number) || Set("section.pages", &section.pages) ||
            Set("section.records", &section.records) ||
            Set("section.overflow", &section.overflow_records) ||
            Set("section.overflow_from", &section.overflow_from)) {
          return true;
        }
      }
      if (edit_.added_page_runs.empty()) return false;
      PageRunMeta& run = edit_.added_page_runs.back();
      return Set("run.count", &run.count) || SetExtent("run", &run.extent);
    }
    return true;
  }

  VersionEdit edit_;
  std::shared_ptr<PieceMeta> piece_;  // the last one
  std::string name_, value_, unknown_;
};

}  // namespace compassdb
