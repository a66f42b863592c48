// SPDX-License-Identifier: Apache-2.0
#include "options/sanitize.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "env/descriptor_limit.h"
#include "options/option_tables.h"
#include "options/options_doc.h"
#include "options/projection.h"
#include "options/table_factories.h"
#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/write_buffer_manager.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

TEST(Sanitize, OpenFilesFitTheDescriptors) {
  DBOptions o;
  o.max_open_files = INT_MAX;
  EXPECT_EQ(SanitizeDbOptions(o).max_open_files, DescriptorLimit());
}

Status Validate(const DBOptions& db, const ColumnFamilyOptions& family) {
  return ValidateOptions(db, {{"cf1", family}});
}

TEST(Validate, DefaultsAreValid) {
  const Status s = Validate(DBOptions(), ColumnFamilyOptions());
  EXPECT_TRUE(s.ok()) << s.ToString();
}

TEST(Validate, TableFormatsOfRocksDBStandForTheEngines) {
  for (rocksdb::TableFactory* factory :
       {rocksdb::NewPlainTableFactory(), rocksdb::NewCuckooTableFactory()}) {
    ColumnFamilyOptions options;
    options.table_factory.reset(factory);
    const Status s = Validate(DBOptions(), options);
    EXPECT_TRUE(s.ok()) << s.ToString();
    const std::vector<std::string> lines = HintWarnings(DBOptions(), {{"cf1", options}});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find(factory->Name()), std::string::npos) << lines[0];
  }
}

class SilentTableFactory : public rocksdb::TableFactory {
 public:
  using TableFactory::NewTableReader;
  const char* Name() const override { return "SilentTableFactory"; }
  Status NewTableReader(const rocksdb::ReadOptions&, const rocksdb::TableReaderOptions&,
                        std::unique_ptr<rocksdb::RandomAccessFileReader>&&, uint64_t,
                        std::unique_ptr<rocksdb::TableReader>*, bool) const override {
    return Status::NotSupported();
  }
  rocksdb::TableBuilder* NewTableBuilder(const rocksdb::TableBuilderOptions&,
                                         rocksdb::WritableFileWriter*) const override {
    return nullptr;
  }
  Status ValidateOptions(const DBOptions&, const ColumnFamilyOptions&) const override {
    return Status::InvalidArgument();
  }
};

TEST(Validate, AFactoryOfTheApplicationMayGiveNoReason) {
  ColumnFamilyOptions options;
  options.table_factory = std::make_shared<SilentTableFactory>();
  EXPECT_EQ(Validate(DBOptions(), options).ToString(),
            "Invalid argument: column family cf1: table_factory: is refused");
}

TEST(Validate, ObjectsOfRocksDB) {
  ColumnFamilyOptions adaptive;
  adaptive.table_factory.reset(rocksdb::NewAdaptiveTableFactory());
  const Status s = Validate(DBOptions(), adaptive);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("cf1: table_factory"), std::string::npos) << s.ToString();
  DBOptions manager;
  manager.sst_file_manager.reset(rocksdb::NewSstFileManager(rocksdb::Env::Default()));
  EXPECT_TRUE(Validate(manager, ColumnFamilyOptions()).ok());
}

TEST(Validate, ChecksumsThatRocksDBHas) {
  for (const int checksum : {0, 1, 2, 3, 4, 5, 99}) {
    rocksdb::BlockBasedTableOptions table;
    table.checksum = static_cast<rocksdb::ChecksumType>(checksum);
    ColumnFamilyOptions family;
    family.table_factory.reset(NewBlockBasedTableFactory(table));
    const Status s = Validate(DBOptions(), family);
    EXPECT_EQ(s.ok(), checksum <= 4) << checksum;
    if (!s.ok()) {
      EXPECT_NE(s.ToString().find("cf1: table_factory.checksum"), std::string::npos) << s.ToString();
    }
  }
}

TEST(Validate, UpToFourDatabasePaths) {
  DBOptions db;
  for (int i = 0; i < 4; ++i) {
    db.db_paths.emplace_back("/db" + std::to_string(i), 1);
    EXPECT_TRUE(Validate(db, ColumnFamilyOptions()).ok());
  }
  db.db_paths.emplace_back("/db4", 1);
  EXPECT_TRUE(Validate(db, ColumnFamilyOptions()).IsNotSupported());
}

