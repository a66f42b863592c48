// SPDX-License-Identifier: Apache-2.0
#include "options/options_file.h"

#include <gtest/gtest.h>

#include "env/env_test_util.h"
#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "options/table_factories.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/utilities/options_util.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

std::vector<NamedFamilyOptions> TwoFamilies() {
  NamedFamilyOptions first{"default", {}};
  first.options.write_buffer_size = 12345;
  first.options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(5));
  rocksdb::BlockBasedTableOptions block;
  block.filter_policy.reset(rocksdb::NewBloomFilterPolicy(9.7));
  block.block_size = 6000;
  first.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(block));
  NamedFamilyOptions second{"cf;[x]#\"=", {}};
  second.options.num_levels = 4;
  PieceTableOptions piece;
  piece.max_pieces = 8;
  piece.data_order = DataOrder::kHash;
  piece.perfect_hash = PerfectHash::kCpHash;
  piece.perfect_hash_threads = 2;
  second.options.table_factory.reset(NewPieceTableFactory(piece, block));
  return {first, second};
}

TEST(OptionsFile, RoundTrips) {
  DBOptions db;
  db.create_if_missing = true;
  db.db_host_id = "a;b # c";
  const std::string text = FormatOptionsFile(db, TwoFamilies());
  DBOptions read;
  std::vector<NamedFamilyOptions> families;
  const Status s = ParseOptionsFile(ConfigOptions(), "OPTIONS", text, &read, &families);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(read.create_if_missing);
  EXPECT_EQ(read.db_host_id, db.db_host_id);
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[1].name, "cf;[x]#\"=");
  EXPECT_EQ(families[0].options.write_buffer_size, 12345u);
  EXPECT_EQ(families[1].options.num_levels, 4);
  const TableSettings table = TableSettingsOf(families[1].options.table_factory.get());
  EXPECT_EQ(table.piece.max_pieces, 8u);
  EXPECT_EQ(table.piece.data_order, DataOrder::kHash);
  EXPECT_EQ(table.piece.perfect_hash, PerfectHash::kCpHash);
  EXPECT_EQ(table.piece.perfect_hash_threads, 2u);
  EXPECT_EQ(table.block.block_size, 6000u);
  ASSERT_NE(table.block.filter_policy, nullptr);
  EXPECT_EQ(table.block.filter_policy->GetId(), "bloomfilter:9.7:false");
  EXPECT_EQ(FormatOptionsFile(read, families), text);
}

// Cut at a line, the file is refused or is the options of its first families; it never crashes.
TEST(OptionsFile, TruncatedAnywhere) {
  const std::string text = FormatOptionsFile(DBOptions(), TwoFamilies());
  for (size_t size = 0; size < text.size(); size += 7) {
    DBOptions db;
    std::vector<NamedFamilyOptions> families;
    const Status s =
        ParseOptionsFile(ConfigOptions(), "OPTIONS", text.substr(0, size), &db, &families);
    if (s.ok()) {
      EXPECT_FALSE(families.empty());
    } else {
      EXPECT_NE(s.ToString().find("OPTIONS"), std::string::npos) << s.ToString();
    }
  }
}

TEST(OptionsFile, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no [DBOptions]"},
      {"[Version]\n[DBOptions]\n[Version]\n", ":3: a second [Version]"},
      {"[DBOptions]\n[TableOptions/BlockBasedTable \"default\"]\n", ":2: no [CFOptions"},
      {"[DBOptions]\n[CFOptions \"default\"]\n[Other]\n", ":3: unknown section [Other]"},
      {"[Version]\nrocksdb_version=seven\n", ":1: rocksdb_version: seven"},
      {"[Version]\noptions_file_version=1.1\n", "no [DBOptions]"},
      {"[Version]\noptions_file_version=0.9\n", ":1: options_file_version must be"},
      {"[Version]\noptions_file_version=1.1\n[DBOptions]\n", "no [CFOptions"},
      {"[Version]\noptions_file_version=1.1\n[DBOptions]\nx\n", ":4: '=' expected"},
      {"[Version]\noptions_file_version=1.1\n[DBOptions]\nzzz=1\n", ":3: [DBOptions]"},
      {"[Version]\noptions_file_version=1.1\n[DBOptions]\n[CFOptions \"b\"]\n", ":4: the first"},
      {"[Version]\noptions_file_version=1.1\n[DBOptions]\n[CFOptions \"default\"]\nttl=x\n",
       "ttl"}};
  for (const auto& [text, message] : cases) {
    DBOptions db;
    std::vector<NamedFamilyOptions> families;
    const Status s = ParseOptionsFile(ConfigOptions(), "OPTIONS-7", text, &db, &families);
    EXPECT_FALSE(s.ok()) << text;
    EXPECT_NE(s.ToString().find(message), std::string::npos) << s.ToString();
  }
}

