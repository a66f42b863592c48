// SPDX-License-Identifier: Apache-2.0
// Strings: every row of the tables survives the way to text and back, and the
// text is RocksDB's.
#include <gtest/gtest.h>

#include <set>

#include "options/option_tables.h"
#include "options/rocksdb_defaults_for_test.h"
#include "options/table_factories.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
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

TEST(OptionStrings, NumbersTakeSuffixes) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("write_buffer_size=1k; max_bytes_for_level_base = 2G ;ttl=-1", &o).ok());
  EXPECT_EQ(o.write_buffer_size, 1024u);
  EXPECT_EQ(o.max_bytes_for_level_base, uint64_t{2} << 30);
  EXPECT_EQ(o.ttl, UINT64_MAX);
  ASSERT_TRUE(Family("write_buffer_size={ 2k };max_bytes_for_level_multiplier={ 7 };num_levels={\t4 };ttl={ -1 }", &o).ok());
  EXPECT_EQ(o.write_buffer_size, 2048u);
  EXPECT_EQ(o.max_bytes_for_level_multiplier, 7);
  EXPECT_EQ(o.num_levels, 4);
  EXPECT_EQ(o.ttl, UINT64_MAX);
  // As in RocksDB, text behind the number and its suffix does not count.
  ASSERT_TRUE(Family("write_buffer_size=64MB;target_file_size_base=1.5g;arena_block_size=0x100;max_bytes_for_level_multiplier=2.5x;"
                     "num_levels=+3;max_compaction_bytes=3 K;hard_pending_compaction_bytes_limit=1kk", &o).ok());
  EXPECT_EQ(o.write_buffer_size, 64u << 20);
  EXPECT_EQ(o.target_file_size_base, 1u);
  EXPECT_EQ(o.arena_block_size, 0u);
  EXPECT_EQ(o.max_bytes_for_level_multiplier, 2.5);
  EXPECT_EQ(o.num_levels, 3);
  EXPECT_EQ(o.max_compaction_bytes, 3u);
  EXPECT_EQ(o.hard_pending_compaction_bytes_limit, 1024u);
  for (const char* bad : {"write_buffer_size=", "write_buffer_size=x", "write_buffer_size=k1", "write_buffer_size=-",
                          "max_compaction_bytes=99999999999999999999", "num_levels=99999999999",
                          "num_levels=4294967297", "disable_auto_compactions=TRUE",
                          "max_bytes_for_level_multiplier=abc", "compression=Snappy",
                          "compression_per_level=kNo", "max_bytes_for_level_multiplier=1e400"}) {
    const Status s = Family(bad, &o);
    EXPECT_TRUE(s.IsInvalidArgument()) << bad;
    const std::string name = std::string(bad).substr(0, std::string(bad).find('='));
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
  }
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

TEST(OptionStrings, UnknownOptionsAreErrorsUnlessIgnored) {
  rocksdb::Options o;
  const Status s = GetOptionsFromString(rocksdb::Options(), "max_open_files=30;foo=1", &o);
  EXPECT_EQ(s.ToString(), "Invalid argument: Could not find option: : foo");
  ConfigOptions config;
  config.ignore_unknown_options = true;
  ASSERT_TRUE(GetOptionsFromString(config, rocksdb::Options(), "max_open_files=30;foo=1", &o).ok());
  EXPECT_EQ(o.max_open_files, 30);
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

TEST(OptionStrings, NestedStructsAndTheirMembers) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("compression_opts={level=3;window_bits=1};bottommost_compression_opts.level=9;"
                     "compaction_options_universal.size_ratio=7;compaction_options_fifo=5",
                     &o)
                  .ok());
  EXPECT_EQ(o.compression_opts.level, 3);
  EXPECT_EQ(o.compression_opts.window_bits, 1);
  EXPECT_EQ(o.bottommost_compression_opts.level, 9);
  EXPECT_EQ(o.compaction_options_universal.size_ratio, 7u);
  EXPECT_EQ(o.compaction_options_fifo.max_table_files_size, 5u);
}

