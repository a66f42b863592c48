// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "db/testing/db_test_util.h"

namespace compassdb {
namespace {

class BackgroundTest : public DbTest {
 protected:
  std::string FilesAtLevel0() {
    std::string value;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &value));
    return value;
  }
};

// The sums of what scans lose grow without a commit, so work can come due
// between two looks at them. A caller that waits until `compaction-pending` is 0
// must not wait for a job that was never queued.
TEST_F(BackgroundTest, WorkThatScansMakeDueIsDoneWhereItIsSeen) {
  options_.level0_file_num_compaction_trigger = 50;
  options_.level0_slowdown_writes_trigger = 60;
  options_.level0_stop_writes_trigger = 70;
  OpenDb();
  for (int table = 0; table < 12; ++table) {
    for (int i = table; i < 120; i += 12) ASSERT_TRUE(Put(Key(i), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  const std::string all = Scan();
  bool due = false;
  for (int i = 0; i < 50000 && !due; ++i) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    it->Seek(Key(i % 120));
    ASSERT_TRUE(it->Valid());
    it.reset();
    due = IntProperty("rocksdb.compaction-pending") == 1 ||
          IntProperty("rocksdb.num-running-compactions") > 0 ||
          FilesAtLevel0() != "12";
  }
  ASSERT_TRUE(due);
  for (int i = 0; i < 2000 && FilesAtLevel0() == "12"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_NE(FilesAtLevel0(), "12");
  EXPECT_EQ(Scan(), all);
}

}  // namespace
}  // namespace compassdb
