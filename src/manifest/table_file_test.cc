// SPDX-License-Identifier: Apache-2.0
#include "manifest/table_file.h"

#include <gtest/gtest.h>

#include "env/sim/fault_injection_file_system.h"

namespace compassdb {
namespace {

// The order of bytes under another name.
class Bytes : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "Bytes"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class TableFileTest : public ::testing::Test {
 protected:
  void Write() { ASSERT_TRUE(TryWrite({"a", "b", 9}).ok()); }
  Status TryWrite(const RangeTombstone& tombstone) {
    PieceBuildOptions options;
    options.comparator = rocksdb::BytewiseComparator();
    std::unique_ptr<TableFileWriter> writer;
    Status s = TableFileWriter::Create(&fs_, "/t.sst", options, &writer);
    for (int i = 100; i < 200 && s.ok(); ++i) {
      std::string key;
      AppendInternalKey(&key, "key" + std::to_string(i), 7, kTypeValue);
      s = writer->Add(key, "value" + std::to_string(i));
    }
    if (!s.ok()) return s;
    writer->AddRangeTombstone(tombstone);
    TableFileInfo info;
    info.comparator = rocksdb::BytewiseComparator()->Name();
    info.for_family = true;
    info.column_family = 3;
    info.column_family_name = "three";
    return writer->Finish(1234, &info);
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
  // Each call of the kind fails once.
  int ReportedErrors(FaultOp op, const std::function<Status()>& run) {
    for (int n = 1;; ++n) {
      const uint64_t before = fs_.faults_injected();
      fs_.FailNth(op, n, "", Status::IOError("injected"));
      const Status s = run();
      const bool met = fs_.faults_injected() != before;
      fs_.ClearFaults();
      EXPECT_EQ(met, !s.ok()) << FaultOpName(op) << " " << n << ": " << s.ToString();
      if (!met) return n - 1;
      EXPECT_NE(s.ToString().find("injected"), std::string::npos) << s.ToString();
    }
  }
  FaultInjectionFileSystem fs_;
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

TEST_F(TableFileTest, EachCallFailsOnce) {
  const auto write = [this] { return TryWrite({"a", "b", 9}); };
  for (const FaultOp op : {FaultOp::kCreate, FaultOp::kWrite, FaultOp::kSync}) EXPECT_GT(ReportedErrors(op, write), 0) << FaultOpName(op);
  Write();
  const Bytes other;
  for (const rocksdb::Comparator* comparator : {rocksdb::BytewiseComparator(), static_cast<const rocksdb::Comparator*>(&other)}) {
    const auto open = [this, comparator] {
      std::unique_ptr<TableFile> file;
      return TableFile::Open(&fs_, "/t.sst", comparator, &file);
    };
    for (const FaultOp op : {FaultOp::kOpen, FaultOp::kRead}) EXPECT_GT(ReportedErrors(op, open), 0) << FaultOpName(op);
  }
}

TEST_F(TableFileTest, TombstonesInAdditionToRecords) {
  for (const auto& [tombstone, smallest, largest] :
       {std::tuple(RangeTombstone{"a", "z", 9}, "a", "z"), std::tuple(RangeTombstone{"key5", "z", 9}, "key100", "z"),
        std::tuple(RangeTombstone{"key11", "key12", 9}, "key100", "key199")}) {
    ASSERT_TRUE(TryWrite(tombstone).ok());
    std::unique_ptr<TableFile> file;
    ASSERT_TRUE(Open(&file).ok());
    EXPECT_EQ(file->info().table.smallest, smallest);
    EXPECT_EQ(file->info().table.largest, largest);
    EXPECT_EQ(file->info().table.largest_exclusive, largest == std::string("z"));
  }
}

TEST_F(TableFileTest, OtherComparator) {
  Write();
  std::unique_ptr<TableFile> file;
  EXPECT_TRUE(TableFile::Open(&fs_, "/t.sst", rocksdb::ReverseBytewiseComparator(), &file)
                  .IsInvalidArgument());
}

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
