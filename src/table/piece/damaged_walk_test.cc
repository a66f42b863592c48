// SPDX-License-Identifier: Apache-2.0
// Iterators and cursors over pieces with damage behind right checksums, over files that are gone, and where few files may
// be open.
#include "env/read_batch.h"
#include "table/piece/block_set.h"
#include "table/directory/separator_builder.h"
#include "table/table_forge.h"

namespace compassdb {
namespace {

class WalkTest : public ForgeTest {
 protected:
  struct Walked {
    size_t records = 0;
    std::string status;
  };
  static Walked Forward(const Piece& piece, const BlockReadOptions& read = {}) {
    Walked walked;
    auto iter = piece.NewIterator(read);
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ++walked.records;
    walked.status = iter->status().ToString();
    return walked;
  }
  static Walked Backward(const Piece& piece, const BlockReadOptions& read = {}) {
    Walked walked;
    auto iter = piece.NewIterator(read);
    for (iter->SeekToLast(); iter->Valid(); iter->Prev()) ++walked.records;
    walked.status = iter->status().ToString();
    return walked;
  }
  // "key@sequence", "(end)" or the error.
  static std::string At(const InternalIterator& iter) {
    if (!iter.status().ok()) return iter.status().ToString();
    if (!iter.Valid()) return "(end)";
    return ExtractUserKey(iter.key()).ToString() + "@" + std::to_string(ExtractSequence(iter.key()));
  }
  static std::string Seek(const Piece& piece, const std::string& key, SequenceNumber seq) {
    auto iter = piece.NewIterator({});
    iter->Seek(IKey(key, seq));
    return At(*iter);
  }
  static std::string SeekForPrev(const Piece& piece, const std::string& key, SequenceNumber seq) {
    auto iter = piece.NewIterator({});
    iter->SeekForPrev(IKey(key, seq));
    return At(*iter);
  }
  static std::string Find(const Piece& piece, const std::string& key, SequenceNumber snapshot) {
    FoundRecord found;
    const Status s = piece.Find({}, key, snapshot, &found);
    if (!s.ok()) return s.ToString();
    return found.found ? key + "@" + std::to_string(found.sequence) : "(absent)";
  }
  std::string BlockError(uint32_t b, const std::string& why) {
    const PieceRange range = BlockRange(meta_, b);
    return "Corruption: " + PathOf(meta_.extent.file_number) + ": data block " + std::to_string(b) + " at offset " +
           std::to_string(meta_.extent.offset + range.offset) + ": " + why;
  }
  std::string HeaderError(uint32_t b) {
    const PieceRange range = BlockRange(meta_, b);
    return "Corruption: " + PathOf(meta_.extent.file_number) + ": data block at offset " +
           std::to_string(meta_.extent.offset + range.offset) + ", " + std::to_string(range.length) +
           " bytes: malformed header";
  }
  void DamageHeader(uint32_t b) { WritePayload(meta_, BlockRange(meta_, b), std::string(1, '\0')); }
  size_t RecordsBefore(uint32_t b) {
    size_t n = 0;
    for (uint32_t i = 0; i < b; ++i) n += BlockRecords(meta_, i).size();
    return n;
  }
  // A limited file cache would open it again.
  void DeleteFileOf(const PieceMeta& meta) {
    files_->Evict(meta.extent.file_number);
    ASSERT_OK(fs_.DeleteFile(PathOf(meta.extent.file_number)));
  }
  void ExpectGone(const std::string& error) {
    EXPECT_NE(error.find(PathOf(meta_.extent.file_number)), std::string::npos) << error;
    EXPECT_NE(error.find("No such file"), std::string::npos) << error;
  }
};

// --- key order ---

TEST_F(WalkTest, EndsAtADamagedBlock) {
  Build(NumberedRecords(100));
  const size_t before = RecordsBefore(2), through = RecordsBefore(3);
  DamageHeader(2);
  const auto piece = OpenPiece(meta_);
  Walked walked = Forward(*piece);
  EXPECT_EQ(walked.records, before);
  EXPECT_EQ(walked.status, HeaderError(2));
  walked = Backward(*piece);
  EXPECT_EQ(walked.records, 100 - through);
  EXPECT_EQ(walked.status, HeaderError(2));
}

TEST_F(WalkTest, EndsAtADamagedRecord) {
  Build(NumberedRecords(100));
  const size_t before = RecordsBefore(2), through = RecordsBefore(3);
  DamageRecordOfBlock(meta_, 2, 1);
  const auto piece = OpenPiece(meta_);
  Walked walked = Forward(*piece);
  EXPECT_EQ(walked.records, before + 1);
  EXPECT_EQ(walked.status, BlockError(2, "malformed record"));
  walked = Backward(*piece);
  EXPECT_EQ(walked.records, 100 - before - 2);
  EXPECT_GT(walked.records, 100 - through);
  EXPECT_EQ(walked.status, BlockError(2, "malformed record"));
}

TEST_F(WalkTest, DamageWithinTheVersionsOfAKeyIsNotTheirEnd) {
  std::vector<TestRecord> records;
  for (SequenceNumber seq = 1; seq <= 300; ++seq) records.push_back({"k", seq, kTypeValue, std::string(20, 'v')});
  Build(records);
  EXPECT_EQ(Seek(*OpenPiece(meta_), "k", 1), "k@1");
  EXPECT_EQ(Find(*OpenPiece(meta_), "k", 1), "k@1");
  DamageRecordOfBlock(meta_, 2, 0);
  auto piece = OpenPiece(meta_);
  EXPECT_EQ(Find(*piece, "k", 300), "k@300");
  EXPECT_EQ(Find(*piece, "k", 1), BlockError(2, "malformed record"));
  DamageHeader(1);
  piece = OpenPiece(meta_);
  EXPECT_EQ(Find(*piece, "k", 300), "k@300");
  EXPECT_EQ(Find(*piece, "k", 1), HeaderError(1));
  EXPECT_EQ(Seek(*piece, "k", 1), HeaderError(1));
  EXPECT_EQ(SeekForPrev(*piece, "k", 1), HeaderError(1));
  DamageRecordOfBlock(meta_, 0, 0);
  piece = OpenPiece(meta_);
  EXPECT_EQ(Find(*piece, "k", 300), BlockError(0, "malformed record"));
}

TEST_F(WalkTest, SeeksBackwardStayOnTheRecordItself) {
  for (const DataOrder order : {DataOrder::kKey, DataOrder::kSlot, DataOrder::kHash}) {
    build_.data_order = order;
    Build({{"a", 5, kTypeValue, "a5"}, {"a", 3, kTypeValue, "a3"}, {"c", 5, kTypeValue, "c5"}});
    const auto piece = OpenPiece(meta_);
    EXPECT_EQ(SeekForPrev(*piece, "a", 5), "a@5");
    EXPECT_EQ(SeekForPrev(*piece, "a", 3), "a@3");
    EXPECT_EQ(SeekForPrev(*piece, "a", 4), "a@5");
    EXPECT_EQ(SeekForPrev(*piece, "a", 6), "(end)");
    EXPECT_EQ(SeekForPrev(*piece, "b", 5), "a@3");  // c's record has the sequence, but not the key
    EXPECT_EQ(SeekForPrev(*piece, "c", 5), "c@5");
    EXPECT_EQ(SeekForPrev(*piece, "d", 5), "c@5");
  }
}

TEST_F(WalkTest, BlocksThatEndBeforeTheyBeginAreDamage) {
  Build(NumberedRecords(300));
  auto piece = OpenPiece(meta_);
  const KeyOrder order(build_.comparator);
  SeparatorBuilder separators(order);
  const PieceReader& reader = *piece->resident();
  const uint64_t second = reader.BlockOffset(2), third = reader.BlockOffset(3);
  for (uint32_t b = 0; b < meta_.num_blocks; ++b) {
    const auto records = BlockRecords(meta_, b);
    // Block 1 is said to begin where block 3 does.
    const uint64_t length = b == 0 ? third : b == 1 ? second - third : reader.BlockLength(b);
    separators.Add(records.front().key, records.back().key, length);
  }
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kSeparators).clear();
  ASSERT_TRUE(separators.Finish(&parts.section(PieceSection::kSeparators)));
  const size_t before = RecordsBefore(2);
  WriteParts(std::move(parts), &meta_);
  piece = OpenPiece(meta_);
  ASSERT_EQ(piece->resident()->BlockOffset(1), third);
  ASSERT_EQ(piece->resident()->BlockLength(1), 0u);
  const std::string error = "data block at offset " + std::to_string(meta_.extent.offset + third) +
                            ", 0 bytes: the file ends within it";
  for (const int kind : {0, 1, 2}) {
    BlockReadOptions read;
    read.readahead_bytes = kind == 1 ? 2000 : 0;
    read.async_io = kind == 2;
    const Walked walked = Backward(*piece, read);
    EXPECT_EQ(walked.records, 300 - before);
    EXPECT_NE(walked.status.find(error), std::string::npos) << walked.status;
    EXPECT_EQ(Forward(*piece, read).records, 0u);
    EXPECT_NE(Forward(*piece, read).status.find("checksum mismatch"), std::string::npos);
  }
  ExpectCorruption(piece->Verify(), "checksum mismatch");
}

TEST_F(WalkTest, TurnsWithinItsBound) {
  Build(NumberedRecords(300));
  const auto piece = OpenPiece(meta_);
  const std::string bound = NumberedKey(200);
  const Slice upper(bound);
  BlockReadOptions read;
  read.upper_bound = &upper;
  auto iter = piece->NewIterator(read);
  iter->Seek(IKey(NumberedKey(100), kMaxSequenceNumber));
  int64_t at = 50;
  const auto step = [&](bool forward) {
    ASSERT_EQ(At(*iter), NumberedKey(static_cast<uint64_t>(at) * 2) + "@" + std::to_string(at + 1));
    forward ? iter->Next() : iter->Prev();
    at += forward ? 1 : -1;
  };
  while (at < 99) step(true);
  while (at > 0) step(false);
  while (at < 99) step(true);
  ASSERT_EQ(At(*iter), NumberedKey(198) + "@100");
  // Blocks behind the bound's block are not read.
  iter->Seek(IKey(NumberedKey(500), kMaxSequenceNumber));
  EXPECT_EQ(At(*iter), "(end)");
}

TEST_F(WalkTest, ReadsAheadWhereFilesAreFew) {
  Build(NumberedRecords(2000));
  BlockReadOptions read;
  read.async_io = true;
  for (const size_t max_open : {0, 100, 1}) {
    NewFileCache(max_open);
    const auto piece = OpenPiece(meta_);
    EXPECT_EQ(Forward(*piece, read).records, 2000u);
    EXPECT_EQ(Backward(*piece, read).records, 2000u);
    for (const uint64_t n : {0, 700}) {
      auto iter = piece->NewIterator(read);
      const std::string target = IKey(NumberedKey(n * 2), kMaxSequenceNumber);
      const Slice key(target);
      ReadBatch batch;
      iter->PrepareSeek(&key, &batch);
      batch.Wait();
      iter->Seek(key);
      EXPECT_EQ(At(*iter), NumberedKey(n * 2) + "@" + std::to_string(n + 1));
    }
  }
}

TEST_F(WalkTest, FilesThatAreGoneAreErrors) {
  Build(NumberedRecords(100));
  NewFileCache(100);
  const auto piece = OpenPiece(meta_);
  DeleteFileOf(meta_);
  ExpectGone(Forward(*piece).status);
  ExpectGone(Backward(*piece).status);
  ExpectGone(Find(*piece, NumberedKey(0), 100));
  ExpectGone(piece->Verify().ToString());
  CollectedProperties collected;
  ExpectGone(piece->ReadCollected(&collected).ToString());
  PieceHashes hashes;
  ExpectGone(piece->ReadHashes(&hashes).ToString());
  rocksdb::CompressionType type;
  ExpectGone(piece->ReadCompression(&type).ToString());
  rocksdb::PinnableSlice value;
  const std::string key = NumberedKey(0);
  GetContext ctx(key, 100, nullptr, &value);
  Piece::Found found;
  ExpectGone(piece->FindNewest({}, key, build_.hasher(key), &ctx, &found).ToString());
  // A seek that is prepared in a batch says so when it is made.
  auto iter = piece->NewIterator({});
  const std::string target = IKey(key, kMaxSequenceNumber);
  const Slice internal_key(target);
  ReadBatch batch;
  iter->PrepareSeek(&internal_key, &batch);
  batch.Wait();
  EXPECT_TRUE(iter->status().ok());
  iter->Seek(internal_key);
  ExpectGone(At(*iter));
}

TEST_F(WalkTest, PreparedSeeksThatMayNotReadSaySo) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  BlockReadOptions read;
  read.cache_only = true;
  const std::string target = IKey(NumberedKey(0), kMaxSequenceNumber);
  const Slice key(target);
  const auto seek = [&] {
    auto iter = piece->NewIterator(read);
    ReadBatch batch;
    iter->PrepareSeek(&key, &batch);
    batch.Wait();
    iter->Seek(key);
    return At(*iter);
  };
  EXPECT_EQ(seek(), "Result incomplete: data block is not in the block cache, and no file may be read");
  EXPECT_EQ(Find(*piece, NumberedKey(0), 100), NumberedKey(0) + "@1");
  EXPECT_EQ(seek(), NumberedKey(0) + "@1");
}