TEST(OptionStrings, CompressionOptionsInTheOldForm) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("compression_opts=4:5:6:7:8:9:true", &o).ok());
  EXPECT_EQ(o.compression_opts.window_bits, 4);
  EXPECT_EQ(o.compression_opts.level, 5);
  EXPECT_EQ(o.compression_opts.strategy, 6);
  EXPECT_EQ(o.compression_opts.max_dict_bytes, 7u);
  EXPECT_EQ(o.compression_opts.zstd_max_train_bytes, 8u);
  EXPECT_EQ(o.compression_opts.parallel_threads, 9u);
  EXPECT_TRUE(o.compression_opts.enabled);
  EXPECT_TRUE(Family("compression_opts=1:2", &o).IsInvalidArgument());
}

TEST(OptionStrings, Lists) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("compression_per_level={kNoCompression:kZSTD};"
                     "max_bytes_for_level_multiplier_additional=2:3:4",
                     &o)
                  .ok());
  EXPECT_EQ(o.compression_per_level,
            (std::vector<rocksdb::CompressionType>{rocksdb::kNoCompression, rocksdb::kZSTD}));
  EXPECT_EQ(o.max_bytes_for_level_multiplier_additional, (std::vector<int>{2, 3, 4}));
  ASSERT_TRUE(Family("compression_per_level=", &o).ok());
  EXPECT_TRUE(o.compression_per_level.empty());
}

TEST(OptionStrings, Objects) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("prefix_extractor=fixed:4;memtable_factory=vector:10;"
                     "sst_partitioner_factory={id=SstPartitionerFixedPrefixFactory;length=4};"
                     "comparator=rocksdb.ReverseBytewiseComparator",
                     &o)
                  .ok());
  EXPECT_EQ(o.comparator, rocksdb::ReverseBytewiseComparator());
  OptionMap map;
  for (auto& [name, value] : ListOptions(ConfigOptions(), FamilyOptionTable(), o)) {
    map[name] = value;
  }
  EXPECT_EQ(map["prefix_extractor"], "rocksdb.FixedPrefix.4");
  EXPECT_EQ(map["memtable_factory"], "{id=VectorRepFactory;count=10;}");
  EXPECT_EQ(map["sst_partitioner_factory"], "{id=SstPartitionerFixedPrefixFactory;length=4;}");
  ASSERT_TRUE(Family("memtable=prefix_hash:1000", &o).ok());
  EXPECT_TRUE(o.memtable_factory->IsInstanceOf("HashSkipListRepFactory"));
  ASSERT_TRUE(Family("memtable_factory=skip_list:16", &o).ok());
  EXPECT_EQ(o.memtable_factory->GetId(), "SkipListFactory:16");
  // An object that cannot be made does not change, or is an error.
  ASSERT_TRUE(Family("memtable_factory=foo", &o).ok());
  EXPECT_EQ(o.memtable_factory->GetId(), "SkipListFactory");
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  EXPECT_TRUE(rocksdb::GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(),
                                                        "memtable_factory=foo", &o)
                  .IsInvalidArgument());
  EXPECT_TRUE(rocksdb::GetOptionsFromString(strict, rocksdb::Options(), "table_factory=foo",
                                            std::make_unique<rocksdb::Options>().get())
                  .IsInvalidArgument());
}

// Braces with an id alone say what the name says; they were passed over in silence, and a comparator with them.
TEST(OptionStrings, ObjectsWithoutOptionsByTheirId) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("comparator={id=rocksdb.ReverseBytewiseComparator};prefix_extractor={ id = fixed:5 }", &o).ok());
  EXPECT_EQ(o.comparator, rocksdb::ReverseBytewiseComparator());
  ASSERT_NE(o.prefix_extractor, nullptr);
  EXPECT_EQ(o.prefix_extractor->GetId(), "rocksdb.FixedPrefix.5");
  DBOptions db;
  ASSERT_TRUE(rocksdb::GetDBOptionsFromString(DBOptions(), "file_checksum_gen_factory={id=FileChecksumGenCrc32cFactory}", &db).ok());
  EXPECT_NE(db.file_checksum_gen_factory, nullptr);
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  rocksdb::BlockBasedTableOptions table;
  EXPECT_TRUE(rocksdb::GetBlockBasedTableOptionsFromString(
                  strict, table, "flush_block_policy_factory={id=FlushBlockBySizePolicyFactory}", &table).ok());
  EXPECT_TRUE(Family("comparator={id=nope;x=1}", &o).ok());
  EXPECT_EQ(o.comparator, rocksdb::BytewiseComparator());
}

