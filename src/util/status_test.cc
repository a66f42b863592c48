// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/status.h"

#include <gtest/gtest.h>

#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace {

TEST(StatusTest, EveryCodeHasItsWording) {
  EXPECT_EQ("OK", Status::OK().ToString());
  EXPECT_EQ("NotFound: ", Status::NotFound().ToString());
  EXPECT_EQ("Corruption: m", Status::Corruption("m").ToString());
  EXPECT_EQ("Not implemented: a: b", Status::NotSupported("a", "b").ToString());
  EXPECT_EQ("Invalid argument: m", Status::InvalidArgument("m").ToString());
  EXPECT_EQ("IO error: m", Status::IOError("m").ToString());
  EXPECT_EQ("Merge in progress: m", Status::MergeInProgress("m").ToString());
  EXPECT_EQ("Result incomplete: m", Status::Incomplete("m").ToString());
  EXPECT_EQ("Shutdown in progress: m", Status::ShutdownInProgress("m").ToString());
  EXPECT_EQ("Operation timed out: m", Status::TimedOut("m").ToString());
  EXPECT_EQ("Operation aborted: m", Status::Aborted("m").ToString());
  EXPECT_EQ("Resource busy: m", Status::Busy("m").ToString());
  EXPECT_EQ("Operation expired: m", Status::Expired("m").ToString());
  EXPECT_EQ("Operation failed. Try again.: m", Status::TryAgain("m").ToString());
  EXPECT_EQ("Compaction too large: m", Status::CompactionTooLarge("m").ToString());
  EXPECT_EQ("Column family dropped: m", Status::ColumnFamilyDropped("m").ToString());
}

TEST(StatusTest, SubcodesStandBeforeTheMessage) {
  EXPECT_EQ("IO error: No space left on device", Status::NoSpace().ToString());
  EXPECT_EQ("IO error: No space left on device: a: b", Status::NoSpace("a", "b").ToString());
  EXPECT_EQ("Operation timed out: Timeout waiting to lock key",
            Status::TimedOut(Status::kLockTimeout).ToString());
  EXPECT_EQ("Invalid argument: Txn not prepared: x", Status::TxnNotPrepared("x").ToString());
  EXPECT_EQ("IO error: IO fenced off: x", IOStatus::IOFenced("x").ToString());
  EXPECT_EQ("Resource busy: Deadlock", Status::Busy(Status::kDeadlock).ToString());
}

TEST(StatusTest, PredicatesLookAtCodeAndSubcode) {
  EXPECT_TRUE(Status::NoSpace().IsIOError());
  EXPECT_TRUE(Status::NoSpace().IsNoSpace());
  EXPECT_FALSE(Status::IOError().IsNoSpace());
  EXPECT_TRUE(Status::Busy(Status::kDeadlock).IsDeadlock());
  EXPECT_TRUE(Status::Incomplete(Status::kManualCompactionPaused).IsManualCompactionPaused());
  EXPECT_TRUE(Status::NotFound(Status::kPathNotFound).IsPathNotFound());
  EXPECT_TRUE(Status::PathNotFound("p").IsPathNotFound());
  EXPECT_TRUE(Status::OkOverwritten().ok());
  EXPECT_TRUE(Status::OkOverwritten().IsOkOverwritten());
  EXPECT_FALSE(Status::OK().IsOkOverwritten());
}

TEST(StatusTest, CopiesAreDeepAndMovesLeaveOk) {
  Status a = Status::Corruption("file 7");
  Status b = a;
  EXPECT_NE(a.getState(), b.getState());
  EXPECT_STREQ("file 7", b.getState());
  Status c = std::move(a);
  EXPECT_TRUE(a.ok());  // NOLINT: that is the question
  EXPECT_EQ(nullptr, a.getState());
  EXPECT_EQ("Corruption: file 7", c.ToString());
  Status& self = c;
  c = self;
  EXPECT_EQ("Corruption: file 7", c.ToString());
  EXPECT_TRUE(b == Status::Corruption("another message"));
  EXPECT_TRUE(b != Status::OK());
}

TEST(StatusTest, SeverityIsKept) {
  const Status s(Status::IOError("disk"), Status::kHardError);
  EXPECT_EQ(Status::kHardError, s.severity());
  EXPECT_EQ("IO error: disk", s.ToString());
  EXPECT_EQ(Status::kHardError, Status(s).severity());
}

TEST(IOStatusTest, AttributesSurviveTheWayThroughStatus) {
  IOStatus io = IOStatus::IOError("read", "file");
  io.SetRetryable(true);
  io.SetScope(IOStatus::kIOErrorScopeFile);
  Status s = io;
  const IOStatus back = status_to_io_status(std::move(s));
  EXPECT_TRUE(back.GetRetryable());
  EXPECT_FALSE(back.GetDataLoss());
  EXPECT_EQ(IOStatus::kIOErrorScopeFile, back.GetScope());
  EXPECT_EQ("IO error: read: file", back.ToString());
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
