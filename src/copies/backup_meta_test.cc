// SPDX-License-Identifier: Apache-2.0
#include "copies/backup_meta.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace compassdb