// Files of RocksDB 5.13 to 6.14, and files that are written by hand.
TEST(OptionsFile, OfOtherVersions) {
  const auto parse = [](const std::string& text, bool ignore_unknown, DBOptions* db, std::vector<NamedFamilyOptions>* families) {
    ConfigOptions config;
    config.ignore_unknown_options = ignore_unknown;
    return ParseOptionsFile(config, "OPTIONS", text, db, families);
  };
  DBOptions db;
  std::vector<NamedFamilyOptions> families;
  Status s = parse("[CFOptions \"default\"]\n  num_levels=5\n[TableOptions/BlockBasedTable \"default\"]\n"
                   "  read_amp_bytes_per_bit=8589934592\n  filter_policy=bloomfilter\n  index_per_partition=1\n"
                   "[DBOptions]\n  max_open_files=7\n  rate_limiter=nullptr\n  seq_per_batch=false\n", false, &db, &families);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(db.max_open_files, 7);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].options.num_levels, 5);
  const auto* table = families[0].options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->read_amp_bytes_per_bit, 0u);
  EXPECT_EQ(table->filter_policy, nullptr);
  // A file of a newer minor version may have what is unknown.
  const std::string unknown = "\n[DBOptions]\n  of_the_future=1\n  create_if_missing=perhaps\n  max_open_files=9\n[CFOptions \"default\"]\n";
  EXPECT_TRUE(parse("[Version]\nrocksdb_version=9.1.0" + unknown, true, &db, &families).ok());
  EXPECT_EQ(db.max_open_files, 9);
  EXPECT_FALSE(db.create_if_missing);
  EXPECT_TRUE(parse("[Version]\nrocksdb_version=9.1.0" + unknown, false, &db, &families).IsInvalidArgument());
  EXPECT_TRUE(parse("[Version]\nrocksdb_version=7.8.9" + unknown, true, &db, &families).IsInvalidArgument());
  // Sections before [Version], or in a file without it, may be of any version.
  EXPECT_TRUE(parse(unknown, true, &db, &families).ok());
  EXPECT_TRUE(parse(unknown, false, &db, &families).IsInvalidArgument());
  EXPECT_TRUE(parse(unknown + "[Version]\nrocksdb_version=7.8.9\n", true, &db, &families).ok());
}

TEST(OptionsFile, KeepsTheLastTwo) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/db").ok());
  for (const uint64_t number : {5, 7, 9, 12}) {
    ASSERT_TRUE(WriteOptionsFile(&fs, "/db", number, DBOptions(), TwoFamilies()).ok());
  }
  EXPECT_TRUE(fs.FileExists(OptionsFileName("/db", 7)).IsNotFound());
  EXPECT_TRUE(fs.FileExists(OptionsFileName("/db", 9)).ok());
  EXPECT_TRUE(fs.FileExists(OptionsFileName("/db", 12)).ok());
}

class OptionsUtilTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(PosixFileSystem()->CreateDir(dir_).ok());
    ASSERT_TRUE(WriteOptionsFile(PosixFileSystem(), dir_, 3, DBOptions(), TwoFamilies()).ok());
    DBOptions newer;
    newer.max_open_files = 99;
    ASSERT_TRUE(WriteOptionsFile(PosixFileSystem(), dir_, 8, newer, TwoFamilies()).ok());
  }
  void TearDown() override {
    for (const uint64_t number : {3, 8}) {
      PosixFileSystem()->DeleteFile(OptionsFileName(dir_, number)).PermitUncheckedError();
    }
    PosixFileSystem()->DeleteDir(dir_).PermitUncheckedError();
  }
  const std::string dir_ = NewTestPath();
};

TEST_F(OptionsUtilTest, LoadsTheLatest) {
  std::string name;
  ASSERT_TRUE(rocksdb::GetLatestOptionsFileName(dir_, rocksdb::Env::Default(), &name).ok());
  EXPECT_EQ(name, "OPTIONS-000008");
  DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(1 << 20);
  const Status s = rocksdb::LoadLatestOptions(dir_, rocksdb::Env::Default(), &db, &families, false,
                                              &cache);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(db.max_open_files, 99);
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(TableSettingsOf(families[1].options.table_factory.get()).block.block_cache, cache);
  EXPECT_TRUE(rocksdb::LoadLatestOptions(dir_ + "/none", rocksdb::Env::Default(), &db, &families)
                  .IsNotFound());
}