// As in RocksDB, an unknown name of a comparator does not mean no comparator.
TEST(OptionStrings, AFamilyKeepsAComparator) {
  ColumnFamilyOptions o;
  for (const char* text : {"comparator=", "comparator={}"}) {
    EXPECT_TRUE(Family(text, &o).IsInvalidArgument()) << text;
  }
  for (const char* text : {"comparator=nullptr", "comparator={id=}"}) {
    ASSERT_TRUE(Family(text, &o).ok()) << text;
    EXPECT_EQ(o.comparator, rocksdb::BytewiseComparator());
  }
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  EXPECT_TRUE(rocksdb::GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(), "comparator=nullptr", &o)
                  .IsInvalidArgument());
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

TEST(OptionStrings, FilterPolicies) {
  const std::pair<const char*, const char*> cases[] = {
      {"bloomfilter:10:false", "bloomfilter:10:false"},
      {"rocksdb.BloomFilter:9.5", "bloomfilter:9.5:false"},
      {"ribbonfilter:10:2", "ribbonfilter:10:2"},
      {"ribbonfilter:10", "ribbonfilter:10:0"},
      {"bloomfilter:0.1", "bloomfilter:0:false"},
      {"rocksdb.internal.FastLocalBloomFilter:3", "rocksdb.internal.FastLocalBloomFilter:3"}};
  for (const auto& [text, id] : cases) {
    rocksdb::BlockBasedTableOptions o;
    ASSERT_TRUE(GetBlockBasedTableOptionsFromString(
                    ConfigOptions(), o, std::string("filter_policy=") + text, &o)
                    .ok());
    ASSERT_NE(o.filter_policy, nullptr) << text;
    EXPECT_EQ(o.filter_policy->GetId(), id);
    EXPECT_STREQ(o.filter_policy->CompatibilityName(), "rocksdb.BuiltinBloomFilter");
  }
}

TEST(OptionStrings, TableFactories) {
  ColumnFamilyOptions o;
  ASSERT_TRUE(Family("block_based_table_factory={block_size=8k;no_block_cache=true}", &o).ok());
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).block.block_size, 8192u);
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).block.block_cache, nullptr);
  ASSERT_TRUE(Family("table_factory={id=BlockBasedTable;block_size=1234}", &o).ok());
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).block.block_size, 1234u);
  ASSERT_TRUE(Family("table_factory={id=CompassTable;max_pieces=8;block_size=2k}", &o).ok());
  EXPECT_STREQ(o.table_factory->Name(), kPieceTableName);
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).piece.max_pieces, 8u);
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).block.block_size, 2048u);
  ASSERT_TRUE(Family("table_factory={id=CompassTable;perfect_hash=cphash;"
                     "perfect_hash_threads=3}", &o).ok());
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).piece.perfect_hash, PerfectHash::kCpHash);
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).piece.perfect_hash_threads, 3u);
  ASSERT_TRUE(Family("table_factory={id=CompassTable;perfect_hash=default}", &o).ok());
  EXPECT_EQ(TableSettingsOf(o.table_factory.get()).piece.perfect_hash, PerfectHash::kDefault);
  EXPECT_TRUE(Family("table_factory={id=CompassTable;perfect_hash=md5}", &o).IsInvalidArgument());
  ASSERT_TRUE(Family("table_factory=PlainTable", &o).ok());
  EXPECT_STREQ(o.table_factory->Name(), "PlainTable");
  EXPECT_TRUE(Family("block_based_table_factory={foo=1}", &o).IsInvalidArgument());
  // If the class is in the name of the option, "id" is no option.
  for (const char* other : {"block_based_table_factory={id=BlockBasedTable}",
                            "plain_table_factory={id=BlockBasedTable}"}) {
    EXPECT_TRUE(Family(other, &o).IsInvalidArgument()) << other;
  }
  ASSERT_TRUE(Family("table_factory=Foo", &o).ok());
  EXPECT_STREQ(o.table_factory->Name(), "BlockBasedTable");
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

TEST(OptionStrings, StringToMap) {
  OptionMap map;
  ASSERT_TRUE(rocksdb::StringToMap(" a = b ; c = { d=e;f=g } ; h=", &map).ok());
  EXPECT_EQ(map, (OptionMap{{"a", "b"}, {"c", "d=e;f=g"}, {"h", ""}}));
  for (const char* bad : {"a", "a={b", "a={b}c;d=e", "=1"}) {
    EXPECT_TRUE(rocksdb::StringToMap(bad, &map).IsInvalidArgument()) << bad;
  }
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
