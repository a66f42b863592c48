// SPDX-License-Identifier: Apache-2.0
#include "services/trash_bin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "env/sim/fault_injection_file_system.h"
#include "rocksdb/statistics.h"
#include "services/sst_file_manager.h"
#include "util/start_thread.h"

namespace compassdb {
namespace {

class TrashTest : public ::testing::Test {
 protected:
  TrashTest() { EXPECT_TRUE(fs_->CreateDir("/d").ok()); }
  void Make(const std::string& path, size_t bytes) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(path, FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(bytes, 'x')).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  bool Exists(const std::string& path) { return fs_->FileExists(path).ok(); }
  uint64_t Size(const std::string& path) {
    uint64_t size = 0;
    EXPECT_TRUE(fs_->GetFileSize(path, &size).ok()) << path;
    return size;
  }
  template <typename Done>
  static void Await(const Done& done) {
    while (!done()) std::this_thread::yield();
  }
  const std::shared_ptr<FaultInjectionFileSystem> fs_ = std::make_shared<FaultInjectionFileSystem>();
};

TEST_F(TrashTest, Names) {
  EXPECT_TRUE(IsTrashName("000012.ph.trash"));
  EXPECT_FALSE(IsTrashName("000012.ph"));
  EXPECT_FALSE(IsTrashName(".trash"));
  EXPECT_FALSE(IsTrashName("mine.trash"));
  EXPECT_FALSE(IsTrashName("CURRENT.trash"));
}

// At a byte a second the first chunk is deleted, and then nothing for a long time.
TEST_F(TrashTest, FilesAreCutAndWaitForTheRate) {
  TrashBin bin(1000, [](const std::string&, const Status& s) { EXPECT_TRUE(s.ok()); });
  bin.SetRate(1);
  Make("/d/large", 5500);
  Make("/d/small", 300);
  bin.Add(fs_, "/d/large", 5500);
  bin.Add(fs_, "/d/large", 5500);  // waits already
  bin.Add(fs_, "/d/small", 300);
  Await([&] { return bin.bytes() == 4800; });
  EXPECT_EQ(Size("/d/large"), 4500u);
  EXPECT_TRUE(Exists("/d/small"));
  bin.SetRate(0);
  Await([&] { return bin.bytes() == 0; });
  EXPECT_FALSE(Exists("/d/large"));
  EXPECT_FALSE(Exists("/d/small"));
}

TEST_F(TrashTest, AFileWithTwoNamesIsNotCut) {
  TrashBin bin(1000, [](const std::string&, const Status& s) { EXPECT_TRUE(s.ok()); });
  Make("/d/a", 5500);
  ASSERT_TRUE(fs_->LinkFile("/d/a", "/d/b").ok());
  bin.Add(fs_, "/d/a", 5500);
  Await([&] { return bin.bytes() == 0; });
  EXPECT_FALSE(Exists("/d/a"));
  EXPECT_EQ(Size("/d/b"), 5500u);
}

// Without a thread the caller deletes it. With one the rate counts again.
TEST_F(TrashTest, WithoutAThreadFilesAreDeletedAtOnce) {
  int deleted = 0;
  TrashBin bin(1000, [&](const std::string&, const Status& s) { deleted += s.ok() ? 1 : 0; });
  bin.SetRate(1);
  Make("/d/a", 5500);
  LimitThreadsForTest(0);
  bin.Add(fs_, "/d/a", 5500);
  LimitThreadsForTest(-1);
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(bin.bytes(), 0u);
  EXPECT_FALSE(Exists("/d/a"));
  Make("/d/b", 5500);
  bin.Add(fs_, "/d/b", 5500);
  EXPECT_TRUE(Exists("/d/b"));
}

TEST_F(TrashTest, WhatCannotBeDeletedIsReported) {
  std::atomic<int> failed{0};
  TrashBin bin(0, [&](const std::string&, const Status& s) { failed += s.ok() ? 0 : 1; });
  Make("/d/a", 10);
  fs_->FailAll(FaultOp::kDelete, "", Status::IOError("no"));
  bin.Add(fs_, "/d/a", 10);
  bin.Add(fs_, "/d/gone", 10);
  Await([&] { return bin.bytes() == 0; });
  EXPECT_EQ(failed, 2);
  fs_->ClearFaults();
  bin.Add(fs_, "/d/none", 10);  // it is what was wanted
  Await([&] { return bin.bytes() == 0; });
  EXPECT_EQ(failed, 2);
}

TEST_F(TrashTest, TheManagerDecides) {
  const std::shared_ptr<rocksdb::Statistics> statistics = rocksdb::CreateDBStatistics();
  FileSpace space(nullptr, 0, 0.25, 0);
  space.SetStatisticsPtr(statistics);
  for (int i = 0; i < 10; ++i) {
    const std::string path = "/d/" + std::to_string(i);
    Make(path, 1000);
    space.Track(path, 1000);
  }
  ASSERT_TRUE(space.Delete(fs_, "/d/0").ok());  // no rate
  EXPECT_FALSE(Exists("/d/0"));
  EXPECT_EQ(space.GetTotalSize(), 9000u);
  space.SetDeleteRateBytesPerSecond(1);
  EXPECT_EQ(space.GetDeleteRateBytesPerSecond(), 1);
  // The first is deleted at once, as nothing was deleted before it; the others wait.
  ASSERT_TRUE(space.Delete(fs_, "/d/1").ok());
  Await([&] { return space.GetTotalTrashSize() == 0; });
  for (int i = 2; i <= 4; ++i) ASSERT_TRUE(space.Delete(fs_, "/d/" + std::to_string(i)).ok());
  EXPECT_EQ(space.GetTotalTrashSize(), 3000u);
  EXPECT_EQ(space.GetTotalSize(), 8000u);
  EXPECT_EQ(space.GetTrackedFiles().count("/d/2.trash"), 1u);
  EXPECT_EQ(space.GetTrackedFiles().count("/d/2"), 0u);
  EXPECT_TRUE(Exists("/d/2.trash"));
  // More than a quarter would wait.
  ASSERT_TRUE(space.Delete(fs_, "/d/5").ok());
  EXPECT_FALSE(Exists("/d/5"));
  EXPECT_FALSE(Exists("/d/5.trash"));
  space.SetMaxTrashDBRatio(1);
  ASSERT_TRUE(space.Delete(fs_, "/d/6").ok());
  EXPECT_TRUE(Exists("/d/6.trash"));
  EXPECT_EQ(statistics->getTickerCount(rocksdb::FILES_MARKED_TRASH), 5u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::FILES_DELETED_IMMEDIATELY), 2u);
  EXPECT_FALSE(space.Delete(fs_, "/d/none").ok());
  space.SetDeleteRateBytesPerSecond(0);
  Await([&] { return space.GetTotalTrashSize() == 0; });
  Await([&] { return space.GetTotalSize() == 3000; });
  EXPECT_FALSE(Exists("/d/6.trash"));
}

}  // namespace
}  // namespace compassdb
