// SPDX-License-Identifier: Apache-2.0
// The small ones: memory_util, debug, info_log_finder, leveldb_options, option_change_migration.
#include <gtest/gtest.h>

#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/debug.h"
#include "rocksdb/utilities/info_log_finder.h"
#include "rocksdb/utilities/leveldb_options.h"
#include "rocksdb/utilities/memory_util.h"
#include "rocksdb/utilities/option_change_migration.h"
#include "rocksdb/utilities/stackable_db.h"

namespace rocksdb {
namespace {

class UtilitiesTest : public ::testing::Test {
 protected:
  UtilitiesTest() : env_(NewMemEnv(Env::Default())) {
    options_.create_if_missing = true;
    options_.env = env_.get();
  }
  void Open() {
    DB* db = nullptr;
    Status s = DB::Open(options_, path_, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset(db);
  }

  const std::string path_ = "/db";
  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(UtilitiesTest, MemoryOfDatabasesAndCaches) {
  Open();
  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  ASSERT_TRUE(cache->Insert("k", nullptr, 1000, [](const Slice&, void*) {}).ok());
  std::map<MemoryUtil::UsageType, uint64_t> before, after;
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({}, {}, &before).ok());
  EXPECT_TRUE(before.empty());
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({db_.get(), nullptr},
                                                          {cache.get(), nullptr}, &before)
                  .ok());
  EXPECT_EQ(before.size(), static_cast<size_t>(MemoryUtil::kNumUsageTypes));
  EXPECT_EQ(before[MemoryUtil::kCacheTotal], cache->GetUsage());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(db_->Put(WriteOptions(), std::to_string(i), std::string(1000, 'x')).ok());
  }
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({db_.get()}, {}, &after).ok());
  EXPECT_GT(after[MemoryUtil::kMemTableTotal], before[MemoryUtil::kMemTableTotal] + 1000000);
  EXPECT_GT(after[MemoryUtil::kMemTableUnFlushed], before[MemoryUtil::kMemTableUnFlushed] + 1000000);
  EXPECT_EQ(after[MemoryUtil::kCacheTotal], 0u);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  std::string value;
  ASSERT_TRUE(db_->Get(ReadOptions(), "7", &value).ok());
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({db_.get()}, {}, &after).ok());
  EXPECT_GT(after[MemoryUtil::kTableReadersTotal], before[MemoryUtil::kTableReadersTotal]);
}

TEST_F(UtilitiesTest, KeyVersions) {
  options_.disable_auto_compactions = true;
  Open();
  const Snapshot* snapshot = nullptr;
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", "1").ok());
  snapshot = db_->GetSnapshot();
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", "2").ok());
  ASSERT_TRUE(db_->Delete(WriteOptions(), "b").ok());
  ASSERT_TRUE(db_->SingleDelete(WriteOptions(), "c").ok());
  std::vector<KeyVersion> versions;
  ASSERT_TRUE(GetAllKeyVersions(db_.get(), Slice(), Slice(), 100, &versions).ok());
  std::string text;
  for (const KeyVersion& v : versions) {
    text += v.user_key + ":" + v.GetTypeName() + ":" + v.value + "@" + std::to_string(v.sequence) + " ";
  }
  EXPECT_EQ(text, "a:TypeValue:2@2 a:TypeValue:1@1 b:TypeDeletion:@3 c:TypeSingleDeletion:@4 ");
  ASSERT_TRUE(GetAllKeyVersions(db_.get(), "b", "b", 100, &versions).ok());
  EXPECT_EQ(versions.size(), 1u);
  ASSERT_TRUE(GetAllKeyVersions(db_.get(), Slice(), Slice(), 3, &versions).ok());
  EXPECT_EQ(versions.size(), 3u);
  StackableDB* const wrapper = new StackableDB(db_.release());
  db_.reset(wrapper);
  ASSERT_TRUE(GetAllKeyVersions(wrapper, "c", Slice(), 3, &versions).ok());
  EXPECT_EQ(versions.size(), 1u);
  EXPECT_TRUE(GetAllKeyVersions(nullptr, "c", Slice(), 3, &versions).IsInvalidArgument());
  EXPECT_TRUE(
      GetAllKeyVersions(wrapper, nullptr, Slice(), Slice(), 3, &versions).IsInvalidArgument());
  KeyVersion odd("k", "v", 1, 99);
  EXPECT_EQ(odd.GetTypeName(), "Invalid");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(UtilitiesTest, InfoLogs) {
  Open();
  db_.reset();
  Open();  // the first becomes LOG.old
  std::vector<std::string> logs;
  ASSERT_TRUE(GetInfoLogList(db_.get(), &logs).ok());
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0], "LOG");
  EXPECT_EQ(logs[1].rfind("LOG.old.", 0), 0u);
  EXPECT_TRUE(GetInfoLogList(nullptr, &logs).IsInvalidArgument());
}

TEST_F(UtilitiesTest, LevelDBOptionsBecomeOptions) {
  LevelDBOptions from;
  from.create_if_missing = true;
  from.write_buffer_size = 123456;
  from.block_size = 1000;
  from.compression = kNoCompression;
  const Options to = ConvertOptions(from);
  EXPECT_TRUE(to.create_if_missing);
  EXPECT_EQ(to.write_buffer_size, 123456u);
  EXPECT_EQ(to.max_open_files, 1000);
  EXPECT_EQ(to.compression, kNoCompression);
  const auto* table = to.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_size, 1000u);
}

TEST_F(UtilitiesTest, FewerLevels) {
  options_.num_levels = 6;
  Open();
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 5;
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  db_.reset();
  Options fewer = options_;
  fewer.num_levels = 3;
  DB* db = nullptr;
  ASSERT_FALSE(DB::Open(fewer, path_, &db).ok());
  Options fifo = fewer;
  fifo.compaction_style = kCompactionStyleFIFO;
  EXPECT_TRUE(OptionChangeMigration(path_, options_, fifo).IsNotSupported());
  ASSERT_TRUE(OptionChangeMigration(path_, options_, fewer).ok());
  ASSERT_TRUE(OptionChangeMigration(path_, fewer, options_).ok());
  options_ = fewer;
  Open();
  std::string value;
  ASSERT_TRUE(db_->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "v");
}

}  // namespace
}  // namespace rocksdb
