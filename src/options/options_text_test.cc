// SPDX-License-Identifier: Apache-2.0
// Options as strings, and what becomes of them. The cases are in testdata/: each line is a string
// of options. What differs from the defaults is shown, or the error.
//
//   family, db, table   parsed ("table": of a block-based table)
//   map                 only taken apart
//   preset              a line is presets and strings of options of a family, applied in this order
//   defaults            of both kinds: what an open database has
//   sanitize            the same against a database that was opened with the defaults
//   validate            of both kinds: whether opening a database refuses them
//   set, set_db         SetOptions and SetDBOptions of a database that was opened with the defaults;
//                       with open=OPTIONS, the family was opened with these
//
// The other arguments are fields of ConfigOptions.
#include <map>
#include <sstream>

#include "compassdb/preset.h"
#include "options/option_tables.h"
#include "options/sanitize.h"
#include "options/table_factories.h"
#include "rocksdb/convenience.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

// The options of `to` that differ from those of `from`; of structs, the members.
std::string Changes(const OptionMap& from, const OptionMap& to, const std::string& prefix) {
  std::string changes;
  for (const auto& [name, value] : std::map(to.begin(), to.end())) {
    const auto found = from.find(name);
    const std::string old = found == from.end() ? "" : found->second;
    OptionMap members, old_members;
    if (old.starts_with('{') && ParseOptionString(value, &members).ok() &&
        ParseOptionString(old, &old_members).ok()) {
      changes += Changes(old_members, members, prefix + name + ".");
    } else if (value != old) {
      changes += " " + prefix + name + "=" + value;
    }
  }
  return changes;
}
template <class S>
std::string Changes(const OptionTable<S>& table, const S& from, const S& to,
                    const std::string& prefix = "") {
  const NamedValues a = ListOptions(ConfigOptions(), table, from);
  const NamedValues b = ListOptions(ConfigOptions(), table, to);
  return Changes(OptionMap(a.begin(), a.end()), OptionMap(b.begin(), b.end()), prefix);
}
std::string Changes(const ColumnFamilyOptions& from, const ColumnFamilyOptions& to) {
  const TableSettings a = TableSettingsOf(from.table_factory.get());
  const TableSettings b = TableSettingsOf(to.table_factory.get());
  return Changes(FamilyOptionTable(), from, to) +
         Changes(BlockTableOptionTable(), a.block, b.block, "block.") +
         Changes(PieceTableOptionTable(), a.piece, b.piece, "piece.");
}
std::string Changes(const DBOptions& from, const DBOptions& to) {
  return Changes(DbOptionTable(), from, to);
}

std::string Shown(const Status& s, const std::string& changes) {
  if (s.ok()) return (changes.empty() ? "OK" : changes.substr(1)) + "\n";
  return s.ToString() + (changes.empty() ? "" : " but" + changes) + "\n";
}

std::string AnswerForPreset(const ConfigOptions& config, const std::string& line) {
  ColumnFamilyOptions o;
  Status s;
  std::istringstream words(line);
  for (std::string word; s.ok() && words >> word;) {
    Preset preset;
    if (word.find('=') != std::string::npos) {
      s = GetColumnFamilyOptionsFromString(config, o, word, &o);
    } else if (s = PresetFromName(word, &preset); s.ok()) {
      s = ApplyPreset(preset, &o);
    }
  }
  if (!s.ok()) return s.ToString() + "\n";
  std::string answer = line + ":\n";
  std::istringstream changes(Changes(ColumnFamilyOptions(), o));
  for (std::string change; changes >> change;) answer += "  " + change + "\n";
  return answer;
}

std::string AnswerForSet(const std::string& open_with, const OptionMap& changes) {
  ColumnFamilyOptions open;
  Status s = GetColumnFamilyOptionsFromString(ConfigOptions(), open, open_with, &open);
  if (!s.ok()) return Shown(s, "");
  open = SanitizeFamilyOptions({}, open);
  ColumnFamilyOptions o = open;
  s = ApplyMutableFamilyOptions("cf1", {}, changes, &o);
  return Shown(s, Changes(open, o));
}

std::string AnswerFor(const std::string& command, const std::string& open_with,
                      const ConfigOptions& config, const std::string& line) {
  const ColumnFamilyOptions family;
  const DBOptions db;
  if (command == "preset") return AnswerForPreset(config, line);
  if (command == "family") {
    ColumnFamilyOptions o;
    const Status s = GetColumnFamilyOptionsFromString(config, family, line, &o);
    return Shown(s, Changes(family, o));
  }
  if (command == "db") {
    DBOptions o;
    const Status s = GetDBOptionsFromString(config, db, line, &o);
    return Shown(s, Changes(db, o));
  }
  if (command == "table") {
    rocksdb::BlockBasedTableOptions o;
    const Status s = GetBlockBasedTableOptionsFromString(config, o, line, &o);
    return Shown(s, Changes(BlockTableOptionTable(), rocksdb::BlockBasedTableOptions(), o));
  }
  OptionMap map;
  if (command == "map" || command == "set" || command == "set_db") {
    if (Status s = rocksdb::StringToMap(line, &map); !s.ok()) return Shown(s, "");
  }
  if (command == "map") {
    std::string parts;
    for (const auto& [name, value] : std::map(map.begin(), map.end())) {
      parts += " '" + name + "'='" + value + "'";
    }
    return Shown(Status::OK(), parts);
  }
  if (command == "set") return AnswerForSet(open_with, map);
  if (command == "set_db") {
    const DBOptions open = SanitizeDbOptions(db);
    DBOptions o = open;
    const Status s = ApplyMutableDbOptions(map, &o);
    return Shown(s, Changes(open, o));
  }
  rocksdb::Options both;
  if (Status s = GetOptionsFromString(config, both, line, &both); !s.ok()) return Shown(s, "");
  if (command == "defaults") {
    return Shown(Status::OK(), Changes(db, SanitizeDbOptions(both)) +
                                   Changes(family, SanitizeFamilyOptions(both, both)));
  }
  if (command == "sanitize") {
    return Shown(Status::OK(),
                 Changes(SanitizeDbOptions(db), SanitizeDbOptions(both)) +
                     Changes(SanitizeFamilyOptions(db, family), SanitizeFamilyOptions(both, both)));
  }
  if (command == "validate") return Shown(ValidateOptions(both, {{"cf1", both}}), "");
  return "unknown: " + command + "\n";
}

class OptionsTextTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OptionsTextTest, Cases) {
  RunDataDriven(GetParam(), [](DataCase& data) {
    ConfigOptions config;
    config.ignore_unsupported_options = !data.TakeFlag("no_unsupported");
    config.ignore_unknown_options = data.TakeFlag("ignore_unknown");
    const std::string open_with = data.command == "set" ? data.Take("open") : "";
    std::string answer;
    for (const std::string& line : data.input) {
      answer += AnswerFor(data.command, open_with, config, line);
    }
    return answer;
  });
}

INSTANTIATE_TEST_SUITE_P(Files, OptionsTextTest, ::testing::ValuesIn(DataFiles(__FILE__)),
                         DataFileName);

}  // namespace
}  // namespace compassdb
