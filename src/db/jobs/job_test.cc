// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/job.h"

#include <gtest/gtest.h>

#include <string>

#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

class JobTest : public ::testing::Test, protected JobsHarness, protected FlushQueue {
 protected:
  void SetBackgroundError(const Status&, rocksdb::BackgroundErrorReason reason) override {
    steps_ += "error" + std::to_string(static_cast<int>(reason)) + " ";
  }
  void StartQueued() override { steps_ += "next "; }

  Status Flush() {
    MemTableFlush flush(environment, deps, *this);
    {
      MutexLock lock(&db.mu);
      flush.AddFamily(db.families.ById(0), /*all=*/true, /*threads=*/1);
    }
    Status s = flush.Run();
    EXPECT_EQ(flush.failed(), !s.ok() && !s.IsColumnFamilyDropped());
    MutexLock lock(&db.mu);
    flush.End();
    return s;
  }

  std::string steps_;
  const MemTables& memtables_ = db.family()->memtables();
};

TEST_F(JobTest, AFlushIsCommittedBeforeItIsReported) {
  db.Put("k", "v");
  Seal();
  const Status s = Flush();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(steps_, "next ");
  EXPECT_TRUE(commits.committed());
  EXPECT_EQ(db.family()->counters.flushes, 1u);
  MutexLock lock(&db.mu);
  EXPECT_EQ(memtables_.immutable_count(), 0u);
  EXPECT_EQ(memtables_.flushed_count(), 1u);
  EXPECT_EQ(memtables_.announced_count(), 1u);
}

TEST_F(JobTest, AJobThatFailsLeavesTheMemTables) {
  db.Put("k", "v");
  Seal();
  db.fs.FailNth(FaultOp::kSync, 1, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  EXPECT_EQ(steps_, "error5 ");  // kFlushNoWAL
  EXPECT_FALSE(commits.committed());
  {
    MutexLock lock(&db.mu);
    EXPECT_EQ(memtables_.immutable_count(), 1u);
    EXPECT_TRUE(memtables_.flush_requested());
    EXPECT_EQ(memtables_.announced_count(), 0u);
  }
  steps_.clear();
  EXPECT_TRUE(Flush().ok());
  EXPECT_EQ(steps_, "next ");
}

TEST_F(JobTest, AManifestThatFailsIsTheReason) {
  db.Put("k", "v");
  Seal();
  db.fs.FailNth(FaultOp::kSync, 1, "MANIFEST", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  EXPECT_EQ(steps_, "error6 ");  // kManifestWriteNoWAL
  MutexLock lock(&db.mu);
  EXPECT_EQ(memtables_.immutable_count(), 1u);
}

TEST_F(JobTest, AFlushBeyondTheAllowedSpaceIsAnErrorAndIsCommitted) {
  config.options.sst_file_manager->SetMaxAllowedSpaceUsage(1);
  db.Put("k", "v");
  Seal();
  EXPECT_TRUE(Flush().ok());
  EXPECT_EQ(steps_, "error0 next ");  // kFlush
  MutexLock lock(&db.mu);
  EXPECT_EQ(memtables_.immutable_count(), 0u);
}

TEST_F(JobTest, AFamilyThatWasDroppedIsNoError) {
  db.Put("k", "v");
  Seal();
  db.family()->MarkDropped();
  EXPECT_TRUE(Flush().IsColumnFamilyDropped());
  EXPECT_EQ(steps_, "");
}

}  // namespace
}  // namespace compassdb
