// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/manual_compactions.h"

#include <gtest/gtest.h>

#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

class ManualCompactionsTest : public ::testing::Test, protected JobsHarness {
 protected:
  ManualCompactionsTest() { Open(); }
  std::shared_ptr<ColumnFamily> Family() { return db.families.ById(0); }
  Status CompactAll() { return manual_.CompactRange({}, Family(), nullptr, nullptr); }

  Flusher flusher_{environment, front, *this, jobs};
  ManualCompactions manual_{environment, jobs, flusher_};
};

TEST_F(ManualCompactionsTest, CompactRangeTakesWhatIsInMemory) {
  db.Put("a", "1");
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(TablesAt(0), 0u);
  EXPECT_EQ(TablesAt(1), 1u);
}

TEST_F(ManualCompactionsTest, NothingIsCompactedWhileDisabled) {
  db.Put("a", "1");
  db.Flush(db.family());
  manual_.Disable();
  manual_.Disable();
  manual_.Enable();
  EXPECT_EQ(CompactAll().subcode(), Status::SubCode::kManualCompactionPaused);
  EXPECT_EQ(TablesAt(0), 1u);
  manual_.Enable();
  EXPECT_TRUE(CompactAll().ok());
  EXPECT_EQ(TablesAt(0), 0u);
}

TEST_F(ManualCompactionsTest, AnEnableThatCameFirstIsUndoneByDisable) {
  manual_.Enable();
  manual_.Disable();
  EXPECT_TRUE(CompactAll().ok());
}

TEST_F(ManualCompactionsTest, ARangeWithoutTablesIsNotCompacted) {
  for (const char* key : {"a", "c"}) {
    db.Put(key, "1");
    db.Flush(db.family());
  }
  const Slice begin = "b", between = "bb", end = "d";
  ASSERT_TRUE(manual_.CompactRange({}, Family(), &begin, &between).ok());
  EXPECT_EQ(TablesAt(0), 2u);
  ASSERT_TRUE(manual_.CompactRange({}, Family(), &begin, &end).ok());
  EXPECT_EQ(TablesAt(0), 0u);  // all of it, as its tables may overlap
}

TEST_F(ManualCompactionsTest, PromotedTablesAreMoved) {
  db.Put("a", "1");
  db.Flush(db.family());
  EXPECT_TRUE(manual_.PromoteLevel0(Family(), 0).IsInvalidArgument());
  ASSERT_TRUE(manual_.PromoteLevel0(Family(), 2).ok());
  EXPECT_EQ(TablesAt(0), 0u);
  EXPECT_EQ(TablesAt(2), 1u);
}

TEST_F(ManualCompactionsTest, DroppedTablesAreGone) {
  db.Put("a", "1");
  db.Flush(db.family());
  ASSERT_TRUE(manual_.PromoteLevel0(Family(), 2).ok());
  const Slice end = "z";
  const rocksdb::RangePtr range(nullptr, &end);
  ASSERT_TRUE(manual_.DropTables(Family(), &range, 1, /*include_end=*/true).ok());
  EXPECT_EQ(TablesAt(2), 0u);
}

TEST_F(ManualCompactionsTest, NothingBeginsAfterAnError) {
  db.Put("a", "1");
  db.Flush(db.family());
  SetBackgroundError(Status::IOError(), rocksdb::BackgroundErrorReason::kCompaction);
  EXPECT_TRUE(CompactAll().IsIOError());
  EXPECT_TRUE(manual_.PromoteLevel0(Family(), 1).IsIOError());
  EXPECT_TRUE(manual_.DropTables(Family(), nullptr, 0, /*include_end=*/true).IsIOError());
}

}  // namespace
}  // namespace compassdb
