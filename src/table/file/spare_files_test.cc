// SPDX-License-Identifier: Apache-2.0
#include "table/file/spare_files.h"

#include <gtest/gtest.h>

#include <set>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

class SpareFilesTest : public ::testing::Test {
 protected:
  SpareFilesTest() {
    EXPECT_TRUE(fs_.CreateDir("/db").ok());
    EXPECT_TRUE(fs_.CreateDir("/other").ok());
    EXPECT_TRUE(fs_.SyncDir("/").ok());
    fs_.ResetCounts();
  }
  uint64_t Take(const std::string& dir = "/db") {
    uint64_t number = 0;
    const Status s = files_.Take(dir, &number);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return number;
  }
  size_t FilesIn(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_.GetChildren(dir, &names).ok());
    return names.size();
  }

  FaultInjectionFileSystem fs_;
  uint64_t last_ = 10;
  SpareFiles files_{&fs_, PieceFileName, [this] { return ++last_; }};
};

TEST_F(SpareFilesTest, FewSyncsForManyFiles) {
  std::set<uint64_t> taken;
  for (int i = 0; i < 31 + 16; ++i) {
    const uint64_t number = Take();
    EXPECT_TRUE(taken.insert(number).second);
    EXPECT_TRUE(fs_.FileExists(PieceFileName("/db", number)).ok());
  }
  EXPECT_EQ(fs_.Count(FaultOp::kDirSync), 6u);  // 1, 2, 4, 8, 16, 16
  EXPECT_EQ(fs_.Count(FaultOp::kSync), 0u);
  Take("/other");
  EXPECT_EQ(fs_.Count(FaultOp::kDirSync), 7u);
}

TEST_F(SpareFilesTest, WhereThereIsNoRoomForManyOneIsMade) {
  for (int i = 0; i < 15; ++i) Take();
  fs_.FailNth(FaultOp::kCreate, 3, "/db", Status::NoSpace("injected"));  // of sixteen
  const size_t before = FilesIn("/db");
  uint64_t number = 0;
  EXPECT_TRUE(files_.Take("/db", &number).IsNoSpace());
  EXPECT_EQ(FilesIn("/db"), before);
  fs_.FailNth(FaultOp::kCreate, 2, "/db", Status::NoSpace("injected"));
  Take();
  EXPECT_EQ(FilesIn("/db"), before + 1);
}

// What a job writes into one and syncs survives a power cut, without a further sync of the directory.
TEST_F(SpareFilesTest, EntriesAreDurable) {
  Take();
  const uint64_t number = Take();
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs_.NewWritableFile(PieceFileName("/db", number), FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append("data").ok());
  ASSERT_TRUE(file->Sync().ok());
  file.reset();
  fs_.PowerCut(1, CutMode::kDropUnsynced);
  fs_.Restart();
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, PieceFileName("/db", number), &data).ok());
  EXPECT_EQ(data, "data");
}

TEST_F(SpareFilesTest, UnusedFilesAreDeleted) {
  for (int i = 0; i < 4; ++i) Take();  // of 7
  EXPECT_EQ(FilesIn("/db"), 7u);
  files_.DeleteAll();
  EXPECT_EQ(FilesIn("/db"), 4u);
}

TEST_F(SpareFilesTest, AFailureLeavesNothingAndTheNextTakeTriesAgain) {
  Take();
  for (const FaultOp op : {FaultOp::kDirSync, FaultOp::kCreate}) {
    fs_.FailNth(op, 1, "", Status::IOError("no"));
    uint64_t number = 0;
    EXPECT_TRUE(files_.Take("/db", &number).IsIOError());
    EXPECT_EQ(FilesIn("/db"), 1u);
  }
  Take();
  EXPECT_EQ(FilesIn("/db"), 2u);
}

}  // namespace
}  // namespace compassdb