TEST_F(WalkTest, FootersThatChangeBehindAnOpenPieceAreNoticed) {
  Build(NumberedRecords(100));
  NewFileCache(100);
  const auto piece = OpenPiece(meta_);
  std::string file = ReadFile(1);
  file[file.size() - 30] ^= 1;
  WriteFile(1, file);
  CollectedProperties collected;
  ExpectCorruption(piece->ReadCollected(&collected), "footer fails its checksum");
  ExpectCorruption(piece->Verify(), "footer fails its checksum");
}

// --- slot and hash order ---

class HashedWalkTest : public WalkTest, public ::testing::WithParamInterface<DataOrder> {
 protected:
  HashedWalkTest() { build_.data_order = GetParam(); }
  RecordPlace PlaceOf(uint64_t position) {
    RecordPlace place;
    EditPage(meta_, position / OrderPage::kKeys,
             [&](PageParts* page) { place = page->places[position % OrderPage::kKeys]; });
    return place;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, HashedWalkTest, ::testing::Values(DataOrder::kSlot, DataOrder::kHash),
                         [](const auto& order) { return order.param == DataOrder::kSlot ? "Slot" : "Hash"; });

TEST_P(HashedWalkTest, DamageBehindAKeysNewestRecordIsNotItsEnd) {
  auto records = NumberedRecords(100);
  records.push_back({NumberedKey(198), 1000, kTypeValue, "newer"});
  Build(records);
  const RecordPlace last = PlaceOf(99);
  EXPECT_EQ(SeekForPrev(*OpenPiece(meta_), "z", 1), NumberedKey(198) + "@100");
  DamageRecordOfBlock(meta_, last.block, last.index + 1);
  const auto piece = OpenPiece(meta_);
  const std::string error = BlockError(last.block, "malformed record");
  EXPECT_EQ(SeekForPrev(*piece, "z", 1), error);
  EXPECT_EQ(Backward(*piece).records, 0u);
  EXPECT_EQ(Backward(*piece).status, error);
  EXPECT_EQ(Seek(*piece, NumberedKey(198), 1000), NumberedKey(198) + "@1000");
  EXPECT_EQ(Seek(*piece, NumberedKey(198), 999), error);
  EXPECT_EQ(SeekForPrev(*piece, NumberedKey(198), 999), error);
}

TEST_P(HashedWalkTest, PlacesMustBeInBlocksThatExist) {
  Build(NumberedRecords(300));
  const uint32_t blocks = static_cast<uint32_t>(meta_.num_blocks);
  ASSERT_EQ(WidthFor(blocks), WidthFor(blocks + 1));  // else it could not be written
  const std::string good = ReadFile(last_number_);
  const std::string error = ": the reverse index names data block " + std::to_string(blocks) + ", which does not exist or is empty";
  EditPage(meta_, 0, [&](PageParts* page) { page->places[299].block = blocks; });
  auto piece = OpenPiece(meta_);
  EXPECT_NE(Backward(*piece).status.find(error), std::string::npos);
  EXPECT_EQ(Backward(*piece).records, 0u);
  BlockReadOptions ahead;
  ahead.readahead_bytes = 1 << 20;
  EXPECT_EQ(Forward(*piece, ahead).records, 299u);
  EXPECT_NE(Forward(*piece, ahead).status.find(error), std::string::npos);
  WriteFile(last_number_, good);
  EXPECT_EQ(Forward(*OpenPiece(meta_), ahead).records, 300u);
}

TEST_P(HashedWalkTest, PlacesMustNotBeInEmptyBlocks) {
  if (GetParam() == DataOrder::kHash) return;  // which has none
  auto records = NumberedRecords(1200);
  for (TestRecord& r : records) r.value.assign(1000, 'v');
  Build(records);
  auto piece = OpenPiece(meta_);
  uint32_t empty = 0;
  while (empty < meta_.num_blocks && piece->resident()->BlockLength(empty) > 0) ++empty;
  ASSERT_LT(empty, meta_.num_blocks);
  EditPage(meta_, 0, [&](PageParts* page) { page->places[200].block = empty; });
  piece = OpenPiece(meta_);
  BlockReadOptions ahead;
  ahead.readahead_bytes = 1 << 20;
  EXPECT_EQ(Forward(*piece, ahead).records, 200u);
  EXPECT_NE(Forward(*piece, ahead).status.find("the reverse index names data block " + std::to_string(empty) +
                                               ", which does not exist or is empty"),
            std::string::npos);
  EXPECT_EQ(Forward(*piece).records, 200u);
}

TEST_P(HashedWalkTest, SearchesWithoutDifferencesMeetDamage) {
  LengthFirstComparator length_first;
  UseComparator(&length_first);
  Build(NumberedRecords(64));
  const RecordPlace middle = PlaceOf(32);  // where a search of 64 keys begins
  DamageRecordOfBlock(meta_, middle.block, middle.index);
  const auto piece = OpenPiece(meta_);
  EXPECT_EQ(Seek(*piece, NumberedKey(1), 1), BlockError(middle.block, "malformed record"));
  EXPECT_EQ(SeekForPrev(*piece, NumberedKey(1), 1), BlockError(middle.block, "malformed record"));
}

TEST_P(HashedWalkTest, EndsAtADamagedPage) {
  Build(NumberedRecords(2000));
  auto piece = OpenPiece(meta_);
  const PieceRange page = piece->resident()->hashed_index().Page(1);
  WritePayload(meta_, page, std::string("\1\0\0\0\0\0\0\0\0\0", 10));  // one record, and that empty
  piece = OpenPiece(meta_);
  const std::string error = "Corruption: " + PathOf(last_number_) + ": offset " +
                            std::to_string(meta_.extent.offset + page.offset) + ": malformed page of the reverse index";
  for (const size_t readahead : {0, 1 << 20}) {
    BlockReadOptions read;
    read.readahead_bytes = readahead;
    const Walked walked = Forward(*piece, read);
    EXPECT_EQ(walked.records, OrderPage::kKeys);
    EXPECT_EQ(walked.status, error);
    EXPECT_EQ(Backward(*piece, read).records, 0u);
    EXPECT_EQ(Backward(*piece, read).status, error);
  }
  EXPECT_EQ(piece->Verify().ToString(), error);
}

TEST_P(HashedWalkTest, ContinuesBehindItsBound) {
  Build(NumberedRecords(1000));
  const auto piece = OpenPiece(meta_);
  const std::string bound = NumberedKey(20);
  const Slice upper(bound);
  BlockReadOptions read;
  read.upper_bound = &upper;
  EXPECT_EQ(Forward(*piece, read).records, 1000u);
}

TEST_P(HashedWalkTest, ReadsLargePiecesInSeveralParts) {
  build_.block_size = 64 << 10;
  auto records = NumberedRecords(2500);
  for (TestRecord& r : records) r.value.assign(1000, 'v');
  Build(records);
  ASSERT_GT(meta_.data_bytes, 2u << 20);
  BlockReadOptions read;
  read.whole_piece = true;
  const Walked walked = Forward(*OpenPiece(meta_), read);
  EXPECT_EQ(walked.status, "OK");
  EXPECT_EQ(walked.records, 2500u);
}

TEST_P(HashedWalkTest, BlocksThatEndBeforeTheyBeginAreEmpty) {
  Build(NumberedRecords(300));
  auto piece = OpenPiece(meta_);
  const auto blocks = static_cast<uint32_t>(meta_.num_blocks);
  const uint32_t first = PlaceOf(0).block;
  std::vector<uint64_t> offsets;
  for (uint32_t b = 0; b <= blocks; ++b) offsets.push_back(piece->resident()->BlockOffset(b));
  PieceParts parts = ReadParts(meta_);
  Slice section = parts.section(PieceSection::kHashedIndex);
  section.remove_prefix(2);
  uint32_t page_length = 0;
  BlockOffsets encoded;
  ASSERT_TRUE(GetVarint32(&section, &page_length));
  ASSERT_TRUE(BlockOffsets::Parse(&section, blocks, meta_.data_bytes, &encoded));
  offsets[0] = offsets[blocks / 2];
  std::string forged;
  ASSERT_TRUE(HashedIndex::Encode(offsets, piece->resident()->hashed_index().widths(), page_length, section.ToString(), &forged));
  parts.section(PieceSection::kHashedIndex) = forged;
  WriteParts(std::move(parts), &meta_);
  piece = OpenPiece(meta_);
  ASSERT_EQ(piece->resident()->BlockOffset(0), offsets[0]);
  ASSERT_EQ(piece->resident()->BlockLength(0), 0u);
  for (const bool whole : {true, false}) {
    BlockReadOptions read;
    read.whole_piece = whole;
    const Walked walked = Forward(*piece, read);
    EXPECT_EQ(walked.records == 0, first == 0);
    EXPECT_NE(walked.status.find("the reverse index names data block 0, which does not exist or is empty"), std::string::npos)
        << walked.status;
  }
}

TEST_P(HashedWalkTest, FilesThatAreGoneAreErrors) {
  for (const bool whole : {false, true}) {
    Build(NumberedRecords(1000));
    NewFileCache(100);
    const auto piece = OpenPiece(meta_);
    BlockReadOptions read;
    read.readahead_bytes = 1 << 20;
    read.whole_piece = whole;
    auto iter = piece->NewIterator(read);
    iter->SeekToFirst();
    EXPECT_EQ(At(*iter), NumberedKey(0) + "@1");
    DeleteFileOf(meta_);
    iter->Next();
    ExpectGone(At(*iter));
    ExpectGone(piece->Verify().ToString());
    ExpectGone(Seek(*piece, NumberedKey(0), 1));
  }
}

TEST_P(HashedWalkTest, BlocksOfABatchServeWalks) {
  Build(NumberedRecords(100));
  const RecordPlace first = PlaceOf(0);
  for (const bool damaged : {false, true}) {
    if (damaged) DamageHeader(first.block);
    const auto piece = OpenPiece(meta_);
    PieceRef ref;
    ASSERT_OK(piece->Open({}, &ref));
    BlockSet blocks;
    blocks.Want(std::move(ref), first.block);
    blocks.Load({});
    SeekCounter seeks;
    BlockReadOptions read;
    read.blocks = &blocks;
    read.seeks = &seeks;
    auto iter = piece->NewIterator(read);
    iter->SeekToFirst();
    EXPECT_EQ(At(*iter), damaged ? HeaderError(first.block) : NumberedKey(0) + "@1");
    EXPECT_EQ(seeks.from_cache, damaged ? 0u : 1u);
  }
}

// --- files ---

TEST_F(WalkTest, FinishedFilesTakeNoMore) {
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(7), 7, 1, FileOptions(), &file));
  ASSERT_OK(file->Append("x"));
  ASSERT_OK(file->Finish());
  EXPECT_EQ(file->Append("y").ToString(), "Invalid argument: /db/000007.ph: compaction file is finished");
  EXPECT_EQ(file->Finish().ToString(), "Invalid argument: /db/000007.ph: compaction file is finished");
  std::shared_ptr<CompactionFile> opened;
  EXPECT_OK(CompactionFile::OpenUnchecked(&fs_, PathOf(7), 7, 1, FileOptions(), &opened));
  EXPECT_EQ(opened->size(), 37u);
  EXPECT_NE(CompactionFile::OpenUnchecked(&fs_, PathOf(8), 8, 1, FileOptions(), &opened).ToString().find("No such file"),
            std::string::npos);
  EXPECT_EQ(opened, nullptr);
}

TEST_F(WalkTest, FilesAreScarceWhenHalfOfThemAreOpen) {
  NewFileCache(4);
  std::shared_ptr<CompactionFile> file;
  for (uint64_t i = 1; i <= 3; ++i) {
    Build(NumberedRecords(1));
    ASSERT_OK(files_->Get(i, &file));
    EXPECT_EQ(files_->scarce(), i >= 2);
  }
  files_->SetLimits(0);
  EXPECT_TRUE(files_->MayHold());
  EXPECT_FALSE(files_->scarce());
  files_->SetLimits(2);
  EXPECT_TRUE(files_->scarce());
  files_->SetLimits(10);
  EXPECT_FALSE(files_->scarce());
}

}  // namespace
}  // namespace compassdb
