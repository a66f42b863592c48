// SPDX-License-Identifier: Apache-2.0
// The application's properties collectors and table files.
#include <gtest/gtest.h>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"

namespace rocksdb {
namespace {

class LastKey : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice& key, const Slice&, EntryType, SequenceNumber, uint64_t) override {
    key_ = key.ToString();
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["last"] = key_;
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "LastKey"; }

 private:
  std::string key_;
};

class LastKeyFactory : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    levels.push_back(context.level_at_creation);
    return new LastKey();
  }
  const char* Name() const override { return "LastKeyFactory"; }
  std::vector<int> levels;
};

TEST(SstCollectors, AreInTheFileAndInTheDatabaseThatTakesIt) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  auto factory = std::make_shared<LastKeyFactory>();
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.table_properties_collector_factories.push_back(factory);
  const std::string path = "/file.sst";
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_TRUE(writer.Open(path).ok());
  ASSERT_TRUE(writer.Put("a", "v").ok());
  ASSERT_TRUE(writer.Put("k", "v").ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(factory->levels, std::vector<int>{-1});
  SstFileReader reader(options);
  ASSERT_TRUE(reader.Open(path).ok());
  EXPECT_EQ(reader.GetTableProperties()->user_collected_properties.at("last"), "k");
  EXPECT_EQ(reader.GetTableProperties()->property_collectors_names, "[LastKeyFactory]");
  DB* db = nullptr;
  ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
  std::unique_ptr<DB> guard(db);
  ASSERT_TRUE(db->IngestExternalFile({path}, IngestExternalFileOptions()).ok());
  TablePropertiesCollection tables;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->user_collected_properties.at("last"), "k");
}

}  // namespace
}  // namespace rocksdb