TEST_F(OptionsUtilTest, AComparatorOfTheClientsOwnIsComparedByName) {
  class Own final : public rocksdb::Comparator {
   public:
    explicit Own(const char* name) : name_(name) {}
    const char* Name() const override { return name_; }
    int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
      return a.compare(b);
    }
    void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}

   private:
    const char* const name_;
  };
  const Own own("own"), other("other");
  rocksdb::Env* env = rocksdb::Env::Default();
  std::vector<NamedFamilyOptions> families = {{"default", {}}};
  families[0].options.comparator = &own;
  ASSERT_TRUE(rocksdb::WriteStringToFile(env, FormatOptionsFile(DBOptions(), families),
                                         dir_ + "/OPTIONS-000009").ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> given = {{"default", families[0].options}};
  const Status s = rocksdb::CheckOptionsCompatibility(dir_, env, DBOptions(), given);
  EXPECT_TRUE(s.ok()) << s.ToString();
  for (const rocksdb::Comparator* comparator :
       {static_cast<const rocksdb::Comparator*>(&other), rocksdb::BytewiseComparator()}) {
    given[0].options.comparator = comparator;
    EXPECT_TRUE(
        rocksdb::CheckOptionsCompatibility(dir_, env, DBOptions(), given).IsInvalidArgument());
  }
  EXPECT_TRUE(env->DeleteFile(dir_ + "/OPTIONS-000009").ok());
}

// RocksDB writes no file for most of these.
TEST_F(OptionsUtilTest, NamesWithSpecialCharactersAreReadBack) {
  class Own final : public rocksdb::MergeOperator {
   public:
    explicit Own(std::string name) : name_(std::move(name)) {}
    const char* Name() const override { return name_.c_str(); }

   private:
    const std::string name_;
  };
  rocksdb::Env* env = rocksdb::Env::Default();
  const std::string file = dir_ + "/OPTIONS-000009";
  for (const char* name : {"#", "a#b", "a=b", "a;b", "{a", "a}", "{a}", "a\\b", "a\\#b", "a\\", "\\",
                           " lead", "trail ", " both ", "a\nb", "a\rb", "\"a\"", "[a]", "a:b"}) {
    DBOptions db;
    db.wal_dir = db.db_log_dir = name;
    std::vector<NamedFamilyOptions> families = {{"default", {}}, {name, {}}};
    families[1].options.merge_operator = std::make_shared<Own>(name);
    ASSERT_TRUE(rocksdb::WriteStringToFile(env, FormatOptionsFile(db, families), file).ok());
    DBOptions read;
    std::vector<rocksdb::ColumnFamilyDescriptor> given;
    Status s = rocksdb::LoadOptionsFromFile(ConfigOptions(), file, &read, &given);
    ASSERT_TRUE(s.ok()) << name << ": " << s.ToString();
    EXPECT_EQ(read.wal_dir, name);
    EXPECT_EQ(read.db_log_dir, name);
    EXPECT_EQ(given[1].name, name);
    given[1].options.merge_operator = families[1].options.merge_operator;
    s = rocksdb::CheckOptionsCompatibility(ConfigOptions(), dir_, read, given);
    EXPECT_TRUE(s.ok()) << name << ": " << s.ToString();
    given[1].options.merge_operator = std::make_shared<Own>(std::string(name) + "x");
    s = rocksdb::CheckOptionsCompatibility(dir_, env, read, given);
    EXPECT_TRUE(s.IsInvalidArgument()) << name << ": " << s.ToString();
  }
  EXPECT_TRUE(env->DeleteFile(file).ok());
}

TEST_F(OptionsUtilTest, OfSeveralValuesTheFirstCounts) {
  std::string text = FormatOptionsFile(DBOptions(), {{"default", {}}});
  text.insert(text.find("  max_open_files="), "  max_open_files=5\n");
  DBOptions db;
  std::vector<NamedFamilyOptions> families;
  ASSERT_TRUE(ParseOptionsFile(ConfigOptions(), "file", text, &db, &families).ok());
  EXPECT_EQ(db.max_open_files, 5);
}

TEST_F(OptionsUtilTest, CompatibilityIsOfComparatorsAndFamilies) {
  DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::Env* env = rocksdb::Env::Default();
  ASSERT_TRUE(rocksdb::LoadLatestOptions(dir_, env, &db, &families).ok());
  families[0].options.write_buffer_size = 1;
  EXPECT_TRUE(rocksdb::CheckOptionsCompatibility(dir_, env, db, families).ok());
  families[0].options.comparator = rocksdb::ReverseBytewiseComparator();
  const Status s = rocksdb::CheckOptionsCompatibility(dir_, env, db, families);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("comparator"), std::string::npos);
  families.pop_back();
  EXPECT_TRUE(rocksdb::CheckOptionsCompatibility(dir_, env, db, families).IsInvalidArgument());
}

}  // namespace
}  // namespace compassdb
