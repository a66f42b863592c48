// SPDX-License-Identifier: Apache-2.0
// Extents of a file that several threads write: one behind the other, without gaps, and each as if it were alone.
#include "table/file/extent_writer.h"

#include <atomic>
#include <map>
#include <thread>

#include "env/sim/fault_injection_file_system.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

constexpr uint64_t kFile = 900;
constexpr uint64_t kHeader = 36;

// Remembers all bytes in the order in which they came.
class Copying : public rocksdb::FileChecksumGenerator {
 public:
  explicit Copying(std::string* to) : to_(to) {}
  void Update(const char* data, size_t n) override { to_->append(data, n); }
  void Finalize() override {}
  std::string GetChecksum() const override { return *to_; }
  const char* Name() const override { return "copying"; }

 private:
  std::string* const to_;
};

class ExtentWriterTest : public TableTest {
 protected:
  void Create(size_t most_held) {
    file_.reset();
    summed_.clear();
    ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(kFile), kFile, 77, FileOptions(), &file_,
                                           std::make_unique<Copying>(&summed_)));
    file_->Share(most_held);
  }
  std::vector<TestRecord> Records(int part, int n, size_t value_size) const {
    std::vector<TestRecord> records;
    for (int i = 0; i < n; ++i) {
      const auto number = static_cast<uint64_t>(part) * 1000000 + static_cast<uint64_t>(i);
      records.push_back({NumberedKey(number), 5, kTypeValue, std::string(value_size, static_cast<char>('a' + part))});
    }
    return records;
  }
  // A piece and a directory, as a job writes them.
  Status WriteTable(const std::vector<TestRecord>& records, PieceMeta* meta, Extent* directory) {
    PieceBuilder builder(build_, file_.get(), static_cast<uint64_t>(records.size()));
    Status s;
    for (const TestRecord& r : records) {
      if (s.ok()) s = builder.Add(IKey(r.key, r.seq, r.type), r.value);
    }
    PieceHashes hashes;
    if (s.ok()) s = builder.Finish(meta, &hashes);
    if (!s.ok()) return s;
    std::vector<DirectoryEntry> entries(hashes.h1.size());
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = {hashes.h1[i], hashes.h2[i], 0};
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.h1 < b.h1; });
    std::string bytes;
    perfect_hash::BuildOptions function;
    function.seed = build_.hasher.seed();
    if (!BuildDirectory(entries, 1, kUpperFingerprints, function, &bytes)) return Status::Corruption("no directory");
    return WriteDirectory(file_.get(), bytes, directory);
  }
  void ExpectPiece(const PieceMeta& meta, const std::vector<TestRecord>& records) {
    const auto piece = OpenPiece(meta);
    std::vector<TestRecord> found;
    ASSERT_OK(Dump(*piece, &found));
    EXPECT_EQ(found, records);
    EXPECT_OK(piece->Verify());
  }
  // From the header to the end of the file.
  void ExpectNoGaps(const std::vector<Extent>& extents) {
    std::map<uint64_t, uint64_t> lengths;
    for (const Extent& e : extents) {
      EXPECT_EQ(e.file_number, kFile);
      EXPECT_GT(e.length, 0u);
      EXPECT_TRUE(lengths.emplace(e.offset, e.length).second);
    }
    uint64_t end = kHeader;
    for (const auto& [offset, length] : lengths) {
      EXPECT_EQ(offset, end);
      end = offset + length;
    }
    const std::string bytes = ReadFile(kFile);
    EXPECT_EQ(bytes.size(), end);
    EXPECT_EQ(bytes, summed_);
  }

  std::string summed_;  // outlives file_
  std::unique_ptr<CompactionFileWriter> file_;
};

class PiecesInOneFileTest : public ExtentWriterTest, public ::testing::WithParamInterface<DataOrder> {};

TEST_P(PiecesInOneFileTest, PiecesThatAreOpenAtOnce) {
  build_.data_order = GetParam();
  Create(16 << 20);
  const std::vector<TestRecord> a = Records(0, 3000, 100), b = Records(1, 3000, 70);
  PieceBuilder first(build_, file_.get(), 1), second(build_, file_.get(), 2);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_OK(first.Add(IKey(a[i].key, a[i].seq, a[i].type), a[i].value));
    ASSERT_OK(second.Add(IKey(b[i].key, b[i].seq, b[i].type), b[i].value));
  }
  EXPECT_EQ(file_->offset(), kHeader);
  PieceMeta of_first, of_second;
  ASSERT_OK(second.Finish(&of_second, nullptr));
  ASSERT_OK(first.Finish(&of_first, nullptr));
  ASSERT_OK(file_->Finish());
  EXPECT_LT(of_second.extent.offset, of_first.extent.offset);
  ExpectNoGaps({of_first.extent, of_second.extent});
  ExpectPiece(of_first, a);
  ExpectPiece(of_second, b);
}