TEST(Sanitize, FamiliesWithoutPathsHaveTheDatabases) {
  DBOptions db;
  db.db_paths.emplace_back("/db", 7);
  ColumnFamilyOptions family;
  ASSERT_EQ(SanitizeFamilyOptions(db, family).cf_paths.size(), 1u);
  EXPECT_EQ(SanitizeFamilyOptions(db, family).cf_paths[0].target_size, 7u);
  family.cf_paths = {{"/a", 1}, {"/b", 2}};
  family.level_compaction_dynamic_level_bytes = true;
  const ColumnFamilyOptions own = SanitizeFamilyOptions(db, family);
  EXPECT_EQ(own.cf_paths[1].path, "/b");
  EXPECT_FALSE(own.level_compaction_dynamic_level_bytes);  // as in RocksDB
}

// Calls try_value(option, value, good) with the ends of each range and the values outside.
template <class S, class F>
void TryEveryRange(const OptionTable<S>& table, const F& try_value) {
  int ranges = 0;
  for (const OptionInfo<S>& option : table) {
    if (!option.has_range) continue;
    SCOPED_TRACE(option.name);
    ++ranges;
    try_value(option, std::to_string(option.least), true);
    if (option.least > 0 || option.type == std::string("int")) {
      try_value(option, std::to_string(static_cast<int64_t>(option.least) - 1), false);
    }
    if (option.most == UINT64_MAX) continue;
    try_value(option, std::to_string(option.most), true);
    try_value(option, std::to_string(option.most + 1), false);
  }
  EXPECT_GT(ranges, 0);
}

void CheckAnswer(const Status& s, const std::string& option, bool good) {
  EXPECT_EQ(s.ok(), good) << s.ToString();
  EXPECT_EQ(s.ToString().find(option) == std::string::npos, good) << s.ToString();
}

TEST(Validate, EveryRangeOfADatabaseAndAFamily) {
  TryEveryRange(DbOptionTable(), [](const auto& option, const std::string& value, bool good) {
    DBOptions db;
    ASSERT_TRUE(ParseOption({}, DbOptionTable(), option.name, value, &db).ok()) << value;
    CheckAnswer(Validate(db, ColumnFamilyOptions()), option.name, good);
  });
  TryEveryRange(FamilyOptionTable(), [](const auto& option, const std::string& value, bool good) {
    ColumnFamilyOptions family;
    ASSERT_TRUE(ParseOption({}, FamilyOptionTable(), option.name, value, &family).ok()) << value;
    CheckAnswer(Validate(DBOptions(), family), option.name, good);
  });
}

// At Open and by SetOptions.
TEST(Validate, EveryRangeOfATable) {
  const auto try_value = [](const auto& option, const std::string& value, bool good) {
    const std::string text = "{id=CompassTable;" + std::string(option.name) + "=" + value + "}";
    ColumnFamilyOptions o;
    Status s =
        rocksdb::TableFactory::CreateFromString(rocksdb::ConfigOptions(), text, &o.table_factory);
    ASSERT_TRUE(s.ok()) << s.ToString();
    CheckAnswer(Validate(DBOptions(), o), option.name, good);
    if (!option.is_mutable()) return;
    o.table_factory.reset(NewPieceTableFactory());
    s = ApplyMutableFamilyOptions("f", DBOptions(), {{"table_factory", text}}, &o);
    EXPECT_EQ(s.ok(), good) << s.ToString();
  };
  TryEveryRange(PieceTableOptionTable(), try_value);
  TryEveryRange(BlockTableOptionTable(), try_value);
}

TEST(Validate, MemtablesOfRocksDBAreServed) {
  ColumnFamilyOptions o;
  for (rocksdb::MemTableRepFactory* factory :
       {rocksdb::NewHashSkipListRepFactory(), rocksdb::NewHashLinkListRepFactory(),
        static_cast<rocksdb::MemTableRepFactory*>(new rocksdb::VectorRepFactory(7))}) {
    o.memtable_factory.reset(factory);
    EXPECT_TRUE(Validate(DBOptions(), o).IsInvalidArgument());
    DBOptions one_writer;
    one_writer.allow_concurrent_memtable_write = false;
    EXPECT_TRUE(Validate(one_writer, o).ok());
    EXPECT_EQ(HintWarnings(DBOptions(), {{"cf1", o}}).size(), 1u);
  }
}

