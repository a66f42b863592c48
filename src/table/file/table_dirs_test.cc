// SPDX-License-Identifier: Apache-2.0
#include "table/file/table_dirs.h"

#include <gtest/gtest.h>

#include "env/sim/fault_injection_file_system.h"

namespace compassdb {
namespace {

class TableDirsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* dir : {"/a", "/b", "/c"}) ASSERT_TRUE(fs_.CreateDir(dir).ok());
  }
  void Create(const std::string& path) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(path, FileOptions(), &file).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  FaultInjectionFileSystem fs_;
};

TEST_F(TableDirsTest, FilesAreFoundWhereTheyAre) {
  TableDirs dirs(&fs_, "/a");
  dirs.Add("/b");
  dirs.Add("/b");
  EXPECT_EQ(dirs.All(), (std::vector<std::string>{"/a", "/b"}));
  Create("/a/000001.ph");
  Create("/b/000002.ph");
  Create("/c/000003.ph");
  EXPECT_EQ(dirs.PathOf(1), "/a/000001.ph");
  EXPECT_EQ(dirs.PathOf(2), "/b/000002.ph");
  EXPECT_EQ(dirs.PathOf(3), "/a/000003.ph");  // nowhere
  dirs.Add("/c");
  EXPECT_EQ(dirs.PathOf(3), "/c/000003.ph");
}

// An error is no answer: where the file cannot be looked for, it may be.
TEST_F(TableDirsTest, AFileMayBeWhereItCouldNotBeLookedFor) {
  TableDirs dirs(&fs_, "/a");
  dirs.Add("/b");
  Create("/b/000001.ph");
  fs_.FailNth(FaultOp::kStat, 1, "/b/", Status::IOError("injected"));
  EXPECT_EQ(dirs.PathOf(1), "/b/000001.ph");
  fs_.FailNth(FaultOp::kStat, 1, "/a/", Status::IOError("injected"));
  EXPECT_EQ(dirs.PathOf(1), "/a/000001.ph");
  EXPECT_EQ(dirs.PathOf(1), "/b/000001.ph");
  const Status missing = Status::PathNotFound("/a/000002.ph");
  fs_.FailAll(FaultOp::kStat, "/b/", Status::IOError("injected"));
  Status s = dirs.Explain(missing, 2);
  EXPECT_TRUE(s.IsIOError() && !s.IsPathNotFound()) << s.ToString();
  fs_.ClearFaults();
  EXPECT_TRUE(dirs.Explain(missing, 2).IsPathNotFound());
  Create("/b/000002.ph");
  s = dirs.Explain(missing, 2);
  EXPECT_TRUE(s.IsIOError() && !s.IsPathNotFound()) << s.ToString();
}

TEST_F(TableDirsTest, OneDirectoryIsNotLookedInto) {
  TableDirs dirs(&fs_, "/a");
  int looks = 0;
  fs_.SetHook([&](FaultOp op, const std::string&) { looks += op == FaultOp::kStat; });
  EXPECT_EQ(dirs.DirOf(1), "/a");
  dirs.Add("/b");
  Create("/b/000001.ph");
  EXPECT_EQ(dirs.DirOf(1), "/b");
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(dirs.DirOf(1), "/b");  // known by now
  EXPECT_EQ(looks, 2);
}

TEST_F(TableDirsTest, AFileAboutToBeMadeIsKnown) {
  TableDirs dirs(&fs_, "/a");
  dirs.Add("/b");
  dirs.Put(7, "/b");
  EXPECT_EQ(dirs.PathOf(7), "/b/000007.ph");
  dirs.Forget(7);
  EXPECT_EQ(dirs.PathOf(7), "/a/000007.ph");
}

TEST_F(TableDirsTest, ErrorsSayWhereAFileIsNot) {
  TableDirs dirs(&fs_, "/a");
  const Status missing = Status::PathNotFound("/a/000007.ph");
  EXPECT_EQ(dirs.Explain(missing, 7).ToString(), missing.ToString());
  dirs.Add("/b");
  const Status s = dirs.Explain(missing, 7);
  EXPECT_TRUE(s.IsPathNotFound());
  EXPECT_NE(s.ToString().find("000007.ph is in none of /a, /b"), std::string::npos) << s.ToString();
  EXPECT_EQ(dirs.Explain(Status::Corruption("x"), 7).ToString(), "Corruption: x");
}

}  // namespace
}  // namespace compassdb
