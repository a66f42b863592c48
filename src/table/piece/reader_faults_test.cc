// SPDX-License-Identifier: Apache-2.0
// Each read of a file fails once: the error is the answer, and the next try succeeds. And files that give what they read
// in memory of their own.
#include "env/read_batch.h"
#include "env/sim/fault_injection_file_system.h"
#include "table/piece/block_set.h"
#include "table/table_forge.h"

namespace compassdb {
namespace {

// Its files give what is read in memory of their own, as a user's may.
class ElsewhereFileSystem : public FaultInjectionFileSystem {
 public:
  using FaultInjectionFileSystem::FaultInjectionFileSystem;
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    std::unique_ptr<RandomAccessFile> base;
    Status s = FaultInjectionFileSystem::NewRandomAccessFile(path, options, &base);
    if (s.ok()) *file = std::make_unique<File>(std::move(base));
    return s;
  }

 private:
  class File : public RandomAccessFile {
   public:
    explicit File(std::unique_ptr<RandomAccessFile> base) : base_(std::move(base)) {}
    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      memset(scratch, 0x55, n);
      auto& own = given_.emplace_back(std::make_unique<char[]>(n));
      return base_->Read(offset, n, result, own.get());
    }

   private:
    const std::unique_ptr<RandomAccessFile> base_;
    mutable std::vector<std::unique_ptr<char[]>> given_;
  };
};

class ReaderFaultsTest : public ForgeTest {
 protected:
  void UseFileSystem(FileSystem* fs, size_t max_open = 0) {
    files_ = std::make_unique<FileCache>(fs, kDir, FileOptions(), max_open);
  }
  // `read` from a fresh start. Each of its calls of the kind fails once.
  void ExpectEachFault(FaultOp op, const std::function<std::string()>& read) {
    faulty_.ClearFaults();
    const std::string expected = read();
    uint64_t n = 0;
    for (;; ++n) {
      faulty_.ClearFaults();
      const uint64_t before = faulty_.faults_injected();
      faulty_.FailNth(op, n + 1, ".ph", Status::IOError("injected"));
      const std::string result = read();
      if (faulty_.faults_injected() == before) {
        EXPECT_EQ(result, expected);
        break;
      }
      EXPECT_EQ(result.substr(0, 25), "IO error: injected: while") << FaultOpName(op) << " " << n << ": " << result;
      ASSERT_LT(n, 10000u);
    }
    EXPECT_GT(n, 0u);
    faulty_.ClearFaults();
  }
  std::string Walk(const Piece& piece, bool forward, const BlockReadOptions& read) {
    auto iter = piece.NewIterator(read);
    size_t n = 0;
    for (forward ? iter->SeekToFirst() : iter->SeekToLast(); iter->Valid(); forward ? iter->Next() : iter->Prev()) ++n;
    return iter->status().ok() ? std::to_string(n) : iter->status().ToString();
  }
  std::shared_ptr<Piece> NewPiece() { return std::make_shared<Piece>(Context(), meta_, IndexMode::kResident); }
  // With its index, past the faults.
  std::shared_ptr<Piece> LoadedPiece() {
    UseFileSystem(&fs_);
    auto piece = OpenPiece(meta_);
    return piece;
  }

  FaultInjectionFileSystem faulty_{&fs_};
};

class EveryOrderFaultsTest : public ReaderFaultsTest, public ::testing::WithParamInterface<DataOrder> {
 protected:
  EveryOrderFaultsTest() { build_.data_order = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Orders, EveryOrderFaultsTest,
                         ::testing::Values(DataOrder::kKey, DataOrder::kSlot, DataOrder::kHash), [](const auto& order) {
                           return order.param == DataOrder::kKey ? "Key" : order.param == DataOrder::kSlot ? "Slot" : "Hash";
                         });

TEST_P(EveryOrderFaultsTest, OpeningAndVerifying) {
  UseFilter(500000);  // more than the first read takes
  Build(NumberedRecords(1100), {{"a", "b", 7}});
  UseFileSystem(&faulty_);
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kOpen, FaultOp::kStat}) {
    ExpectEachFault(op, [&] {
      UseFileSystem(&faulty_);
      return NewPiece()->Verify().ToString();
    });
  }
}

TEST_P(EveryOrderFaultsTest, Walking) {
  Build(NumberedRecords(1100));
  for (const bool forward : {true, false}) {
    for (const int kind : {0, 1, 2, 3}) {
      BlockReadOptions read;
      read.readahead_bytes = kind == 1 ? 2000 : 0;
      read.async_io = kind == 2;
      read.whole_piece = kind == 3;
      ExpectEachFault(FaultOp::kRead, [&] {
        UseFileSystem(&faulty_);
        return Walk(*NewPiece(), forward, read);
      });
    }
  }
}

