// SPDX-License-Identifier: Apache-2.0
// Properties that an application collects of its tables, and ReadOptions::table_filter.
#include <map>

#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"
#include "rocksdb/table_properties.h"

namespace compassdb {
namespace {

using rocksdb::Slice;

// Counts entries, and notes the level.
class Counter : public rocksdb::TablePropertiesCollector {
 public:
  Counter(int level, bool compact) : level_(level), compact_(compact) {}
  rocksdb::Status AddUserKey(const Slice& key, const Slice&, rocksdb::EntryType type,
                             rocksdb::SequenceNumber, uint64_t) override {
    if (key == Slice("fail")) return rocksdb::Status::Aborted("as asked for");
    ++counts_[type];
    if (first_.empty()) first_ = key.ToString();
    return rocksdb::Status::OK();
  }
  void BlockAdd(uint64_t, uint64_t, uint64_t) override { ++blocks_; }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    for (const auto& [type, n] : counts_) {
      (*properties)["count" + std::to_string(type)] = std::to_string(n);
    }
    (*properties)["first"] = first_;
    (*properties)["level"] = std::to_string(level_);
    (*properties)["blocks"] = blocks_ > 0 ? "some" : "none";
    return rocksdb::Status::OK();
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    return {{"readable", "yes"}};
  }
  const char* Name() const override { return "Counter"; }
  bool NeedCompact() const override { return compact_; }

 private:
  const int level_;
  const bool compact_;
  std::map<int, int> counts_;
  std::string first_;
  int blocks_ = 0;
};

class CounterFactory : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    return new Counter(context.level_at_creation, compact);
  }
  const char* Name() const override { return "CounterFactory"; }
  std::atomic<bool> compact{false};
};

class CollectorsTest : public DbTest {
 protected:
  CollectorsTest() : factory_(std::make_shared<CounterFactory>()) {
    options_.table_properties_collector_factories.push_back(factory_);
    options_.disable_auto_compactions = true;
  }
  std::map<std::string, rocksdb::UserCollectedProperties> Collected() {
    rocksdb::TablePropertiesCollection all;
    EXPECT_TRUE(db_->GetPropertiesOfAllTables(&all).ok());
    std::map<std::string, rocksdb::UserCollectedProperties> by_first;
    for (const auto& [file, properties] : all) {
      by_first[properties->user_collected_properties.at("first")] =
          properties->user_collected_properties;
      EXPECT_EQ(properties->property_collectors_names, "[CounterFactory]");
    }
    return by_first;
  }
  const std::shared_ptr<CounterFactory> factory_;
};

class LastFlush : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    properties = info.table_properties;
  }
  rocksdb::TableProperties properties;
};

TEST_F(CollectorsTest, SeeEveryRecordAndAreReadBack) {
  auto listener = std::make_shared<LastFlush>();
  options_.listeners.push_back(listener);
  options_.merge_operator = std::make_shared<AppendOperator>();
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(Put("b", "1").ok());
  ASSERT_TRUE(Put("fail", "1").ok());  // reported, and the table is written nevertheless
  ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "c").ok());
  ASSERT_TRUE(db_->SingleDelete(rocksdb::WriteOptions(), "d").ok());
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "e", "1").ok());
  ASSERT_TRUE(
      db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "x", "y").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(listener->properties.user_collected_properties.at("first"), "a");
  EXPECT_EQ(listener->properties.readable_properties.at("readable"), "yes");
  for (int round = 0; round < 2; ++round) {
    auto collected = Collected();
    ASSERT_EQ(collected.size(), 1u);
    const rocksdb::UserCollectedProperties& p = collected["a"];
    EXPECT_EQ(p.at("count" + std::to_string(rocksdb::kEntryPut)), "2");
    EXPECT_EQ(p.at("count" + std::to_string(rocksdb::kEntryDelete)), "1");
    EXPECT_EQ(p.at("count" + std::to_string(rocksdb::kEntrySingleDelete)), "1");
    EXPECT_EQ(p.at("count" + std::to_string(rocksdb::kEntryMerge)), "1");
    EXPECT_EQ(p.at("count" + std::to_string(rocksdb::kEntryRangeDeletion)), "1");
    EXPECT_EQ(p.at("level"), "0");
    EXPECT_EQ(p.at("blocks"), "some");
    EXPECT_EQ(Get("fail"), "1");
    CloseDb();
    OpenDb();
  }
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_EQ(Collected().size(), 1u);
  ASSERT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(CollectorsTest, InOneRangeOnly) {
  OpenDb();
  for (const char* key : {"a", "m", "z"}) {
    ASSERT_TRUE(Put(key, "1").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  EXPECT_EQ(Collected().size(), 3u);
  const rocksdb::Range range("l", "n");
  rocksdb::TablePropertiesCollection some;
  ASSERT_TRUE(
      db_->GetPropertiesOfTablesInRange(db_->DefaultColumnFamily(), &range, 1, &some).ok());
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some.begin()->second->user_collected_properties.at("first"), "m");
}

TEST_F(CollectorsTest, AWishForCompactionIsGrantedAndSurvivesReopening) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  factory_->compact = true;
  ASSERT_TRUE(Put("b", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(IntProperty("rocksdb.num-running-compactions"), 0u);
  CloseDb();
  factory_->compact = false;
  options_.disable_auto_compactions = false;
  OpenDb();
  ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  std::string level0;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &level0));
  EXPECT_EQ(level0, "0");
}

TEST_F(CollectorsTest, TableFilterLeavesTablesOut) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("b", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("c", "1").ok());
  rocksdb::ReadOptions options;
  int asked = 0;
  options.table_filter = [&asked](const rocksdb::TableProperties& properties) {
    ++asked;
    return properties.user_collected_properties.at("first") != "a";
  };
  EXPECT_EQ(Scan(options), "b=1,c=1");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(Scan(), "a=1,b=1,c=1");
  std::string value;
  ASSERT_TRUE(db_->Get(options, "a", &value).ok());  // of iterators only
}

}  // namespace
}  // namespace compassdb
