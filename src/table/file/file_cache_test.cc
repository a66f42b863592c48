// SPDX-License-Identifier: Apache-2.0
#include "table/file/file_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

class FileCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    for (uint64_t number = 1; number <= 4; ++number) {
      std::unique_ptr<CompactionFileWriter> writer;
      ASSERT_TRUE(CompactionFileWriter::Create(&fs_, Path(number), number, /*file_id=*/number, FileOptions(), &writer).ok());
      ASSERT_TRUE(writer->Finish().ok());
    }
    fs_.SetHook([this](FaultOp op, const std::string&) {
      if (op != FaultOp::kOpen) return;
      ++opens_;
      most_ = std::max(most_, Open() + 1);
    });
  }
  static std::string Path(uint64_t number) { return PieceFileName("/db", number); }
  std::shared_ptr<CompactionFile> Get(FileCache* files, uint64_t number) {
    std::shared_ptr<CompactionFile> file;
    const Status s = files->Get(number, &file);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(file == nullptr ? 0 : file->file_number(), number);
    seen_.push_back(file);
    return file;
  }
  int Open() const {
    std::set<const CompactionFile*> open;
    for (const auto& file : seen_) {
      if (const auto held = file.lock()) open.insert(held.get());
    }
    return static_cast<int>(open.size());
  }

  FaultInjectionFileSystem fs_;
  std::vector<std::weak_ptr<CompactionFile>> seen_;
  int opens_ = 0, most_ = 0;
};

TEST_F(FileCacheTest, TheLeastRecentlyUsedIsClosedBeforeAnotherIsOpened) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/2);
  for (const uint64_t number : {1, 2, 1, 3}) Get(&files, number);
  EXPECT_EQ(opens_, 3);
  Get(&files, 1);
  EXPECT_EQ(opens_, 3);  // 2 went
  Get(&files, 2);
  Get(&files, 4);
  EXPECT_EQ(opens_, 5);
  EXPECT_EQ(most_, 2);
}

TEST_F(FileCacheTest, WhatIsInUseStaysOpen) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/1);
  const std::shared_ptr<CompactionFile> held = Get(&files, 1);
  Get(&files, 2);
  EXPECT_EQ(Open(), 2);
  Get(&files, 1);
  EXPECT_EQ(opens_, 2);
}

// SetDBOptions(max_open_files): pieces keep the files that they hold, which are counted, so that no more are opened
// than these and one at a time.
TEST_F(FileCacheTest, HeldFilesAreCountedWhenTheLimitFalls) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/0);
  const std::vector<std::shared_ptr<CompactionFile>> held{Get(&files, 1), Get(&files, 2)};
  files.SetLimits(2);
  for (const auto& file : held) EXPECT_EQ(files.IfOpen(file->file_number()), file);
  for (const uint64_t number : {3, 4, 3, 4, 1, 2}) Get(&files, number);
  EXPECT_EQ(most_, 3);
  EXPECT_TRUE(files.scarce());
}

TEST_F(FileCacheTest, LimitsMayChange) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/0);
  EXPECT_TRUE(files.MayHold());
  for (const uint64_t number : {1, 2, 3, 4}) Get(&files, number);
  EXPECT_FALSE(files.scarce());
  files.SetLimits(3);
  EXPECT_FALSE(files.MayHold());
  EXPECT_EQ(Open(), 3);
  EXPECT_TRUE(files.scarce());
  files.Evict(4);
  EXPECT_EQ(Open(), 2);
  for (const uint64_t number : {2, 3}) Get(&files, number);
  EXPECT_EQ(opens_, 4);
}

// As under max_open_files=-1: pieces hold their files while there is room. The others are closed in turn.
TEST_F(FileCacheTest, FilesThatPiecesHoldAreNotClosedInVain) {
  FileCache files(&fs_, "/db", FileOptions(), {/*max_open=*/3, /*held=*/2});
  EXPECT_TRUE(files.MayHold());
  const std::shared_ptr<CompactionFile> held = Get(&files, 1);
  EXPECT_TRUE(files.MayHold());
  Get(&files, 2);
  EXPECT_FALSE(files.MayHold());
  EXPECT_TRUE(files.scarce());
  for (const uint64_t number : {3, 4, 2, 3, 4, 2}) Get(&files, number);
  EXPECT_LE(most_, 3);
  EXPECT_EQ(files.IfOpen(1), held);
}

TEST_F(FileCacheTest, KnowsWhatIsOpen) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/0);
  EXPECT_EQ(files.IfOpen(1), nullptr);
  Get(&files, 1);
  ASSERT_NE(files.IfOpen(1), nullptr);
  EXPECT_EQ(files.IfOpen(1)->file_number(), 1u);
  EXPECT_EQ(opens_, 1);
  files.Evict(1);
  EXPECT_EQ(files.IfOpen(1), nullptr);
}

TEST_F(FileCacheTest, WhatCannotBeOpenedIsNotKept) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/2);
  fs_.FailNth(FaultOp::kOpen, 1, ".ph", Status::IOError("injected"));
  std::shared_ptr<CompactionFile> file;
  EXPECT_TRUE(files.Get(1, &file).IsIOError());
  EXPECT_EQ(file, nullptr);
  Get(&files, 1);
  EXPECT_TRUE(files.Get(9, &file).IsPathNotFound());
}

TEST_F(FileCacheTest, ExtentsLieInTheFileThatIsMeant) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/2);
  std::shared_ptr<CompactionFile> file;
  ASSERT_TRUE(files.Get(1, &file).ok());
  const uint64_t id = file->file_id(), size = file->size();
  const auto error = [&](uint64_t offset, uint64_t length, uint64_t file_id) {
    return files.GetExtent({1, offset, length}, file_id, &file).ToString();
  };
  EXPECT_EQ(error(0, size, id), "OK");
  EXPECT_EQ(error(size, 0, id), "OK");
  EXPECT_EQ(error(0, size, id + 1), "Corruption: /db/000001.ph: not the file that the manifest names (file id)");
  for (const auto& [offset, length] : std::vector<std::pair<uint64_t, uint64_t>>{
           {1, size}, {size + 1, 0}, {UINT64_MAX, 2}, {2, UINT64_MAX}}) {
    EXPECT_EQ(error(offset, length, id), "Corruption: /db/000001.ph: extent of " + std::to_string(length) +
                                             " bytes at offset " + std::to_string(offset) +
                                             " does not fit the file of " + std::to_string(size));
  }
}

// A file system may return NotFound for a missing file. A lookup of a key must not take that for its answer.
TEST_F(FileCacheTest, AMissingFileIsNoMissingKey) {
  FileCache files(&fs_, "/db", FileOptions(), /*max_open=*/2);
  std::shared_ptr<CompactionFile> file;
  fs_.FailNth(FaultOp::kOpen, 1, ".ph", Status::NotFound("injected"));
  const Status s = files.GetExtent({1, 0, 1}, 1, &file);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("/db/000001.ph"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace compassdb