TEST_P(EveryOrderFaultsTest, Finding) {
  std::vector<TestRecord> records = NumberedRecords(100);
  for (SequenceNumber seq = 1000; seq < 1200; ++seq) records.push_back({"version", seq, kTypeValue, std::string(20, 'v')});
  Build(records);
  for (const SequenceNumber snapshot : {1000, 1001, 1199, 1}) {
    ExpectEachFault(FaultOp::kRead, [&] {
      UseFileSystem(&faulty_);
      FoundRecord found;
      const auto piece = NewPiece();
      const Status s = piece->Find({}, "version", snapshot, &found);
      return s.ok() ? found.found ? std::to_string(found.sequence) : "(absent)" : s.ToString();
    });
  }
}

TEST_P(EveryOrderFaultsTest, Seeking) {
  std::vector<TestRecord> records = NumberedRecords(100);
  for (SequenceNumber seq = 1000; seq < 1200; ++seq) records.push_back({"version", seq, kTypeValue, std::string(20, 'v')});
  Build(records);
  for (const bool forward : {true, false}) {
    for (const bool prepared : {true, false}) {
      for (const std::string& target : {IKey("version", 1000), IKey("version", 999), IKey(NumberedKey(51), 5), IKey("z", 5)}) {
        ExpectEachFault(FaultOp::kRead, [&] {
          UseFileSystem(&faulty_);
          const auto piece = NewPiece();
          auto iter = piece->NewIterator({});
          const Slice key(target);
          if (prepared) {
            ReadBatch batch;
            iter->PrepareSeek(&key, &batch);
            batch.Wait();
          }
          forward ? iter->Seek(key) : iter->SeekForPrev(key);
          return !iter->status().ok() ? iter->status().ToString() : iter->Valid() ? iter->key().ToString(true) : "(end)";
        });
      }
    }
  }
}

TEST_P(EveryOrderFaultsTest, ReadingSections) {
  Build(NumberedRecords(100));
  ExpectEachFault(FaultOp::kRead, [&] {
    UseFileSystem(&faulty_);
    const auto piece = NewPiece();
    CollectedProperties collected;
    Status s = piece->ReadCollected(&collected);
    PieceHashes hashes;
    if (s.ok()) s = piece->ReadHashes(&hashes);
    rocksdb::CompressionType type;
    if (s.ok()) s = piece->ReadCompression(&type);
    return s.ToString();
  });
}

TEST_P(EveryOrderFaultsTest, ReadsInMemoryOfTheFilesOwn) {
  ElsewhereFileSystem elsewhere(&fs_);
  UseFileSystem(&elsewhere);
  Build(NumberedRecords(1100), {{"a", "b", 7}});
  UseFileSystem(&elsewhere);
  const auto piece = OpenPiece(meta_);
  EXPECT_OK(piece->Verify());
  for (const size_t readahead : {0, 2000}) {
    BlockReadOptions read;
    read.readahead_bytes = readahead;
    EXPECT_EQ(Walk(*piece, true, read), "1100");
    EXPECT_EQ(Walk(*piece, false, read), "1100");
  }
  FoundRecord found;
  EXPECT_OK(piece->Find({}, NumberedKey(20), 5000, &found));
  EXPECT_EQ(found.value, std::string(20, 'v'));
  const std::string key = NumberedKey(20);
  rocksdb::PinnableSlice value;
  GetContext ctx(key, 5000, nullptr, &value);
  Piece::Found fed;
  EXPECT_OK(piece->FindNewest({}, key, build_.hasher(key), &ctx, &fed));
  EXPECT_OK(ctx.Finish());
  EXPECT_EQ(value, std::string(20, 'v'));
}

TEST_F(ReaderFaultsTest, BatchesOfBlocks) {
  Build(NumberedRecords(100));
  UseFileSystem(&faulty_);
  const auto piece = OpenPiece(meta_);
  for (uint64_t n = 1; n <= 3; ++n) {
    PieceRef ref;
    BlockSet blocks;
    for (uint32_t b : {0, 2, 4}) {
      ASSERT_OK(piece->Open({}, &ref));
      blocks.Want(std::move(ref), b);
    }
    faulty_.FailNth(FaultOp::kRead, n, ".ph", Status::IOError("injected"));
    blocks.Load({});
    for (uint32_t b : {0, 2, 4}) {
      BlockRef block;
      Status s;
      ASSERT_TRUE(blocks.Get(meta_.file_id, meta_.extent.offset + piece->resident()->BlockOffset(b), &block, &s));
      EXPECT_EQ(s.ToString(), b == (n - 1) * 2 ? "IO error: injected: while read /db/000001.ph" : "OK");
      EXPECT_EQ(static_cast<bool>(block), s.ok());
    }
  }
}

