// SPDX-License-Identifier: Apache-2.0
#include "manifest/table_file.h"

#include <gtest/gtest.h>

#include "env/memory_file_system.h"

namespace compassdb {
namespace {

class TableFileTest : public ::testing::Test {
 protected:
  void Write() {
    PieceBuildOptions options;
    options.comparator = rocksdb::BytewiseComparator();
    std::unique_ptr<TableFileWriter> writer;
    ASSERT_TRUE(TableFileWriter::Create(&fs_, "/t.sst", options, &writer).ok());
    for (int i = 100; i < 200; ++i) {
      std::string key;
      AppendInternalKey(&key, "key" + std::to_string(i), 7, kTypeValue);
      ASSERT_TRUE(writer->Add(key, "value" + std::to_string(i)).ok());
    }
    writer->AddRangeTombstone({"a", "b", 9});
    TableFileInfo info;
    info.comparator = rocksdb::BytewiseComparator()->Name();
    info.for_family = true;
    info.column_family = 3;
    info.column_family_name = "three";
    ASSERT_TRUE(writer->Finish(1234, &info).ok());
  }
  Status Open(std::unique_ptr<TableFile>* file) {
    return TableFile::Open(&fs_, "/t.sst", rocksdb::BytewiseComparator(), file);
  }
  void Overwrite(const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile("/t.sst", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  MemoryFileSystem fs_;
};

TEST_F(TableFileTest, RoundTrip) {
  Write();
  std::unique_ptr<TableFile> file;
  ASSERT_TRUE(Open(&file).ok());
  const TableFileInfo& info = file->info();
  EXPECT_EQ(info.column_family, 3u);
  EXPECT_EQ(info.column_family_name, "three");
  EXPECT_EQ(info.table.smallest, "a");
  EXPECT_EQ(info.table.largest, "key199");
  EXPECT_FALSE(info.table.largest_exclusive);
  EXPECT_EQ(info.table.largest_seq, 9u);
  int n = 0;
  InternalIteratorPtr it = file->piece().NewIterator(BlockReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) {
    EXPECT_EQ(ExtractSequence(it->key()), 7u);
    EXPECT_EQ(it->value().ToString(), "value" + std::to_string(100 + n));
  }
  EXPECT_EQ(n, 100);
  std::vector<RangeTombstone> tombstones;
  ASSERT_TRUE(file->piece().ReadRangeTombstones(&tombstones).ok());
  EXPECT_EQ(tombstones.size(), 1u);
  EXPECT_TRUE(file->piece().Verify().ok());
}

TEST_F(TableFileTest, TruncationIsCorruption) {
  Write();
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, "/t.sst", &data).ok());
  for (size_t n = 0; n < data.size(); n += 7) {
    Overwrite(data.substr(0, n));
    std::unique_ptr<TableFile> file;
    EXPECT_TRUE(Open(&file).IsCorruption()) << n;
  }
}

TEST_F(TableFileTest, FlippedBitIsFound) {
  Write();
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, "/t.sst", &data).ok());
  for (size_t bit = 0; bit < data.size() * 8; bit += 5) {
    std::string damaged = data;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(damaged);
    std::unique_ptr<TableFile> file;
    Status s = Open(&file);
    if (s.ok()) s = file->piece().Verify();
    EXPECT_TRUE(s.IsCorruption() || s.IsNotSupported()) << bit << s.ToString();
  }
}

TEST_F(TableFileTest, OtherComparator) {
  Write();
  std::unique_ptr<TableFile> file;
  EXPECT_TRUE(TableFile::Open(&fs_, "/t.sst", rocksdb::ReverseBytewiseComparator(), &file)
                  .IsInvalidArgument());
}

// The order of bytes under another name.
class Bytes : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "Bytes"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(TableFileTest, OtherComparatorOfTheSameOrder) {
  Write();
  const Bytes comparator;
  std::unique_ptr<TableFile> file;
  ASSERT_TRUE(TableFile::Open(&fs_, "/t.sst", &comparator, &file).ok());
  EXPECT_EQ(file->info().comparator, rocksdb::BytewiseComparator()->Name());
  EXPECT_EQ(file->info().table.NumRecords(), 100u);
}

}  // namespace
}  // namespace compassdb