TEST(Hints, OnlyWhatIsSetIsWarnedAbout) {
  EXPECT_TRUE(HintWarnings(DBOptions(), {{"default", ColumnFamilyOptions()}}).empty());
  const ColumnFamilyOptions sane = SanitizeFamilyOptions(DBOptions(), ColumnFamilyOptions());
  EXPECT_TRUE(HintWarnings(SanitizeDbOptions(DBOptions()), {{"default", sane}}).empty());
  DBOptions db;
  db.allow_mmap_reads = true;
  ColumnFamilyOptions family;
  rocksdb::BlockBasedTableOptions block;
  block.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  block.optimize_filters_for_memory = true;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(block));
  const auto lines = HintWarnings(db, {{"users", family}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].rfind("allow_mmap_reads has no effect: ", 0), 0u);
  EXPECT_NE(lines[1].find("users: optimize_filters_for_memory"), std::string::npos);
}

TEST(Mutable, TextsComeAsTheyAre) {
  ColumnFamilyOptions o;
  const std::unordered_map<std::string, std::string> spaces = {{"write_buffer_size", " 1000000 "}};
  ASSERT_TRUE(ApplyMutableFamilyOptions("f", DBOptions(), spaces, &o).ok());
  EXPECT_EQ(o.write_buffer_size, 1000000u);
  EXPECT_TRUE(ApplyMutableFamilyOptions("f", DBOptions(), {}, &o).IsInvalidArgument());
  DBOptions db;
  ASSERT_TRUE(ApplyMutableDbOptions({{"max_background_jobs", " 3"}}, &db).ok());
  EXPECT_EQ(db.max_background_jobs, 3);
}

TEST(Projection, TablesAndCompression) {
  ColumnFamilyOptions o;
  o.num_levels = 4;
  o.compression = rocksdb::kLZ4Compression;
  o.compression_per_level = {rocksdb::kNoCompression, rocksdb::kSnappyCompression};
  o.bottommost_compression = rocksdb::kZSTD;
  PieceTableOptions piece;
  piece.max_pieces = 9;
  piece.data_order = DataOrder::kSlot;
  piece.perfect_hash = PerfectHash::kCpHash;
  piece.perfect_hash_threads = 4;
  rocksdb::BlockBasedTableOptions block;
  block.no_block_cache = true;
  o.table_factory.reset(NewPieceTableFactory(piece, block));
  const StoreOptions s = ProjectStoreOptions(SanitizeFamilyOptions(DBOptions(), o), 3, "f");
  EXPECT_EQ(s.compression,
            (std::vector<rocksdb::CompressionType>{rocksdb::kNoCompression,
                                                   rocksdb::kSnappyCompression,
                                                   rocksdb::kSnappyCompression, rocksdb::kZSTD}));
  EXPECT_EQ(s.max_pieces, 9u);
  EXPECT_EQ(s.data_order, DataOrder::kSlot);
  EXPECT_EQ(s.perfect_hash, perfect_hash::Kind::kCpHash);
  EXPECT_EQ(s.perfect_hash_threads, 4u);
  EXPECT_EQ(s.block_cache, nullptr);
  EXPECT_EQ(s.target_table_bytes, 32u << 20);
  EXPECT_EQ(s.ttl_seconds, 2592000u);
}

TEST(Projection, TablesHaveALimit) {
  ColumnFamilyOptions o;
  o.target_file_size_base = UINT64_MAX;
  EXPECT_EQ(ProjectStoreOptions(SanitizeFamilyOptions(DBOptions(), o), 0, "f").target_table_bytes, kLargestSize);
}

TEST(Projection, ThrottleTakesEveryByte) {
  EXPECT_FALSE(ThrottleOf(nullptr));
  std::shared_ptr<rocksdb::RateLimiter> limiter(rocksdb::NewGenericRateLimiter(100 << 20));
  const auto throttle = ThrottleOf(limiter);
  throttle(15 << 20, true);
  throttle(1, false);
  EXPECT_EQ(limiter->GetTotalBytesThrough(rocksdb::Env::IO_HIGH), 15 << 20);
  EXPECT_EQ(limiter->GetTotalBytesThrough(rocksdb::Env::IO_LOW), 1);
  EXPECT_EQ(limiter->GetTotalBytesThrough(), (15 << 20) + 1);
}

