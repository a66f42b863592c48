// SPDX-License-Identifier: Apache-2.0
#include "db/read/snapshot_list.h"

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

class SnapshotListTest : public ::testing::Test {
 protected:
  std::atomic<SequenceNumber> last_{10};
  Mutex mu_;
  CountedWork work_;
  SnapshotList list_{&last_, &mu_, &work_};
};

TEST_F(SnapshotListTest, ListsSnapshotsAndHeldSequences) {
  const rocksdb::Snapshot* first = list_.New(1);
  last_ = 20;
  const HeldSequence last = list_.Hold(nullptr);
  const HeldSequence same = list_.Hold(first);
  EXPECT_EQ(last.sequence, 20u);
  EXPECT_EQ(same.sequence, 10u);
  EXPECT_EQ(list_.Sequences(), (std::vector<SequenceNumber>{10, 20}));
  EXPECT_EQ(list_.count(), 1u);
  list_.Release(first);
  EXPECT_EQ(list_.Oldest(), 10u);  // still held
}

TEST_F(SnapshotListTest, LooksForWorkOnceWhenTheOldestIsWhereItIsAwaited) {
  const rocksdb::Snapshot* first = list_.New(1);
  last_ = 20;
  HeldSequence held = list_.Hold(nullptr);
  last_ = 30;
  const rocksdb::Snapshot* last = list_.New(2);
  ASSERT_TRUE(list_.AwaitOldest(30));
  list_.Release(first);
  EXPECT_EQ(work_.asked, 0);
  held.hold.reset();
  EXPECT_EQ(work_.asked, 1);
  list_.Release(last);
  EXPECT_EQ(work_.asked, 1);
}

TEST_F(SnapshotListTest, LooksForWorkAfterEachWhileValuesArePinned) {
  const rocksdb::Snapshot* snapshot = list_.New(1);
  *list_.pinned_value_runs() = 1;
  list_.Release(snapshot);
  EXPECT_EQ(work_.asked, 1);
}

TEST_F(SnapshotListTest, GivesNoneWhereVersionsAreNotKept) {
  list_.GiveNone();
  EXPECT_EQ(list_.New(1), nullptr);
}

}  // namespace
}  // namespace compassdb
