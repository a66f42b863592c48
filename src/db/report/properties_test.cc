// SPDX-License-Identifier: Apache-2.0
#include "db/testing/db_test_util.h"
#include "util/c_locale.h"

namespace compassdb {
namespace {

class PropertiesTest : public DbTest {
 protected:
  std::map<std::string, std::string> MapOf(const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db_->GetMapProperty(name, &map)) << name;
    return map;
  }
  void Fill() {
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "value").ok());
    Flush();
  }
};

TEST_F(PropertiesTest, WhatWasWrittenIsCounted) {
  Fill();
  rocksdb::WriteOptions synced;
  synced.sync = true;
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(db_->Write(synced, &batch).ok());
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db_->Put(unlogged, "c", "3").ok());
  auto map = MapOf("rocksdb.dbstats");
  EXPECT_EQ(map["db.user_keys_written"], "103");
  EXPECT_EQ(map["db.user_writes_by_self"], "102");
  EXPECT_EQ(map["db.user_writes_by_other"], "0");
  EXPECT_EQ(map["db.user_writes_with_wal"], "101");
  EXPECT_EQ(map["db.wal_syncs"], "1");
  EXPECT_GT(std::stoull(map["db.wal_bytes_written"]), std::stoull(map["db.user_bytes_written"]));
  EXPECT_GT(CLocaleStrtod(map["db.uptime"].c_str(), nullptr), 0);
  EXPECT_EQ(map.size(), 9u);
  ASSERT_TRUE(db_->ResetStats().ok());
  map = MapOf("rocksdb.dbstats");
  for (const char* name : {"db.user_keys_written", "db.wal_syncs", "db.wal_bytes_written"}) {
    EXPECT_EQ(map[name], "0") << name;
  }
}

TEST_F(PropertiesTest, LevelsAddUp) {
  Fill();
  auto map = MapOf("rocksdb.cfstats");
  EXPECT_EQ(CLocaleStrtod(map["compaction.L0.NumFiles"].c_str(), nullptr), 1);
  EXPECT_EQ(map["compaction.Sum.SizeBytes"], map["compaction.L0.SizeBytes"]);
  EXPECT_EQ(map.count("compaction.L1.NumFiles"), 0u);
  Compact();
  map = MapOf("rocksdb.cfstats");
  EXPECT_EQ(CLocaleStrtod(map["compaction.Sum.NumFiles"].c_str(), nullptr), 1);
  EXPECT_GT(CLocaleStrtod(map["compaction.Sum.CompCount"].c_str(), nullptr), 1);
  EXPECT_EQ(map["io_stalls.total_stop"], "0");
}

TEST_F(PropertiesTest, TablesOfLevelsAddUp) {
  Fill();
  uint64_t entries = 0;
  for (int level = 0; level < 7; ++level) {
    entries += std::stoull(
        MapOf("rocksdb.aggregated-table-properties-at-level" + std::to_string(level))["num_entries"]);
  }
  EXPECT_EQ(entries, 100u);
  EXPECT_EQ(MapOf("rocksdb.aggregated-table-properties")["num_entries"], "100");
  std::map<std::string, std::string> map;
  EXPECT_FALSE(db_->GetMapProperty("rocksdb.aggregated-table-properties-at-level7", &map));
  EXPECT_FALSE(db_->GetMapProperty("rocksdb.stats", &map));
  EXPECT_FALSE(db_->GetMapProperty("", &map));
}

// As RocksDB prints it.
TEST_F(PropertiesTest, StatsHaveALineAboutWrites) {
  OpenDb();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Put(Key(i), "value").ok());
  std::string text;
  for (const char* name : {"rocksdb.stats", "rocksdb.dbstats"}) {
    ASSERT_TRUE(db_->GetProperty(name, &text));
    EXPECT_NE(text.find("\nCumulative writes: 3 writes, 3 keys, 3 commit groups, 1.0 writes per commit group, ingest: 0.00 GB, "),
              std::string::npos) << text;
    EXPECT_NE(text.find("\nCumulative WAL: 3 writes, 0 syncs, 3.00 writes per sync, written: 0.00 GB, "), std::string::npos);
    EXPECT_NE(text.find("\nCumulative stall: 00:00:00.000 H:M:S, 0.0 percent\n"), std::string::npos);
  }
  ASSERT_TRUE(db_->ResetStats().ok());
  ASSERT_TRUE(db_->GetProperty("rocksdb.stats", &text));
  EXPECT_NE(text.find("\nCumulative writes: 0 writes, "), std::string::npos);
  for (int i = 0; i < 12345; ++i) ASSERT_TRUE(Put(Key(i % 100), "value").ok());
  ASSERT_TRUE(db_->GetProperty("rocksdb.stats", &text));
  EXPECT_NE(text.find("\nCumulative writes: 12K writes, 12K keys, "), std::string::npos);
}

// Tables that only an iterator keeps are not live.
TEST_F(PropertiesTest, TheTotalSizeCountsTablesThatAnIteratorKeeps) {
  options_.disable_auto_compactions = true;
  Fill();
  const uint64_t before = IntProperty("rocksdb.total-sst-files-size");
  EXPECT_EQ(before, IntProperty("rocksdb.live-sst-files-size"));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "other").ok());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  Compact();
  const uint64_t live = IntProperty("rocksdb.live-sst-files-size");
  EXPECT_GT(IntProperty("rocksdb.total-sst-files-size"), live);
  it.reset();
  EXPECT_EQ(IntProperty("rocksdb.total-sst-files-size"), live);
  EXPECT_EQ(IntProperty("rocksdb.live-sst-files-size"), live);
}

// Of a table that a compaction merges into, it reads hashes only, until pieces or the whole table are due.
TEST_F(PropertiesTest, CompactionReadsByKind) {
  options_.disable_auto_compactions = true;
  Fill();
  Compact();
  const uint64_t whole = IntProperty("compassdb.compaction-read-whole-tables");
  ASSERT_TRUE(Put(Key(1), "other").ok());
  Flush();
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  const uint64_t hash_lists = IntProperty("compassdb.compaction-read-hash-lists");
  EXPECT_GT(hash_lists, 0u);
  EXPECT_EQ(IntProperty("compassdb.compaction-read-whole-tables"), whole);
  EXPECT_GE(IntProperty("compassdb.compaction-read"),
            hash_lists + whole + IntProperty("compassdb.compaction-read-pieces"));
}

// A stall is counted with its reason.
TEST_F(PropertiesTest, StallsHaveReasons) {
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 1;
  options_.level0_stop_writes_trigger = 100;
  OpenDb();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Put(Key(i), "value").ok());
    Flush();
  }
  auto map = MapOf("rocksdb.cfstats");
  EXPECT_GE(std::stoi(map["io_stalls.level0_slowdown"]), 1);
  EXPECT_EQ(map["io_stalls.total_slowdown"], map["io_stalls.level0_slowdown"]);
  EXPECT_EQ(map["io_stalls.memtable_slowdown"], "0");
}

}  // namespace
}  // namespace compassdb
