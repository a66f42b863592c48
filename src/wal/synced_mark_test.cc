// SPDX-License-Identifier: Apache-2.0
#include "wal/synced_mark.h"

#include <gtest/gtest.h>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "format/number_limits.h"

namespace compassdb {
namespace {

class SyncedMarkTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(fs_.CreateDir("/wal").ok()); }
  std::string File() {
    std::string data;
    EXPECT_TRUE(ReadFileToString(&fs_, "/wal/SYNCED", &data).ok());
    return data;
  }
  FaultInjectionFileSystem fs_;
};

// docs/formats/synced.md
TEST_F(SyncedMarkTest, WorkedExample) {
  SyncedMarkWriter writer(&fs_, "/wal");
  writer.Write({6, 999});  // unknown database
  EXPECT_TRUE(fs_.FileExists("/wal/SYNCED").IsNotFound());
  writer.SetDatabase("id");
  EXPECT_FALSE(writer.begun());
  writer.Write({7, 1000});
  EXPECT_TRUE(writer.begun());
  EXPECT_EQ(Slice(File()).ToString(/*hex=*/true),
            "436D707353796E310100000044F7EBCF0700000000000000E80300000000000081A77C4A585181B0");
  const SyncedMark mark = ReadSyncedMark(&fs_, "/wal");
  EXPECT_EQ(mark.log.number, 7u);
  EXPECT_EQ(mark.log.bytes, 1000u);
  EXPECT_TRUE(mark.IsOf("id"));
  EXPECT_FALSE(mark.IsOf("other"));
  EXPECT_EQ(fs_.Count(FaultOp::kSync), 0u);
  EXPECT_EQ(fs_.Count(FaultOp::kDirSync), 0u);
}

TEST_F(SyncedMarkTest, NothingIsKnownOfWhatIsNotWhole) {
  EXPECT_EQ(ReadSyncedMark(&fs_, "/wal").log.number, 0u);
  SyncedMarkWriter writer(&fs_, "/wal");
  writer.SetDatabase("id");
  writer.Write({kMaxStrayNumber, 1000});
  EXPECT_EQ(ReadSyncedMark(&fs_, "/wal").log.number, 0u);
  writer.Write({7, 1000});
  const std::string whole = File();
  const auto read = [&](const std::string& data) {
    std::unique_ptr<WritableFile> file;
    EXPECT_TRUE(fs_.NewWritableFile("/wal/SYNCED", FileOptions(), &file).ok());
    EXPECT_TRUE(file->Append(data).ok() && file->Close().ok());
    return ReadSyncedMark(&fs_, "/wal");
  };
  EXPECT_EQ(read(whole).log.number, 7u);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size)).IsOf("id")) << size;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_EQ(read(damaged).log.number, 0u) << bit;
  }
}

// Reads work without permission to write.
TEST_F(SyncedMarkTest, IsReadWithoutBeingOpenedForWriting) {
  class NoWriting final : public FaultInjectionFileSystem {
   public:
    using FaultInjectionFileSystem::FaultInjectionFileSystem;
    Status NewPageFile(const std::string& path, const FileOptions&, bool, std::unique_ptr<PageFile>*) override {
      return Status::IOError("While open a file for writing in place: " + path, "Permission denied");
    }
  } reader(&fs_);
  SyncedMarkWriter writer(&fs_, "/wal");
  writer.SetDatabase("id");
  writer.Write({7, 1000});
  EXPECT_TRUE(ReadSyncedMark(&reader, "/wal").IsOf("id"));
}

// As on a failed disk, or a file system without such files.
TEST_F(SyncedMarkTest, AFailureIsTheLast) {
  for (const FaultOp op : {FaultOp::kCreate, FaultOp::kWrite}) {
    SyncedMarkWriter writer(&fs_, "/wal");
    writer.SetDatabase("id");
    fs_.FailNth(op, 1, "SYNCED", Status::IOError("injected"));
    writer.Write({7, 1000});
    EXPECT_FALSE(writer.begun());
    writer.Write({7, 2000});
    EXPECT_FALSE(ReadSyncedMark(&fs_, "/wal").IsOf("id"));
  }
}

}  // namespace
}  // namespace compassdb
