// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_histories.h"

#include <gtest/gtest.h>

#include <string>

#include "api/comparator_u64ts.h"
#include "db/testing/family_test_util.h"
#include "db/testing/timed_test_util.h"

namespace compassdb {
namespace {

class FamilyHistoriesTest : public ::testing::Test {
 protected:
  FamilyHistoriesTest() {
    rocksdb::ColumnFamilyOptions options;
    options.comparator = BytewiseComparatorWithU64Ts();
    family_ = db_.families.ById(db_.Add("timed", options)->id());
    MutexLock lock(&db_.mu);
    EXPECT_TRUE(commits_.Rotate().ok());
  }
  ~FamilyHistoriesTest() override {
    MutexLock lock(&db_.mu);
    EXPECT_TRUE(commits_.Close().ok());
  }
  std::string Low() {
    std::string low;
    EXPECT_TRUE(FamilyHistories::Low(*family_, &low).ok());
    return low;
  }

  struct NoListener final : ReleaseListener {
    void StatesReleased() override {}
  } nothing_;
  FamilyHarness db_;
  std::shared_ptr<ColumnFamily> family_;
  DbConfig config_;
  const EmptyManifest manifest_;
  CommitQueue commits_{&db_.fs, "/db", 1 << 20, &db_.mu, manifest_};
  FamilyHistories histories_{config_, &db_.mu, commits_, nothing_};
};

TEST_F(FamilyHistoriesTest, IsRaisedByACommitAndNeverLowered) {
  EXPECT_EQ(Low(), "");
  ASSERT_TRUE(histories_.Raise(family_, Time(5)).ok());
  EXPECT_TRUE(commits_.committed());
  EXPECT_TRUE(histories_.Raise(family_, Time(4)).IsInvalidArgument());
  EXPECT_EQ(Low(), Time(5));
}

TEST_F(FamilyHistoriesTest, StaysIfTheManifestFails) {
  db_.fs.FailNth(FaultOp::kSync, 1, "MANIFEST", Status::IOError("injected"));
  EXPECT_TRUE(histories_.Raise(family_, Time(5)).IsIOError());
  EXPECT_EQ(Low(), "");
}

TEST_F(FamilyHistoriesTest, NeedsTimestampsAndADatabaseThatIsWritten) {
  EXPECT_TRUE(histories_.Raise(db_.families.ById(0), Time(5)).IsInvalidArgument());
  EXPECT_TRUE(histories_.Raise(family_, "5").IsInvalidArgument());
  std::string low;
  EXPECT_TRUE(FamilyHistories::Low(*db_.family(), &low).IsInvalidArgument());
  config_.access = Access::kReadOnly;
  EXPECT_TRUE(histories_.Raise(family_, Time(5)).IsNotSupported());
}

}  // namespace
}  // namespace compassdb
