// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
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

// The kernel's threads of io_uring apart.
std::map<std::string, std::string> NamesOfThreads() {
  std::map<std::string, std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name) && !name.starts_with("iou-")) names[task.path().filename()] = name;
  }
  return names;
}

TEST_F(BackgroundTest, EveryThreadHasAName) {
  const std::map<std::string, std::string> before = NamesOfThreads();
  options_.level0_file_num_compaction_trigger = 2;
  OpenDb();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Put(Key(i), "v").ok());
    Flush();
  }
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  // A thread that was started for a job that another one did may not have run yet.
  std::set<std::string> names, others;
  for (int i = 0; i < 1000 && (i == 0 || !others.empty()); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    others.clear();
    for (const auto& [task, name] : NamesOfThreads()) {
      names.insert(name);
      if (before.count(task) == 0 && !name.starts_with("compassdb:")) others.insert(name);
    }
  }
  EXPECT_EQ(others, std::set<std::string>());
  for (const char* name : {"compassdb:high0", "compassdb:low0", "compassdb:timer"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

}  // namespace
}  // namespace compassdb
