// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/background_jobs.h"

#include <gtest/gtest.h>

#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

class BackgroundJobsTest : public ::testing::Test, protected JobsHarness {
 protected:
  void Look() {
    {
      MutexLock lock(&db.mu);
      jobs.MaybeSchedule();
    }
    scheduler.WaitForIdle();
  }
  size_t Sealed() {
    MutexLock lock(&db.mu);
    return db.family()->memtables().immutable_count();
  }
  // As many tables in level 0 as a compaction takes.
  void AddTables() {
    for (int i = 0; i < 4; ++i) {
      db.Put("k", "v");
      db.Flush(db.family());
    }
    ASSERT_EQ(TablesAt(0), 4u);
  }
};

TEST_F(BackgroundJobsTest, NothingRunsBeforeTheDatabaseIsOpen) {
  db.Put("k", "v");
  Seal();
  Look();
  EXPECT_EQ(Sealed(), 1u);
  Open();
  scheduler.WaitForIdle();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_TRUE(commits.committed());
}

TEST_F(BackgroundJobsTest, NothingRunsWhilePaused) {
  Open();
  jobs.Pause();
  jobs.Pause();
  db.Put("k", "v");
  Seal();
  EXPECT_TRUE(jobs.Continue().ok());
  Look();
  EXPECT_EQ(Sealed(), 1u);
  rocksdb::WaitForCompactOptions wait;
  wait.abort_on_pause = true;
  EXPECT_TRUE(jobs.WaitUntilIdle(wait).IsAborted());
  EXPECT_TRUE(jobs.Continue().ok());
  EXPECT_TRUE(jobs.WaitUntilIdle(wait).ok());
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_TRUE(jobs.Continue().IsInvalidArgument());
}

TEST_F(BackgroundJobsTest, CloseEndsPauses) {
  Open();
  jobs.Pause();
  db.Put("k", "v");
  Seal();
  jobs.BeginClose();
  scheduler.WaitForIdle();
  EXPECT_EQ(Sealed(), 0u);
}

TEST_F(BackgroundJobsTest, NothingBeginsAfterClose) {
  Open();
  jobs.Close();
  db.Put("k", "v");
  Seal();
  Look();
  EXPECT_EQ(Sealed(), 1u);
}

TEST_F(BackgroundJobsTest, AnExclusiveManualCompactionKeepsOthersAway) {
  Open();
  jobs.BeginManual(/*exclusive=*/true);
  AddTables();
  Look();
  EXPECT_EQ(TablesAt(0), 4u);
  jobs.EndManual(/*exclusive=*/true);
  scheduler.WaitForIdle();
  EXPECT_EQ(TablesAt(0), 0u);
}

TEST_F(BackgroundJobsTest, ErrorsStopCompactionsAndThenFlushes) {
  Open();
  SetBackgroundError(Status::NoSpace(), rocksdb::BackgroundErrorReason::kCompaction);
  AddTables();
  db.Put("k", "w");
  Seal();
  Look();
  EXPECT_EQ(Sealed(), 0u);  // which clears the error, as it is soft
  SetBackgroundError(Status::IOError(), rocksdb::BackgroundErrorReason::kCompaction);
  db.Put("k", "x");
  Seal();
  Look();
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_TRUE(jobs.WaitUntilIdle({}).IsIOError());
}

TEST_F(BackgroundJobsTest, FamiliesAreFlushedTogetherAfterALogWasGivenUp) {
  ColumnFamily* const other = db.Add("other");
  Open();
  {
    MutexLock lock(&db.mu);
    jobs.FlushTogether(true);
  }
  db.Put("k", "v");
  db.Write(other, kTypeValue, "k", "v");
  Seal();  // requests the flush of the first family alone
  Look();
  MutexLock lock(&db.mu);
  EXPECT_EQ(other->memtables().immutable_count(), 0u);
}

// A listener clears every error, so jobs that fail continue. The next attempt is never due by time.
class FailedJobsTest : public BackgroundJobsTest {
 protected:
  FailedJobsTest() {
    config.options.bgerror_resume_retry_interval = uint64_t{1} << 40;
    config.options.max_background_jobs = 8;
    scheduler.EnsureThreads(JobPriority::kHigh, config.max_flushes());
    scheduler.EnsureThreads(JobPriority::kLow, config.max_compactions());
  }

  // By the job, before it waits. With the mutex, under which others would take its work.
  void SetBackgroundError(const Status&, rocksdb::BackgroundErrorReason) override {
    MutexLock lock(&db.mu);
    jobs.MaybeSchedule();
    EXPECT_EQ(scheduler.Pending(), 1u);  // this one
    ++failed_;
    changed.SignalAll();
  }
  void FailNextTable() { db.fs.FailNth(FaultOp::kSync, 1, ".ph", Status::IOError("injected")); }
  void AwaitFailure() {
    MutexLock lock(&db.mu);
    while (failed_ == 0) changed.Wait();
  }
  void FailFlush() {
    FailNextTable();
    db.Put("k", "v");
    Seal();
    Open();
    AwaitFailure();
  }

  int failed_ = 0;
};

TEST_F(FailedJobsTest, NoOtherThreadRepeatsAFlushUntilItIsDue) {
  FailFlush();
  EXPECT_EQ(Sealed(), 1u);
  jobs.BeginClose();  // does not wait for that time
  scheduler.WaitForIdle();
  EXPECT_EQ(Sealed(), 0u);
}

TEST_F(FailedJobsTest, NoOtherThreadRepeatsACompactionUntilItIsDue) {
  AddTables();
  FailNextTable();
  Open();
  AwaitFailure();
  EXPECT_EQ(TablesAt(0), 4u);
  jobs.BeginClose();
  scheduler.WaitForIdle();
  EXPECT_EQ(TablesAt(0), 0u);
}

TEST_F(FailedJobsTest, ADroppedFamilyIsReleased) {
  FailFlush();
  {
    MutexLock lock(&db.mu);
    db.family()->MarkDropped();
    jobs.Remove(db.families.ById(0));
  }
  scheduler.WaitForIdle();
  EXPECT_EQ(failed_, 1);
}

}  // namespace
}  // namespace compassdb
