// SPDX-License-Identifier: Apache-2.0
#include "db/report/reports.h"

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

class ReportsTest : public ::testing::Test {
 protected:
  uint64_t Int(const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(reports_.GetIntProperty(db_.family(), name, &value)) << name;
    return value;
  }
  std::string Text(const std::string& name) {
    std::string value;
    EXPECT_TRUE(reports_.GetProperty(db_.family(), name, &value)) << name;
    return value;
  }

  FamilyHarness db_;
  const DbConfig config_ = [] {
    DbConfig config;
    config.clock = SystemClock();
    return config;
  }();
  ErrorHandler errors_;
  WriteCounters written_;
  StallController stalls_{1 << 20};
  CountedWork work_;
  SnapshotList snapshots_{&db_.last_sequence, &db_.mu, &work_};
  WalSet wals_{&db_.fs, "/db", WalSet::Options(), [] { return uint64_t{1}; }, nullptr};
  Reports reports_{{config_, db_.families, db_.ledger, snapshots_, wals_, errors_, written_, db_.last_sequence, db_.mu,
                    stalls_, work_}};
};

TEST_F(ReportsTest, TablesAndMemTablesAreCounted) {
  db_.Put("a", "1");
  db_.Put("b", "2");
  db_.Flush(db_.family());
  db_.Put("c", "3");
  EXPECT_EQ(Int("rocksdb.num-entries-active-mem-table"), 1u);
  EXPECT_EQ(Int("rocksdb.estimate-num-keys"), 3u);
  EXPECT_EQ(Text("rocksdb.estimate-num-keys"), "3");
  EXPECT_EQ(Text("rocksdb.num-files-at-level0"), "1");
  EXPECT_EQ(Text("rocksdb.num-files-at-level1"), "0");

  db_.Write(db_.Add("other"), kTypeValue, "d", "4");
  uint64_t of_all = 0;
  EXPECT_TRUE(reports_.GetAggregatedIntProperty("rocksdb.estimate-num-keys", &of_all));
  EXPECT_EQ(of_all, 4u);
}

TEST_F(ReportsTest, WhatIsNoPropertyIsNotAnswered) {
  uint64_t number = 0;
  std::string text;
  std::map<std::string, std::string> map;
  EXPECT_FALSE(reports_.GetIntProperty(db_.family(), "rocksdb.stats", &number));
  EXPECT_FALSE(reports_.GetAggregatedIntProperty("rocksdb.stats", &number));
  EXPECT_FALSE(reports_.GetProperty(db_.family(), "rocksdb.num-files-at-level99", &text));
  EXPECT_FALSE(reports_.GetProperty(db_.family(), "rocksdb.options-statistics", &text));  // there are none
  EXPECT_FALSE(reports_.GetMapProperty(db_.family(), "rocksdb.num-snapshots", &map));
}

TEST_F(ReportsTest, ThePartsOfTheDatabaseAreAsked) {
  EXPECT_EQ(Int("rocksdb.num-running-flushes"), 2u);
  EXPECT_EQ(Int("rocksdb.num-running-compactions"), 3u);
  EXPECT_EQ(Int("rocksdb.actual-delayed-write-rate"), 0u);
  StallDecision slow;
  slow.state = StallState::kDelayed;
  stalls_.Update(slow, 1);
  EXPECT_EQ(Int("rocksdb.actual-delayed-write-rate"), stalls_.rate());
  EXPECT_EQ(Int("rocksdb.is-write-stopped"), 0u);
  db_.ledger.DisableDeletions();
  EXPECT_EQ(Int("rocksdb.is-file-deletions-enabled"), 0u);
  EXPECT_EQ(Text("compassdb.wal-damage"), "");
  reports_.AddWalDamage("a log is torn");
  EXPECT_EQ(Text("compassdb.wal-damage"), "a log is torn\n");
}

TEST_F(ReportsTest, AResetForgetsWhatWasWritten) {
  written_.keys = 5;
  db_.family()->counters.flushes = 7;
  std::map<std::string, std::string> map;
  ASSERT_TRUE(reports_.GetMapProperty(db_.family(), "rocksdb.dbstats", &map));
  EXPECT_EQ(map["db.user_keys_written"], "5");
  reports_.ResetStats();
  ASSERT_TRUE(reports_.GetMapProperty(db_.family(), "rocksdb.dbstats", &map));
  EXPECT_EQ(map["db.user_keys_written"], "0");
  EXPECT_EQ(db_.family()->counters.flushes, 0u);
}

TEST_F(ReportsTest, AResetForgetsJobsAndErrors) {
  const auto jobs = [this] {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(reports_.GetMapProperty(db_.family(), "rocksdb.cfstats", &map));
    return map["compaction.L0.CompCount"] + " " + map["compaction.Sum.CompCount"];
  };
  for (int i = 0; i < 2; ++i) {
    db_.Put("a", "1");
    db_.Flush(db_.family());
  }
  errors_.Set(Status::IOError("injected"), rocksdb::BackgroundErrorReason::kFlush).PermitUncheckedError();
  const std::string both = jobs();
  EXPECT_EQ(Int("rocksdb.background-errors"), 1u);
  reports_.ResetStats();
  EXPECT_NE(jobs(), both);
  EXPECT_EQ(Text("rocksdb.num-files-at-level0"), "2");
  EXPECT_EQ(Int("rocksdb.background-errors"), 0u);
  EXPECT_FALSE(errors_.error().ok());
  for (int i = 0; i < 2; ++i) {
    db_.Put("a", "1");
    db_.Flush(db_.family());
  }
  EXPECT_EQ(jobs(), both);
}

TEST_F(ReportsTest, ALongNameIsNotCut) {
  ColumnFamily* const family = db_.Add(std::string(2000, 'n'));
  std::string stats;
  ASSERT_TRUE(reports_.GetProperty(family, "compassdb.stats", &stats));
  EXPECT_EQ(stats.substr(stats.find(']'), 6), "] **\nO");
}

// Scans make work due without a commit. Nothing else would notice that.
TEST_F(ReportsTest, AReportStartsWorkThatIsDue) {
  EXPECT_EQ(Int("rocksdb.compaction-pending"), 0u);
  EXPECT_EQ(work_.asked, 0);
  for (int i = 0; i < 4; ++i) {  // level0_file_num_compaction_trigger
    db_.Put("a", "1");
    db_.Flush(db_.family());
  }
  EXPECT_EQ(Int("rocksdb.compaction-pending"), 1u);
  EXPECT_GE(work_.asked, 1);
}

}  // namespace
}  // namespace compassdb
