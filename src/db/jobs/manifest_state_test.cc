// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/manifest_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

class ManifestStateTest : public ::testing::Test {
 protected:
  ManifestStateTest() {
    EXPECT_TRUE(front_.logs.StartFirst(WalHeader(), "id").ok());
    state_.SetIdentity("id", 77);
  }
  ~ManifestStateTest() override { front_.logs.Close().PermitUncheckedError(); }

  uint64_t OldestLog(std::vector<VersionEdit> edits = std::vector<VersionEdit>(1)) {
    MutexLock lock(&db_.mu);
    state_.Stamp(&edits);
    return *edits.front().min_log_number;
  }
  void MoveToLog(ColumnFamily* family, uint64_t log) {
    MutexLock lock(&db_.mu);
    family->memtables().MoveToLog(log);
  }

  FamilyHarness db_;
  const DbConfig config_ = [this] {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.fs = &db_.fs;
    return config;
  }();
  uint64_t number_ = 10;
  WriteFront front_{config_, [this] { return ++number_; }};
  ManifestState state_{&db_.mu, db_.families, db_.ledger, front_};
};

TEST_F(ManifestStateTest, ASnapshotHasTheIdentityAndEveryFamilyWithItsTables) {
  db_.Add("other");
  db_.Put("k", "v");
  db_.Flush(db_.family());
  MutexLock lock(&db_.mu);
  state_.set_max_family_id(6);
  EXPECT_EQ(state_.NewFamilyId(), 7u);
  const std::vector<VersionEdit> edits = state_.Snapshot();
  ASSERT_EQ(edits.size(), 5u);  // the database, then a family and its tables, twice
  EXPECT_EQ(edits[0].db_id, "id");
  EXPECT_EQ(edits[0].hash_seed, 77u);
  EXPECT_EQ(edits[0].max_column_family, 7u);
  EXPECT_EQ(edits[1].add_column_family, "default");
  EXPECT_EQ(edits[2].added.size(), 1u);
  EXPECT_EQ(edits[3].add_column_family, "other");
  EXPECT_EQ(edits[4].column_family, 1u);
  EXPECT_TRUE(edits[4].added.empty());
}

TEST_F(ManifestStateTest, TheOldestLogIsOfTheFamilyThatNeedsIt) {
  ColumnFamily* const other = db_.Add("other");
  const uint64_t log = front_.logs.current_number();
  MoveToLog(db_.family(), log);
  MoveToLog(other, log - 3);
  EXPECT_EQ(OldestLog(), log - 3);
  // As the edits themselves leave it.
  std::vector<VersionEdit> flushed(1);
  flushed.front().column_family = other->id();
  flushed.front().log_number = log - 1;
  EXPECT_EQ(OldestLog(flushed), log - 1);
  std::vector<VersionEdit> dropped(1);
  dropped.front().column_family = other->id();
  dropped.front().drop_column_family = true;
  EXPECT_EQ(OldestLog(dropped), log);
}

TEST_F(ManifestStateTest, AnOpenSectionKeepsItsLog) {
  const uint64_t log = front_.logs.current_number();
  MoveToLog(db_.family(), log);
  front_.open_sections.Announce("xid");
  EXPECT_EQ(OldestLog(), log);
  front_.open_sections.Logged(std::make_shared<PreparedSection>("xid"), log - 2);
  EXPECT_EQ(OldestLog(), log - 2);
  front_.open_sections.Ended("xid");
  EXPECT_EQ(OldestLog(), log);
}

TEST_F(ManifestStateTest, ARecordNamesTheTablesOfItsFamilyAlone) {
  EmptyManifest nothing;
  CommitQueue numbers(&db_.fs, "/db", UINT64_MAX, &db_.mu, nothing);
  db_.Put("k", "v");
  db_.Flush(db_.family());
  ColumnFamily* const other = db_.Add("other");
  JobRecord record;
  record.job.column_family = db_.family()->id();
  EXPECT_TRUE(state_.DescribeJob(&numbers, &record));
  EXPECT_EQ(record.state.size(), 3u);
  EXPECT_EQ(record.live.size(), 1u);
  JobRecord later;
  later.job.column_family = other->id();
  EXPECT_TRUE(state_.DescribeJob(&numbers, &later));
  EXPECT_TRUE(later.live.empty());
  EXPECT_GT(later.order, record.order);
  JobRecord dropped;
  dropped.job.column_family = 99;
  EXPECT_FALSE(state_.DescribeJob(&numbers, &dropped));
}

}  // namespace
}  // namespace compassdb