TEST(RateLimiter, ManyThreadsAllFinish) {
  std::shared_ptr<rocksdb::RateLimiter> limiter(
      rocksdb::NewGenericRateLimiter(20 << 20, 1000, 2, rocksdb::RateLimiter::Mode::kAllIo, true));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&limiter, i] {
      const auto priority = i % 2 == 0 ? rocksdb::Env::IO_LOW : rocksdb::Env::IO_HIGH;
      for (int n = 0; n < 20; ++n) limiter->Request(10000, priority, nullptr);
      limiter->Request(300000, priority, nullptr);  // beyond a burst
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(limiter->GetTotalBytesThrough(), 8 * (200000 + 300000));
  EXPECT_EQ(limiter->GetTotalRequests(), 8 * 21);
  int64_t pending = -1;
  ASSERT_TRUE(limiter->GetTotalPendingRequests(&pending).ok());
  EXPECT_EQ(pending, 0);
}

TEST(WriteBufferManager, ChargesTheCache) {
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(16 << 20);
  {
    rocksdb::WriteBufferManager manager(8 << 20, cache);
    manager.ReserveMem(7 << 20);
    EXPECT_EQ(manager.memory_usage(), 7u << 20);
    EXPECT_GE(cache->GetPinnedUsage(), 7u << 20);
    EXPECT_FALSE(manager.ShouldFlush());
    manager.ReserveMem(1 << 20);
    EXPECT_TRUE(manager.ShouldFlush());
    manager.ScheduleFreeMem(8 << 20);
    manager.FreeMem(8 << 20);
    EXPECT_EQ(manager.memory_usage(), 0u);
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

struct Stalled : rocksdb::StallInterface {
  void Block() override {}
  void Signal() override { ++signals; }
  int signals = 0;
};

TEST(WriteBufferManager, StallsEndWhenTheyAreForbidden) {
  Stalled first, second;
  rocksdb::WriteBufferManager manager(1000, nullptr, false);
  manager.ReserveMem(1500);
  EXPECT_FALSE(manager.ShouldStall());
  manager.SetAllowStall(true);
  EXPECT_TRUE(manager.ShouldStall());
  manager.BeginWriteStall(&first);
  EXPECT_EQ(first.signals, 0);
  manager.SetAllowStall(false);
  EXPECT_EQ(first.signals, 1);
  EXPECT_FALSE(manager.IsStallActive());
  manager.BeginWriteStall(&second);
  EXPECT_EQ(second.signals, 1);
}

TEST(WriteBufferManager, StallsEndWhenMemoryIsFreed) {
  Stalled first, second;
  rocksdb::WriteBufferManager manager(1000, nullptr, true);
  manager.ReserveMem(1500);
  ASSERT_TRUE(manager.ShouldStall());
  manager.BeginWriteStall(&first);
  manager.BeginWriteStall(&second);
  manager.RemoveDBFromQueue(&second);
  EXPECT_EQ(second.signals, 1);
  manager.FreeMem(200);
  EXPECT_EQ(first.signals, 0);
  manager.FreeMem(1000);
  EXPECT_EQ(first.signals, 1);
  EXPECT_FALSE(manager.IsStallActive());
  manager.BeginWriteStall(&first);  // nothing to wait for
  EXPECT_EQ(first.signals, 2);
}

// docs/options.md holds the tables. COMPASSDB_UPDATE_DOCS=1 writes them there.
TEST(Documentation, TablesAgree) {
  const std::filesystem::path path = std::filesystem::path(__FILE__).parent_path().parent_path()
                                         .parent_path() / "docs" / "options.md";
  std::ifstream in(path);
  if (!in) GTEST_SKIP() << "no source tree";
  std::stringstream buffer;
  buffer << in.rdbuf();
  std::string text = buffer.str();
  const size_t begin = text.find(kOptionsBegin);
  const size_t end = text.find(kOptionsEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + std::string(kOptionsBegin).size();
  if (std::getenv("COMPASSDB_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << text.substr(0, from) << OptionsDocument() << text.substr(end);
    return;
  }
  EXPECT_EQ(text.substr(from, end - from), OptionsDocument())
      << "run options_test with COMPASSDB_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace compassdb