class DirectoryFaultsTest : public ReaderFaultsTest {
 protected:
  // A table of two pieces in files of their own. Both have two keys, and the same record of one key.
  void BuildTable() {
    Build(NumberedRecords(3000));
    meta_of_.pieces.push_back({std::make_shared<const PieceMeta>(meta_), 0});
    PieceMeta newer;
    PieceHashes newer_hashes;
    ASSERT_OK(BuildPiece({{NumberedKey(0), 5000, kTypeMerge, "m"}, NumberedRecords(2)[1]}, {{"a", "b", 5001}}, &newer, &newer_hashes));
    meta_of_.pieces.push_back({std::make_shared<const PieceMeta>(newer), 0});
    std::vector<DirectoryEntry> entries;
    for (size_t i = 0; i < hashes_.h1.size(); ++i) entries.push_back({hashes_.h1[i], hashes_.h2[i], i <= 1 ? 1u : 0u});
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.h1 < b.h1; });
    std::string bytes;
    ASSERT_TRUE(BuildDirectory(entries, 2, kBottomFingerprints, {.seed = 3}, &bytes));
    std::unique_ptr<CompactionFileWriter> file;
    ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(9), 9, 555, FileOptions(), &file));
    ASSERT_OK(WriteDirectory(file.get(), bytes, &meta_of_.directory));
    ASSERT_OK(file->Finish());
    meta_of_.directory_file_id = 555;
    meta_of_.num_keys = entries.size();
  }
  std::shared_ptr<Tph> NewTable(IndexMode mode) {
    UseFileSystem(&faulty_);
    std::vector<std::shared_ptr<Piece>> pieces;
    for (const TphPiece& p : meta_of_.pieces) pieces.push_back(std::make_shared<Piece>(Context(), *p.meta, mode));
    std::shared_ptr<Tph> tph;
    EXPECT_OK(Tph::Open(Context(), meta_of_, pieces, mode, &tph));
    return tph;
  }

  TphMeta meta_of_;
};

TEST_F(DirectoryFaultsTest, TablesInEveryIndexMode) {
  BuildTable();
  for (const IndexMode mode : {IndexMode::kResident, IndexMode::kPaged}) {
    for (const FaultOp op : {FaultOp::kRead, FaultOp::kOpen}) {
      ExpectEachFault(op, [&] { return NewTable(mode)->Load().ToString(); });
      ExpectEachFault(op, [&] { return NewTable(mode)->Verify().ToString(); });
      for (const uint64_t key : {0, 2, 4000}) {
        ExpectEachFault(op, [&] {
          const auto tph = NewTable(mode);
          const std::string user_key = NumberedKey(key);
          GetContext ctx(user_key, 4000, nullptr, nullptr);
          return tph->Get({}, user_key, build_.hasher(user_key), &ctx).ToString();
        });
      }
    }
  }
}

TEST_F(DirectoryFaultsTest, ReadsInMemoryOfTheFilesOwn) {
  BuildTable();
  ElsewhereFileSystem elsewhere(&fs_);
  UseFileSystem(&elsewhere);
  std::unique_ptr<Directory> directory;
  ASSERT_OK(ReadDirectory(files_.get(), meta_of_.directory, 555, &directory));
  EXPECT_EQ(directory->num_keys(), 3000u);
  EXPECT_EQ(directory->Lookup(build_.hasher(NumberedKey(0))).piece, 1u);
  EXPECT_EQ(directory->Lookup(build_.hasher(NumberedKey(4))).piece, 0u);
}

TEST_F(DirectoryFaultsTest, DirectoriesOfFilesThatBecameShorter) {
  BuildTable();
  UseFileSystem(&fs_);
  std::shared_ptr<CompactionFile> file;
  ASSERT_OK(files_->Get(9, &file));
  ASSERT_OK(fs_.TruncateFile(PathOf(9), meta_of_.directory.offset + meta_of_.directory.length - 10));
  std::unique_ptr<Directory> directory;
  EXPECT_EQ(ReadDirectory(files_.get(), meta_of_.directory, 555, &directory).ToString(),
            "Corruption: /db/000009.ph: directory at offset 36: the file ends within it");
}

TEST_F(DirectoryFaultsTest, HeadsLongerThanExpectedAndPages) {
  BuildTable();
  std::unique_ptr<const DirectoryHead> head;
  ExpectEachFault(FaultOp::kRead, [&] {
    UseFileSystem(&faulty_);
    Status s = ReadDirectoryHead(files_.get(), meta_of_.directory, 555, /*keys=*/0, &head);  // takes two reads
    std::unique_ptr<char[]> slots;
    if (s.ok()) s = ReadDirectoryPage(files_.get(), meta_of_.directory, 555, *head, 1, &slots);
    return s.ToString();
  });
  files_->Evict(9);
  ASSERT_OK(fs_.DeleteFile(PathOf(9)));
  std::unique_ptr<char[]> slots;
  const std::string error = ReadDirectoryPage(files_.get(), meta_of_.directory, 555, *head, 1, &slots).ToString();
  EXPECT_NE(error.find("No such file"), std::string::npos) << error;
  EXPECT_EQ(slots, nullptr);
}

}  // namespace
}  // namespace compassdb