// Whether it was held or not, wholly or in part, a piece is the same.
TEST_P(PiecesInOneFileTest, ThreadsWithAndWithoutRoom) {
  build_.data_order = GetParam();
  for (const size_t most_held : {size_t{0}, size_t{200} << 10, size_t{64} << 20}) {
    Create(most_held);
    constexpr int kThreads = 4, kTables = 5;
    std::vector<PieceMeta> pieces(kThreads * kTables);
    std::vector<Extent> extents(pieces.size());
    std::vector<std::vector<TestRecord>> records(pieces.size());
    for (int i = 0; i < kThreads * kTables; ++i) records[static_cast<size_t>(i)] = Records(i, 50 + i * 37 % 1500, 100);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t * kTables; i < (t + 1) * kTables; ++i) {
          EXPECT_OK(WriteTable(records[i], &pieces[i], &extents[i]));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_OK(file_->Finish());
    files_->Evict(kFile);
    for (size_t i = 0; i < pieces.size(); ++i) {
      ExpectPiece(pieces[i], records[i]);
      std::unique_ptr<Directory> directory;
      ASSERT_OK(ReadDirectory(files_.get(), extents[i], 77, &directory));
    }
    for (const PieceMeta& piece : pieces) extents.push_back(piece.extent);
    ExpectNoGaps(extents);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, PiecesInOneFileTest,
                         ::testing::Values(DataOrder::kKey, DataOrder::kSlot, DataOrder::kHash));

TEST_F(ExtentWriterTest, WhatIsDroppedLeavesNothingAndGivesItsRoomBack) {
  Create(256 << 10);
  for (int round = 0; round < 10; ++round) {
    ExtentWriter dropped(file_.get());
    std::string bytes(200 << 10, 'x');
    ASSERT_OK(dropped.Append(&bytes, bytes.size() - 4, 0));
    EXPECT_EQ(dropped.length(), bytes.size());
  }
  EXPECT_EQ(file_->offset(), kHeader);
  ExtentWriter kept(file_.get());
  std::string bytes(100, 'y');
  ASSERT_OK(kept.Append(&bytes, 50, 3));
  Extent extent;
  ASSERT_OK(kept.Finish(&extent));
  ASSERT_OK(file_->Finish());
  ExpectNoGaps({extent});
  std::string expected(100, 'y');
  FillInChecksum(77, kHeader, 3, 50, expected.data());
  EXPECT_EQ(ReadFile(kFile).substr(kHeader), expected);
}

// A writer that fails during its turn ends the turn with the extent.
TEST_F(ExtentWriterTest, AFailedWriteKeepsNoThreadWaiting) {
  FaultInjectionFileSystem fs;
  ASSERT_OK(fs.CreateDir("/db"));
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs, "/db/file", kFile, 77, FileOptions(), &file));
  file->Share(0);
  fs.FailAll(FaultOp::kWrite, "/db/file", Status::IOError("injected"));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      ExtentWriter writer(file.get());
      std::string bytes(1 << 20, 'x');
      if (writer.Append(&bytes, 100, 0).IsIOError()) ++failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 4);
}

TEST_F(ExtentWriterTest, ItIsPacedWhileHeldBytesAreWritten) {
  Create(16 << 20);
  std::vector<uint64_t> offsets;
  file_->SetPace([&] { offsets.push_back(file_->offset()); });
  ExtentWriter writer(file_.get());
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(4 << 10, 'x');
    ASSERT_OK(writer.Append(&bytes, 100, 0));
  }
  EXPECT_TRUE(offsets.empty());
  Extent extent;
  ASSERT_OK(writer.Finish(&extent));
  EXPECT_GE(offsets.size(), 4u);
  for (size_t i = 1; i < offsets.size(); ++i) EXPECT_LE(offsets[i] - offsets[i - 1], 1u << 20);
  EXPECT_EQ(offsets.back(), kHeader + (4000u << 10));
}

}  // namespace
}  // namespace compassdb
