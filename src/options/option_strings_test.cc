// SPDX-License-Identifier: Apache-2.0
// Strings: every row of the tables survives the way to text and back, and the
// text is RocksDB's.
#include <gtest/gtest.h>

#include <set>

#include "options/option_tables.h"
#include "options/rocksdb_defaults_for_test.h"
#include "options/table_factories.h"
#include "rocksdb/convenience.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "util/string_util.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  for (const std::string& line : Split(text, '\n')) {
    if (!line.empty() && line.rfind("info_log_level", 0) != 0) lines.insert(line);
  }
  return lines;
}

// Members of braces in any order.
std::set<std::string> Normalised(const std::string& text) {
  std::set<std::string> lines;
  for (const std::string& line : Lines(text)) {
    const size_t brace = line.find("={");
    if (brace == std::string::npos) {
      lines.insert(line);
      continue;
    }
    OptionMap map;
    EXPECT_TRUE(ParseOptionString(line.substr(brace + 1), &map).ok()) << line;
    for (const auto& [name, value] : map) {
      lines.insert(line.substr(0, brace) + "." + name + "=" + value);
    }
  }
  return lines;
}

ConfigOptions ByLine() {
  ConfigOptions config;
  config.delimiter = "\n";
  return config;
}

TEST(OptionStrings, DefaultsPrintAsInRocksDB) {
  std::string text;
  ASSERT_TRUE(GetStringFromDBOptions(ByLine(), DBOptions(), &text).ok());
  EXPECT_EQ(Normalised(text), Normalised(kRocksDBDefaultDbOptions));
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(ByLine(), ColumnFamilyOptions(), &text).ok());
  EXPECT_EQ(Normalised(text), Normalised(kRocksDBDefaultFamilyOptions));
  text = JoinOptions(
      ListOptions(ConfigOptions(), BlockTableOptionTable(), rocksdb::BlockBasedTableOptions()),
      "\n");
  EXPECT_EQ(Normalised(text), Normalised(kRocksDBDefaultBlockTableOptions));
}

// Another value for an option than `text`, or nothing if the type has no obvious one.
std::string OtherValue(const std::string& type, const std::string& text) {
  if (type == "bool") return text == "true" ? "false" : "true";
  if (type == "int" || type == "int64") return text == "7" ? "8" : "7";
  if (type == "uint32" || type == "uint64") return text == "12345" ? "54321" : "12345";
  if (type == "double") return "0.1234567890123";
  if (type == "string") return "a#b\\:c";
  return "";
}

template <class S>
void EveryOptionRoundTrips(const OptionTable<S>& table) {
  const ConfigOptions config;
  for (const OptionInfo<S>& option : table) {
    SCOPED_TRACE(option.name);
    if ((option.flags & kNoPrint) != 0) continue;
    S changed;
    const std::string original = option.format(config, changed);
    std::string other = OtherValue(option.type, original);
    if (other.empty()) continue;
    if (option.type == std::string("string")) other = EscapeOptionValue(other);
    ASSERT_TRUE(ParseOption(config, table, option.name, other, &changed).ok());
    if (original.empty() && other == "true" && !option.is_set(changed)) {  // a default that is not printed
      ASSERT_TRUE(ParseOption(config, table, option.name, "false", &changed).ok());
    }
    EXPECT_NE(option.format(config, changed), original);
    EXPECT_TRUE(option.is_set(changed));
    EXPECT_FALSE(option.is_set(S()));
    S copy;
    const std::string text = JoinOptions(ListOptions(config, table, changed), ";");
    OptionMap map;
    ASSERT_TRUE(ParseOptionString(text, &map).ok()) << text;
    ASSERT_TRUE(ParseOptions(config, table, map, &copy).ok()) << text;
    EXPECT_EQ(ListOptions(config, table, copy), ListOptions(config, table, changed));
  }
}

TEST(OptionStrings, EveryOptionRoundTrips) {
  EveryOptionRoundTrips(DbOptionTable());
  EveryOptionRoundTrips(FamilyOptionTable());
  EveryOptionRoundTrips(BlockTableOptionTable());
  EveryOptionRoundTrips(PieceTableOptionTable());
  EveryOptionRoundTrips(PlainTableOptionTable());
  EveryOptionRoundTrips(CompressionOptionTable());
  EveryOptionRoundTrips(UniversalOptionTable());
  EveryOptionRoundTrips(FifoOptionTable());
}

TEST(OptionStrings, NamesAreUnique) {
  std::set<std::string> names;
  for (const auto& option : DbOptionTable()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  }
  names.clear();
  for (const auto& option : FamilyOptionTable()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  }
  names.clear();
  for (const auto& option : BlockTableOptionTable()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  }
}

Status Family(const std::string& text, ColumnFamilyOptions* options) {
  return rocksdb::GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text,
                                                   options);
}

TEST(OptionStrings, AnErrorLeavesTheBase) {
  ColumnFamilyOptions base;
  base.write_buffer_size = 77;
  ColumnFamilyOptions result;
  EXPECT_TRUE(rocksdb::GetColumnFamilyOptionsFromString(ConfigOptions(), base,
                                                        "num_levels=3;zzz=1", &result)
                  .IsInvalidArgument());
  EXPECT_EQ(result.num_levels, base.num_levels);
  EXPECT_EQ(result.write_buffer_size, 77u);
}

