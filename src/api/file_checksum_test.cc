// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/file_checksum.h"

#include <gtest/gtest.h>

#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace {

// Vectors of RFC 3720, appendix B.4.
TEST(Crc32cTest, KnownValues) {
  using compassdb::Crc32c;
  EXPECT_EQ(0x8a9136aau, Crc32c(std::string(32, '\0').data(), 32));
  EXPECT_EQ(0x62a8ab43u, Crc32c(std::string(32, '\xff').data(), 32));
  EXPECT_EQ(0xe3069283u, Crc32c("123456789", 9));
  EXPECT_EQ(0u, Crc32c("", 0));
}

TEST(Crc32cTest, TablesAndInstructionAgreeInEverySplit) {
  std::string data;
  for (int i = 0; i < 100; ++i) data.push_back(static_cast<char>(i * 37));
  for (size_t n = 0; n <= data.size(); ++n) {
    const uint32_t whole = compassdb::Crc32c(data.data(), n);
    EXPECT_EQ(whole, compassdb::Crc32cExtendPortable(0, data.data(), n));
    const uint32_t half = compassdb::Crc32c(data.data(), n / 2);
    EXPECT_EQ(whole, compassdb::Crc32cExtend(half, data.data() + n / 2, n - n / 2));
  }
}

TEST(FileChecksumTest, GeneratorIsBigEndian) {
  auto factory = GetFileChecksumGenCrc32cFactory();
  FileChecksumGenContext context;
  auto generator = factory->CreateFileChecksumGenerator(context);
  generator->Update("12345", 5);
  generator->Update("6789", 4);
  generator->Finalize();
  EXPECT_EQ("\xe3\x06\x92\x83", generator->GetChecksum());
  EXPECT_STREQ("FileChecksumCrc32c", generator->Name());
  context.requested_checksum_func_name = "other";
  EXPECT_EQ(nullptr, factory->CreateFileChecksumGenerator(context));
}

TEST(FileChecksumTest, ListKeepsTheLastOfAFile) {
  std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  ASSERT_TRUE(list->InsertOneFileChecksum(7, "a", "f").ok());
  ASSERT_TRUE(list->InsertOneFileChecksum(7, "b", "f").ok());
  EXPECT_EQ(1u, list->size());
  std::string checksum;
  std::string function;
  ASSERT_TRUE(list->SearchOneFileChecksum(7, &checksum, &function).ok());
  EXPECT_EQ("b", checksum);
  EXPECT_TRUE(list->SearchOneFileChecksum(8, &checksum, &function).IsNotFound());
  EXPECT_TRUE(list->RemoveOneFileChecksum(8).IsNotFound());
  EXPECT_TRUE(list->RemoveOneFileChecksum(7).ok());
  EXPECT_EQ(0u, list->size());
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
