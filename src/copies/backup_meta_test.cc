// SPDX-License-Identifier: Apache-2.0
#include "copies/backup_meta.h"

#include <gtest/gtest.h>

#include "copies/file_copy.h"
#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "manifest/extent_ledger.h"
#include "table/file/file_cache.h"

namespace compassdb {
namespace {

BackupMeta Sample() {
  BackupMeta meta;
  meta.timestamp = 1700000000;
  meta.sequence = 77;
  meta.app_metadata = std::string("a\0\n\xff", 4);
  meta.files.push_back({"000007.ph", "shared_checksum/000007_s00ff_99999.ph", 99999, 123, {{4096, 16384}, {40960, 16384}}});
  meta.files.push_back({"CURRENT", "private/1/CURRENT", 0, 4294967295u, {}});
  return meta;
}

TEST(BackupMetaTest, RoundTrip) {
  const std::string text = EncodeBackupMeta(Sample());
  BackupMeta meta;
  ASSERT_TRUE(DecodeBackupMeta("meta/1", text, &meta).ok());
  EXPECT_EQ(EncodeBackupMeta(meta), text);
  EXPECT_EQ(meta.app_metadata, Sample().app_metadata);
  EXPECT_EQ(meta.files[0].holes, Sample().files[0].holes);
  EXPECT_EQ(meta.TotalBytes(), 99999u);
}

TEST(BackupMetaTest, TruncationAndFlippedBitsAreCorruption) {
  const std::string text = EncodeBackupMeta(Sample());
  BackupMeta meta;
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_TRUE(DecodeBackupMeta("m", Slice(text.data(), n), &meta).IsCorruption()) << n;
  }
  EXPECT_TRUE(DecodeBackupMeta("m", text + "x", &meta).IsCorruption());
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Status s = DecodeBackupMeta("m", damaged, &meta);
    EXPECT_TRUE(s.IsCorruption() || s.IsNotSupported()) << bit;
  }
}

TEST(BackupMetaTest, NewerVersionIsNotSupported) {
  BackupMeta meta;
  EXPECT_TRUE(DecodeBackupMeta("m", "CompassDB backup 2\nnew things", &meta).IsNotSupported());
}

TEST(BackupMetaTest, PathsStayInside) {
  for (const char* path : {"../other", "/etc/passwd", "private/../../x"}) {
    BackupMeta meta = Sample();
    meta.files[0].path = path;
    EXPECT_TRUE(DecodeBackupMeta("m", EncodeBackupMeta(meta), &meta).IsCorruption()) << path;
  }
  BackupMeta meta = Sample();
  meta.files[0].name = "../x";
  EXPECT_TRUE(DecodeBackupMeta("m", EncodeBackupMeta(meta), &meta).IsCorruption());
}

TEST(BackupMetaTest, HolesLieOutsideOfLiveExtents) {
  using Runs = std::vector<std::pair<uint64_t, uint64_t>>;
  const Runs zeros = {{100, 100}, {300, 100}};
  EXPECT_EQ(HolesOf(zeros, {}), zeros);
  EXPECT_EQ(HolesOf(zeros, {{1, 0, 1000}}), Runs());
  EXPECT_EQ(HolesOf(zeros, {{1, 150, 200}}), (Runs{{100, 50}, {350, 50}}));
  EXPECT_EQ(HolesOf(zeros, {{1, 320, 10}, {1, 110, 10}}),
            (Runs{{100, 10}, {120, 80}, {300, 20}, {330, 70}}));
  BackupFile file;
  file.size = 500;
  file.holes = zeros;
  EXPECT_TRUE(file.Covers({{1, 0, 100}, {1, 200, 100}, {1, 400, 100}}));
  EXPECT_FALSE(file.Covers({{1, 0, 101}}));
  EXPECT_FALSE(file.Covers({{1, 399, 2}}));
  EXPECT_FALSE(file.Covers({{1, 450, 51}}));
}

// A run that is just worth a hole has fewer whole pages, down to three of 16 KiB.
TEST(BackupMetaTest, TheSmallestHolesAreListed) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/db").ok());
  FileCache files(&fs, "/db", FileOptions(), 0);
  const HoleSizes sizes;
  ExtentLedger ledger(&fs, &files, sizes.least, sizes.large);
  const std::string path = PieceFileName("/db", 7);
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs.NewWritableFile(path, FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(std::string(100000, 'x')).ok());
  ASSERT_TRUE(file->Close().ok());
  const Extent before{7, 32, 4100}, dies{7, 4132, 16400}, behind{7, 20532, 50000};
  for (const Extent& extent : {before, dies, behind}) ledger.Add(extent);
  ledger.Release(dies);
  ExtentLedger::PunchLimits limits;
  limits.small = true;
  uint64_t punched = 0;
  ASSERT_TRUE(ledger.Punch(limits, &punched).ok());
  ASSERT_EQ(punched, 3u * 4096);
  CopySource from;
  from.fs = &fs;
  from.path = path;
  CopyResult result;
  ASSERT_TRUE(CopyFile(from, &fs, "/copy", CopyControl(), &result).ok());
  BackupFile copy;
  copy.size = result.size;
  copy.holes = HolesOf(result.zeros, {before, behind});
  EXPECT_EQ(copy.holes, (std::vector<std::pair<uint64_t, uint64_t>>{{8192, 3 * 4096}}));
  EXPECT_TRUE(copy.Covers({before, behind}));
  EXPECT_FALSE(copy.Covers({before, dies, behind}));
}

}  // namespace
}  // namespace compassdb
