// SPDX-License-Identifier: Apache-2.0
// Wide columns in a database, compared with a model.
#include <map>

#include "db/testing/db_test_util.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::PinnableWideColumns;
using rocksdb::ReadOptions;
using rocksdb::WideColumns;
using rocksdb::WriteOptions;

class EntityTest : public DbTest {
 protected:
  using Entity = std::map<std::string, std::string>;

  static WideColumns ColumnsOf(const Entity& entity) {
    WideColumns columns;
    for (const auto& [name, value] : entity) columns.emplace_back(name, value);
    return columns;
  }
  static std::string DefaultOf(const Entity& entity) {
    const auto column = entity.find("");
    return column == entity.end() ? "" : column->second;
  }
  Status PutEntity(const std::string& key, const Entity& entity) {
    return db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), key, ColumnsOf(entity));
  }

  void Check(const std::map<std::string, Entity>& model, const rocksdb::Snapshot* snapshot) {
    ReadOptions read;
    read.snapshot = snapshot;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    it->SeekToFirst();
    for (const auto& [key, entity] : model) {
      ASSERT_TRUE(it->Valid()) << key;
      ASSERT_EQ(it->key().ToString(), key);
      ASSERT_TRUE(it->columns() == ColumnsOf(entity)) << key;
      ASSERT_EQ(it->value().ToString(), DefaultOf(entity));
      it->Next();
      PinnableWideColumns columns;
      ASSERT_TRUE(db_->GetEntity(read, db_->DefaultColumnFamily(), key, &columns).ok());
      ASSERT_TRUE(columns.columns() == ColumnsOf(entity)) << key;
      std::string value;
      ASSERT_TRUE(db_->Get(read, key, &value).ok());
      ASSERT_EQ(value, DefaultOf(entity));
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto at = model.rbegin(); at != model.rend(); ++at, it->Prev()) {
      ASSERT_TRUE(it->Valid()) << at->first;
      ASSERT_TRUE(it->columns() == ColumnsOf(at->second)) << at->first;
    }
    ASSERT_FALSE(it->Valid());
  }
};

TEST_F(EntityTest, AgreesWithAModelThroughEverything) {
  OpenDb();
  Random random(7);
  std::map<std::string, Entity> model;
  for (int round = 0; round < 6; ++round) {
    std::map<std::string, Entity> before = model;
    const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
    for (int i = 0; i < 600; ++i) {
      const std::string key = Key(static_cast<int>(random.Uniform(300)));
      if (random.OneIn(5)) {
        ASSERT_TRUE(db_->Delete(WriteOptions(), key).ok());
        model.erase(key);
      } else if (random.OneIn(3)) {
        const std::string value = random.Bytes(random.Uniform(200));
        ASSERT_TRUE(Put(key, value).ok());
        model[key] = {{"", value}};
      } else {
        Entity entity;
        for (uint64_t n = random.Uniform(5); n > 0; --n) {
          entity[random.OneIn(3) ? "" : "column" + std::to_string(random.Uniform(6))] =
              random.Bytes(random.Uniform(100));
        }
        ASSERT_TRUE(PutEntity(key, entity).ok());
        model[key] = entity;
      }
    }
    Check(model, nullptr);
    Check(before, snapshot);
    if (round % 2 == 0) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    if (round % 3 == 2) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    Check(model, nullptr);
    Check(before, snapshot);
    db_->ReleaseSnapshot(snapshot);
    OpenDb();  // the log is replayed
    Check(model, nullptr);
  }
}

TEST_F(EntityTest, ACrashKeepsWhatWasSynced) {
  OpenDb();
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(
      db_->PutEntity(synced, db_->DefaultColumnFamily(), "k", {{"a", "1"}, {"", "2"}}).ok());
  Crash();
  OpenDb();
  Check({{"k", {{"a", "1"}, {"", "2"}}}}, nullptr);
}

}  // namespace
}  // namespace compassdb
