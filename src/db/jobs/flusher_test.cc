// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/flusher.h"

#include <gtest/gtest.h>

#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

class FlusherTest : public ::testing::Test, protected JobsHarness {
 protected:
  Status Request(Flusher::Targets* targets) {
    const ExclusiveWrite at_front(&front.queue);
    return flusher_.SealAndRequest(db.families.All(), rocksdb::FlushReason::kTest, targets);
  }
  Status Flush() { return flusher_.Flush(db.families.All(), {}, rocksdb::FlushReason::kTest); }

  Flusher flusher_{environment, front, *this, jobs};
};

TEST_F(FlusherTest, FlushReturnsWhenTheDataIsInATable) {
  Open();
  db.Put("k", "v");
  EXPECT_TRUE(Flush().ok());
  EXPECT_EQ(TablesAt(0), 1u);
  EXPECT_TRUE(Flush().ok());  // of nothing
  EXPECT_EQ(TablesAt(0), 1u);
}

TEST_F(FlusherTest, AFailureOfTheJobIsThatOfTheCaller) {
  Open();
  db.Put("k", "v");
  db.fs.FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  EXPECT_TRUE(Flush().IsIOError());  // refused
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0], rocksdb::BackgroundErrorReason::kFlushNoWAL);
}

TEST_F(FlusherTest, WhatLogsHoldIsNotFlushedAtTheEnd) {
  Open();
  db.Put("k", "v");
  flusher_.FlushUnlogged();
  EXPECT_EQ(TablesAt(0), 0u);
  front.unlogged_data = true;
  flusher_.FlushUnlogged();
  EXPECT_EQ(TablesAt(0), 1u);
}

TEST_F(FlusherTest, WaitsForWhatWasRequested) {
  Open();
  db.Put("k", "v");
  jobs.Pause();
  Flusher::Targets targets;
  ASSERT_TRUE(Request(&targets).ok());
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_TRUE(flusher_.Wait(targets, /*for_listeners=*/false, /*while_paused=*/false).IsBusy());
  db.family()->MarkDropped();
  EXPECT_TRUE(flusher_.Wait(targets, /*for_listeners=*/false).ok());
  ASSERT_TRUE(Request(&targets).ok());
  EXPECT_TRUE(targets.empty());
}

}  // namespace
}  // namespace compassdb