TEST(OptionStrings, DatabaseAndFamilyOptionsMix) {
  rocksdb::Options o;
  ASSERT_TRUE(GetOptionsFromString(rocksdb::Options(),
                                   "{create_if_missing=true;write_buffer_size=1M;"
                                   "rate_limiter_bytes_per_sec=1000}",
                                   &o)
                  .ok());
  EXPECT_TRUE(o.create_if_missing);
  EXPECT_EQ(o.write_buffer_size, 1u << 20);
  ASSERT_NE(o.rate_limiter, nullptr);
  EXPECT_EQ(o.rate_limiter->GetBytesPerSecond(), 1000);
}

// As RocksDB writes them into its OPTIONS file.
TEST(OptionStrings, PropertiesCollectors) {
  ColumnFamilyOptions o;
  const std::string one = "{id=CompactOnDeletionCollector;deletion_ratio=0.500000;deletion_trigger=5;window_size=10;}";
  for (const auto& [text, count] : {std::pair("{" + one + "}", 1u), {one, 1u}, {"{" + one + ":" + one + "}", 2u}}) {
    ASSERT_TRUE(Family("table_properties_collectors={" + text + "}", &o).ok()) << text;
    ASSERT_EQ(o.table_properties_collector_factories.size(), count) << text;
    for (const auto& factory : o.table_properties_collector_factories) {
      const auto& made = dynamic_cast<const rocksdb::CompactOnDeletionCollectorFactory&>(*factory);
      EXPECT_EQ(made.GetWindowSize(), 10u);
      EXPECT_EQ(made.GetDeletionTrigger(), 5u);
      EXPECT_EQ(made.GetDeletionRatio(), 0.5);
    }
    OptionMap map;
    for (auto& [name, value] : ListOptions(ConfigOptions(), FamilyOptionTable(), o)) map[name] = value;
    EXPECT_EQ(map["table_properties_collectors"], count == 1 ? "{" + one + "}" : text);
  }
  // Unknown names are left out, as in RocksDB, or an error.
  ASSERT_TRUE(Family("table_properties_collectors={{id=Nobody;}:" + one + "}", &o).ok());
  EXPECT_EQ(o.table_properties_collector_factories.size(), 1u);
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  EXPECT_FALSE(rocksdb::GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(),
                                                         "table_properties_collectors={{id=Nobody;}}", &o)
                   .ok());
  for (const char* bad : {"window_size=x", "deletion_ratio=", "width=1"}) {
    EXPECT_FALSE(rocksdb::GetColumnFamilyOptionsFromString(
                     strict, ColumnFamilyOptions(),
                     std::string("table_properties_collectors={{id=CompactOnDeletionCollector;") + bad + ";}}", &o)
                     .ok())
        << bad;
  }
}

// Whether a table of 100 entries, half of them deletions, and of this size is to be compacted.
bool AsksForCompaction(const ColumnFamilyOptions& options, uint64_t file_size) {
  std::unique_ptr<rocksdb::TablePropertiesCollector> collector(
      options.table_properties_collector_factories.at(0)->CreateTablePropertiesCollector({}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(collector->AddUserKey("k", "", i < 50 ? rocksdb::kEntryDelete : rocksdb::kEntryPut, 0, file_size).ok());
  }
  rocksdb::UserCollectedProperties properties;
  EXPECT_TRUE(collector->Finish(&properties).ok());
  return collector->NeedCompact();
}

TEST(OptionStrings, SmallTablesAreNotCompactedForTheirDeletions) {
  for (const char* trigger : {"deletion_ratio=0.500000;deletion_trigger=0;min_file_size=1000;window_size=0;",
                              "deletion_ratio=0;deletion_trigger=8;min_file_size=1000;window_size=16;"}) {
    const std::string text = "{{id=CompactOnDeletionCollector;" + std::string(trigger) + "}}";
    ColumnFamilyOptions o;
    ASSERT_TRUE(Family("table_properties_collectors=" + text, &o).ok());
    EXPECT_FALSE(AsksForCompaction(o, 999));
    EXPECT_TRUE(AsksForCompaction(o, 1000));
    OptionMap map;
    for (auto& [name, value] : ListOptions(ConfigOptions(), FamilyOptionTable(), o)) map[name] = value;
    EXPECT_NE(map["table_properties_collectors"].find(";min_file_size=1000;"), std::string::npos);
  }
}

TEST(OptionStrings, ATableFactoryIsReplacedNotChanged) {
  ColumnFamilyOptions base;
  const auto before = base.table_factory;
  ColumnFamilyOptions changed;
  ASSERT_TRUE(rocksdb::GetColumnFamilyOptionsFromString(
                  ConfigOptions(), base, "table_factory.BlockBasedTable.block_size=777", &changed)
                  .ok());
  EXPECT_EQ(TableSettingsOf(before.get()).block.block_size, 4096u);
  EXPECT_EQ(TableSettingsOf(changed.table_factory.get()).block.block_size, 777u);
  EXPECT_EQ(TableSettingsOf(before.get()).block.block_cache,
            TableSettingsOf(changed.table_factory.get()).block.block_cache);
}

TEST(OptionStrings, TextWithASemicolonSurvives) {
  DBOptions o;
  o.wal_dir = "a;b #c";
  std::string text;
  ASSERT_TRUE(GetStringFromDBOptions(ConfigOptions(), o, &text).ok());
  DBOptions back;
  ASSERT_TRUE(GetDBOptionsFromString(ConfigOptions(), DBOptions(), text, &back).ok());
  EXPECT_EQ(back.wal_dir, o.wal_dir);
}

}  // namespace
}  // namespace compassdb
