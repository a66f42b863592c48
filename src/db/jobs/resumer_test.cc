// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/resumer.h"

#include <gtest/gtest.h>

#include "batch/write_batch_internal.h"
#include "db/jobs/error_reporter.h"
#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

using Reason = rocksdb::BackgroundErrorReason;

class ResumerTest : public ::testing::Test, protected JobsHarness {
 protected:
  ResumerTest() {
    Open();
    db.Put("k", "v");
  }
  // Its thread calls virtual functions of this fixture.
  void TearDown() override { auto_resume_.Stop(); }

  Flusher flusher_{environment, front, *this, jobs};
  Resumer resumer_{environment, front, jobs, flusher_};
  AutoResume auto_resume_{config, listeners, errors, *db.files.dirs(), space, resumer_};
};

TEST_F(ResumerTest, MemTablesAreFlushedBeforeWritesAreLetIn) {
  SetBackgroundError(Status::IOError(), Reason::kWriteCallback);
  ASSERT_TRUE(resumer_.Resume().ok());
  EXPECT_TRUE(errors.error().ok());
  EXPECT_EQ(TablesAt(0), 1u);
}

TEST_F(ResumerTest, ASoftErrorNeedsNoFlush) {
  SetBackgroundError(Status::NoSpace(), Reason::kCompaction);
  ASSERT_TRUE(resumer_.Resume().ok());
  EXPECT_TRUE(errors.error().ok());
  EXPECT_EQ(TablesAt(0), 0u);
}

TEST_F(ResumerTest, AFatalErrorStays) {
  SetBackgroundError(Status::IOError(), Reason::kMemTable);
  EXPECT_TRUE(resumer_.Resume().IsIOError());
  EXPECT_TRUE(errors.writes_refused());
  EXPECT_EQ(reasons.size(), 1u);
}

TEST_F(ResumerTest, WritesAreRefusedWhileTheCauseIsThere) {
  SetBackgroundError(Status::IOError(), Reason::kFlush);
  db.fs.FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(resumer_.Resume().IsIOError());
  EXPECT_TRUE(errors.writes_refused());
  db.fs.ClearFaults();
  EXPECT_TRUE(resumer_.Resume().ok());
  EXPECT_FALSE(errors.writes_refused());
}

TEST_F(ResumerTest, OnlyTheUserResumesWhatIsPaused) {
  SetBackgroundError(Status::IOError(), Reason::kFlush);
  jobs.Pause();
  EXPECT_TRUE(resumer_.ResumeUnasked().IsBusy());
  EXPECT_TRUE(errors.writes_refused());
  ASSERT_TRUE(jobs.Continue().ok());
  EXPECT_TRUE(resumer_.ResumeUnasked().ok());
}

TEST_F(ResumerTest, AFullDiskIsTriedAgain) {
  SetBackgroundError(Status::NoSpace(), Reason::kFlush);
  auto_resume_.Begin(errors.error(), Reason::kFlush);
  MutexLock lock(&db.mu);
  while (!errors.error().ok()) changed.WaitFor(std::chrono::milliseconds(1));
}

TEST_F(ResumerTest, ABackgroundErrorIsAnErrorInTheLog) {
  const auto log = std::make_shared<Warnings>();
  DbConfig logged = config;
  logged.info_log = log;
  ErrorReporter reporter(logged, listeners, front.logs, errors, auto_resume_, &db.mu, &changed);
  reporter.SetBackgroundError(Status::Corruption("c"), Reason::kCompaction);
  ASSERT_EQ(log->lines.size(), 1u);
  EXPECT_EQ(log->lines[0], "[ERROR] background error: Corruption: c");
}

class ForgivingListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(Reason, Status* error) override { *error = Status::OK(); }
};

TEST_F(ResumerTest, AListenerTakesAnErrorAwayUnlessALogFailed) {
  const Listeners forgiving({std::make_shared<ForgivingListener>()});
  ErrorReporter reporter(config, forgiving, front.logs, errors, auto_resume_, &db.mu, &changed);
  reporter.SetBackgroundError(Status::IOError(), Reason::kFlush);
  EXPECT_TRUE(errors.error().ok());
  db.fs.FailAll(FaultOp::kSync, ".log", Status::IOError("injected"));
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  ASSERT_TRUE(front.logs.Append(WriteBatchInternal::Contents(&batch), /*sync=*/true).IsIOError());
  reporter.SetBackgroundError(Status::IOError(), Reason::kFlush);
  EXPECT_TRUE(errors.error().IsIOError());
  db.fs.ClearFaults();
  ASSERT_TRUE(front.logs.Start(/*give_up_failed=*/true).ok());
  front.logs.NoneGivenUpIsNeeded();
}

}  // namespace
}  // namespace compassdb
