// SPDX-License-Identifier: Apache-2.0
// Pieces whose parts contradict each other though every checksum is right.
#include "table/piece/piece_reader.h"
#include "table/piece/piece_salvage.h"
#include "table/table_forge.h"

namespace compassdb {
namespace {

class ForgedPieceTest : public ForgeTest {
 protected:
  Status Verify() const { return Piece(Context(), meta_, IndexMode::kResident).Verify(); }
  // With the number of a part of the footer and the manifest changed.
  Status VerifyWith(uint64_t PieceFooter::* count, uint64_t change) {
    PieceParts parts = ReadParts(meta_);
    parts.footer.*count += change;
    WriteParts(std::move(parts), &meta_);
    return Verify();
  }
};

TEST_F(ForgedPieceTest, WhatWasOnlyTakenApartVerifies) {
  Build(NumberedRecords(100), {{"a", "b", 7}});
  const std::string good = ReadFile(last_number_);
  WriteParts(ReadParts(meta_), &meta_);
  EXPECT_EQ(ReadFile(last_number_), good);
  EXPECT_OK(Verify());
}

// A later release's footer has other fields under the checksum that all versions have: it is not damage.
TEST_F(ForgedPieceTest, AFooterOfALaterVersionIsNotDamage) {
  Build(NumberedRecords(100));
  const std::string good = ReadFile(last_number_);
  const uint64_t end = meta_.extent.offset + meta_.extent.length;
  bool newer = true;
  ASSERT_OK(IsOfNewerVersion(*Context(), meta_, &newer));
  EXPECT_FALSE(newer);
  for (const uint32_t version : {7u, 1000u}) {
    for (const size_t fields : {64, 128, 136, 400, 1008}) {
      std::string file = good;
      const uint64_t place = end - 16 - fields;
      for (size_t i = 0; i < fields; ++i) file[place + i] = static_cast<char>(i * 7);
      std::string tail;
      constexpr auto kFooter = static_cast<PieceSection>(100);
      PutFixed32(&tail, Checksum32(Slice(file.data() + place, fields), SectionContext(kFooter, meta_.file_id, place)));
      PutFixed32(&tail, version);
      file.replace(end - 16, 8, tail);
      WriteFile(last_number_, file);
      EXPECT_TRUE(TryOpenPiece(meta_).IsNotSupported());
      ASSERT_OK(IsOfNewerVersion(*Context(), meta_, &newer));
      EXPECT_TRUE(newer) << version << " " << fields;
      file[place + fields / 2] ^= 1;
      WriteFile(last_number_, file);
      ASSERT_OK(IsOfNewerVersion(*Context(), meta_, &newer));
      EXPECT_FALSE(newer) << version << " " << fields;
      EXPECT_TRUE(TryOpenPiece(meta_).IsCorruption()) << version << " " << fields;
    }
  }
}

// No checksum covers it. A flipped bit makes it one of no release so far, or another one of those that are known.
TEST_F(ForgedPieceTest, AFlippedBitOfTheVersionIsDamage) {
  Build(NumberedRecords(100));
  const std::string good = ReadFile(last_number_);
  const uint64_t end = meta_.extent.offset + meta_.extent.length;
  for (size_t bit = 0; bit < 32; ++bit) {
    std::string file = good;
    file[end - 12 + bit / 8] ^= static_cast<char>(1 << bit % 8);
    WriteFile(last_number_, file);
    const Status s = TryOpenPiece(meta_);
    EXPECT_TRUE(s.IsCorruption()) << bit << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("footer fails its checksum"), std::string::npos) << s.ToString();
  }
}

TEST_F(ForgedPieceTest, CountsMustBeThoseOfTheBlocks) {
  build_.hash_list = false;
  Build(NumberedRecords(100));
  ExpectCorruption(VerifyWith(&PieceFooter::num_keys, 1), "holds 100 records of 100 keys, the footer counts 100 of 101");
  ExpectCorruption(VerifyWith(&PieceFooter::num_records, 1), "holds 100 records of 100 keys, the footer counts 101 of 101");
  Build(NumberedRecords(100));
  ExpectCorruption(VerifyWith(&PieceFooter::num_records, 1), "holds 100 records of 100 keys, the footer counts 101 of 100");
}

TEST_F(ForgedPieceTest, TheLargestKeyMustBeTheLastRecords) {
  Build(NumberedRecords(100));
  meta_.largest = Slice("zzz");
  WriteProperties(meta_);
  ExpectCorruption(Verify(), "largest key is not the last record's");
}

TEST_F(ForgedPieceTest, SeparatorsMustKnowWhereAKeyContinues) {
  Build(NumberedRecords(100));
  const TestRecord last = BlockRecords(meta_, 0).back();
  auto records = BlockRecords(meta_, 1);
  records[0] = {last.key, last.seq - 1, kTypeValue, ""};
  WriteBlock(meta_, 1, records);
  ExpectCorruption(Verify(), "data block 1 at offset");
  ExpectCorruption(Verify(), "the separators are wrong about the key that it starts with");
}

TEST_F(ForgedPieceTest, ABlockWhoseFirstRecordIsMalformedFailsVerification) {
  Build(NumberedRecords(100));
  DamageRecordOfBlock(meta_, 1, 0);
  ExpectCorruption(Verify(), "data block 1 at offset");
  ExpectCorruption(Verify(), "malformed record");
}

TEST_F(ForgedPieceTest, RecordsMustBeInOrder) {
  build_.hash_list = false;  // which would know it first
  Build(NumberedRecords(100));
  auto records = BlockRecords(meta_, 0);
  std::swap(records[2], records[3]);
  WriteBlock(meta_, 0, records);
  ExpectCorruption(Verify(), "key 'key00000004' is out of order");
  // The versions of a key, too.
  auto versions = NumberedRecords(100);
  versions.push_back({NumberedKey(4), 77, kTypeValue, "newer"});
  Build(versions);
  records = BlockRecords(meta_, 0);
  std::swap(records[2], records[3]);
  WriteBlock(meta_, 0, records);
  ExpectCorruption(Verify(), "key 'key00000004' is out of order");
}

TEST_F(ForgedPieceTest, SequencesMustLieWithinTheManifestsBounds) {
  Build(NumberedRecords(100));
  meta_.smallest_seq = 2;
  ExpectCorruption(Verify(), "key 'key00000000' has a sequence outside of the piece's bounds");
  meta_.smallest_seq = 1;
  meta_.largest_seq = 99;
  ExpectCorruption(Verify(), "key 'key00000198' has a sequence outside of the piece's bounds");
}

TEST_F(ForgedPieceTest, TheHashListMustHaveEveryKey) {
  Build(NumberedRecords(100));
  PieceParts parts = ReadParts(meta_);
  PieceHashes shorter = hashes_;
  shorter.h1.pop_back();
  shorter.h2.pop_back();
  shorter.flags.pop_back();
  parts.section(PieceSection::kHashes) = EncodeHashes(shorter);
  --parts.footer.num_keys;
  WriteParts(std::move(parts), &meta_);
  ExpectCorruption(Verify(), "key 'key00000198' is not in the hash list");
}

TEST_F(ForgedPieceTest, TheHashListMustKnowMergeOperands) {
  auto records = NumberedRecords(100);
  records[7].type = kTypeMerge;
  Build(records);
  EXPECT_OK(Verify());
  for (const size_t key : {7, 8}) {
    PieceParts parts = ReadParts(meta_);
    PieceHashes wrong = hashes_;
    wrong.flags[key] ^= PieceHashes::kMerge;
    parts.section(PieceSection::kHashes) = EncodeHashes(wrong);
    WriteParts(std::move(parts), &meta_);
    ExpectCorruption(Verify(), "has a wrong merge flag in the hash list");
    ExpectCorruption(Verify(), NumberedKey(key * 2));
  }
}

TEST_F(ForgedPieceTest, AFilterThatLacksAKeyIsFoundByVerify) {
  UseFilter(20000);
  Build({{"another", 1, kTypeValue, "v"}});
  const std::string other = ReadParts(meta_).section(PieceSection::kFilter);
  Build(NumberedRecords(100));
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kFilter) = other;
  WriteParts(std::move(parts), &meta_);
  ExpectCorruption(Verify(), "is not in the filter");
}

// --- what Open compares ---

TEST_F(ForgedPieceTest, TheManifestMustAgreeWithTheFooterAboutEveryNumber) {
  Build(NumberedRecords(100), {{"a", "b", 7}});
  ASSERT_OK(TryOpenPiece(meta_));
  for (uint64_t PieceMeta::* number :
       {&PieceMeta::piece_id, &PieceMeta::num_blocks, &PieceMeta::num_records, &PieceMeta::num_keys, &PieceMeta::data_bytes,
        &PieceMeta::hash_seed, &PieceMeta::num_range_tombstones}) {
    PieceMeta wrong = meta_;
    ++(wrong.*number);
    ExpectCorruption(TryOpenPiece(wrong), "the footer and the manifest disagree");
  }
  for (CompactKey PieceMeta::* key : {&PieceMeta::smallest, &PieceMeta::largest}) {
    PieceMeta wrong = meta_;
    wrong.*key = Slice("key");
    ExpectCorruption(TryOpenPiece(wrong), "the properties and the manifest disagree about key bounds");
  }
  PieceMeta wrong = meta_;
  wrong.extent.length = PieceFooter::kLeastBytes - 1;
  ExpectCorruption(TryOpenPiece(wrong), "is too short for a footer");
}

TEST_F(ForgedPieceTest, KeyOrderHasNoReverseIndex) {
  Build(NumberedRecords(100));
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kHashedIndex) = "x";
  WriteParts(parts, &meta_);
  ExpectCorruption(TryOpenPiece(meta_), "a piece in key order with a reverse index");
  parts.section(PieceSection::kHashedIndex).clear();
  parts.pages = "x";
  WriteParts(parts, &meta_);
  ExpectCorruption(TryOpenPiece(meta_), "a piece in key order with a reverse index");
}

TEST_F(ForgedPieceTest, TombstonesMustBeCounted) {
  Build(NumberedRecords(10), {{"a", "b", 7}});
  PieceParts parts = ReadParts(meta_);
  parts.footer.num_range_tombstones = 0;
  WriteParts(parts, &meta_);
  ExpectCorruption(TryOpenPiece(meta_), "range tombstones: the footer counts 0, found 1");
  parts.footer.num_range_tombstones = 2;
  WriteParts(parts, &meta_);
  ExpectCorruption(TryOpenPiece(meta_), "range tombstones: the footer counts 2, found 1");
}

TEST_F(ForgedPieceTest, AMalformedFilterIsRefused) {
  Build(NumberedRecords(10));
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kFilter) = "\xff";
  WriteParts(parts, &meta_);
  EXPECT_OK(TryOpenPiece(meta_));  // nothing reads it
  options_.filters = true;
  ExpectCorruption(TryOpenPiece(meta_), "the filter is malformed");
}

TEST_F(ForgedPieceTest, VersionsSayWhetherThereIsAHashList) {
  UseFilter(20000);
  for (const bool list : {true, false}) {
    build_.hash_list = list;
    Build(NumberedRecords(10));
    ASSERT_OK(TryOpenPiece(meta_));
    EXPECT_EQ(ReadParts(meta_).footer.without_hashes(), !list);
    std::string file = ReadFile(last_number_);
    file[file.size() - 12] ^= 5 ^ 6;  // not under the checksum
    WriteFile(last_number_, file);
    ExpectCorruption(TryOpenPiece(meta_), "footer: the version is wrong about the hash list");
  }
}

TEST_F(ForgedPieceTest, RecordsAreInAnOrderThatIsKnown) {
  Build(NumberedRecords(10));
  PieceParts parts = ReadParts(meta_);
  parts.footer.data_order = 3;
  WriteParts(parts, &meta_);
  ExpectCorruption(TryOpenPiece(meta_), "footer: unknown order of records");
}

// --- sections by themselves ---

TEST(PieceSections, AreLongerThanTheirChecksum) {
  Slice bytes;
  const Status s = OpenSection(PieceSection::kProperties, 1, 36, "abc", "piece", &bytes);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("properties at offset 36: cut off"), std::string::npos) << s.ToString();
}

TEST(PieceSections, TombstonesHaveSequencesAndTimes) {
  std::vector<RangeTombstone> read;
  std::string bytes;
  PutLengthPrefixedSlice(&bytes, "a");
  PutLengthPrefixedSlice(&bytes, "c");
  std::string past = bytes;
  PutVarint64(&past, kMaxSequenceNumber + 1);
  EXPECT_EQ(DecodeTombstones(past, 1, 0, "piece", &read).ToString(), "Corruption: piece: range tombstones are malformed");
  PutVarint64(&bytes, kMaxSequenceNumber);
  ASSERT_TRUE(DecodeTombstones(bytes, 1, 0, "piece", &read).ok());
  EXPECT_EQ(read[0].sequence, kMaxSequenceNumber);
  // The end lacks its time.
  bytes.clear();
  PutLengthPrefixedSlice(&bytes, "a" + std::string(8, '\1'));
  PutLengthPrefixedSlice(&bytes, "c");
  PutVarint64(&bytes, 5);
  EXPECT_EQ(DecodeTombstones(bytes, 1, 8, "piece", &read).ToString(), "Corruption: piece: range tombstones are malformed");
}

TEST(PieceSections, PropertiesAreTagsWithValues) {
  PieceMeta meta;
  std::string name;
  const auto error = [&](const std::string& bytes) { return DecodeProperties(bytes, "piece", &meta, &name).ToString(); };
  EXPECT_EQ(error("\xff"), "Corruption: piece: properties are malformed");                 // no tag
  EXPECT_EQ(error(std::string("\1\5abc", 5)), "Corruption: piece: properties are malformed");  // no value
  EXPECT_EQ(error(std::string("\2\1\xff", 3)), "Corruption: piece: properties: a number is malformed");
  EXPECT_EQ(error(std::string("\77\1x\1\2me", 7)), "OK");  // an unknown tag
  EXPECT_EQ(name, "me");
  // Properties without a collector have no owner.
  EXPECT_EQ(error(std::string("\13\1a\14\1b", 6)), "OK");
  EXPECT_EQ(meta.collected, nullptr);
}

// --- slot and hash order ---

class ForgedHashedPieceTest : public ForgedPieceTest, public ::testing::WithParamInterface<DataOrder> {
 protected:
  ForgedHashedPieceTest() { build_.data_order = GetParam(); }
  // The first block with at least this number of records.
  uint32_t BlockWith(size_t records) {
    const auto piece = OpenPiece(meta_);
    for (uint32_t b = 0; b < meta_.num_blocks; ++b) {
      if (piece->resident()->BlockLength(b) > 0 && BlockRecords(meta_, b).size() >= records) return b;
    }
    ADD_FAILURE() << "no block with " << records << " records";
    return 0;
  }
  void WriteHashes(const PieceHashes& hashes) {
    PieceParts parts = ReadParts(meta_);
    parts.section(PieceSection::kHashes) = EncodeHashes(hashes);
    WriteParts(std::move(parts), &meta_);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ForgedHashedPieceTest, ::testing::Values(DataOrder::kSlot, DataOrder::kHash),
                         [](const auto& order) { return order.param == DataOrder::kSlot ? "Slot" : "Hash"; });

TEST_P(ForgedHashedPieceTest, WhatWasOnlyTakenApartVerifies) {
  Build(NumberedRecords(200));
  const std::string good = ReadFile(last_number_);
  WriteParts(ReadParts(meta_), &meta_);
  EditPage(meta_, 0, [](PageParts*) {});
  EXPECT_EQ(ReadFile(last_number_), good);
  EXPECT_OK(Verify());
}

TEST_P(ForgedHashedPieceTest, CountsMustBeThoseOfTheBlocks) {
  Build(NumberedRecords(100));
  ExpectCorruption(VerifyWith(&PieceFooter::num_records, 1),
                   "the blocks hold 100 records of 100 keys, the footer counts 101 of 100");
  Build(NumberedRecords(100));
  PieceHashes longer = hashes_;
  longer.h1.push_back(1);
  longer.h2.push_back(2);
  longer.flags.push_back(0);
  WriteHashes(longer);
  ExpectCorruption(VerifyWith(&PieceFooter::num_keys, 1),
                   "the blocks hold 100 records of 100 keys, the footer counts 100 of 101");
}

TEST_P(ForgedHashedPieceTest, RecordsOfABlockMustBeInOrder) {
  Build(NumberedRecords(100));
  uint32_t block = BlockWith(2);
  auto records = BlockRecords(meta_, block);
  std::swap(records[0], records[1]);
  WriteBlock(meta_, block, records);
  ExpectCorruption(Verify(), "key '" + records[1].key + "' is out of order");
  // The versions of a key, too.
  auto versions = NumberedRecords(100);
  for (uint64_t i = 0; i < 100; ++i) versions.push_back({NumberedKey(i * 2), i + 1000, kTypeValue, "newer"});
  Build(versions);
  block = BlockWith(2);
  records = BlockRecords(meta_, block);
  std::swap(records[0], records[1]);
  WriteBlock(meta_, block, records);
  ExpectCorruption(Verify(), "key '" + records[1].key + "' is out of order");
}

TEST_P(ForgedHashedPieceTest, AMalformedRecordFailsVerification) {
  Build(NumberedRecords(100));
  DamageRecordOfBlock(meta_, BlockWith(2), 1);
  ExpectCorruption(Verify(), "malformed record");
}

TEST_P(ForgedHashedPieceTest, SequencesMustLieWithinTheManifestsBounds) {
  Build(NumberedRecords(100));
  meta_.smallest_seq = 2;
  ExpectCorruption(Verify(), "key 'key00000000' has a sequence outside of the piece's bounds");
  meta_.smallest_seq = 1;
  meta_.largest_seq = 99;
  ExpectCorruption(Verify(), "key 'key00000198' has a sequence outside of the piece's bounds");
}

TEST_P(ForgedHashedPieceTest, KeysMustLieInTheBlocksOfTheirHashes) {
  Build(NumberedRecords(100));
  const uint32_t block = BlockWith(1);
  auto records = BlockRecords(meta_, block);
  const auto piece = OpenPiece(meta_);
  TestRecord other = records.back();
  for (uint64_t i = 200;; ++i) {  // behind all others of the block
    other.key = NumberedKey(i);
    if (piece->resident()->SeekBlock(other.key) != block) break;
  }
  records.back() = other;
  WriteBlock(meta_, block, records);
  ExpectCorruption(Verify(), "key '" + other.key + "' belongs into another block by its hash");
}

TEST_P(ForgedHashedPieceTest, TheHashListMustBeTheKeys) {
  Build(NumberedRecords(100));
  PieceHashes wrong = hashes_;
  wrong.h1[3] ^= 1;
  WriteHashes(wrong);
  ExpectCorruption(Verify(), "its keys are not those of the hash list");
  wrong = hashes_;
  wrong.h2[3] ^= uint64_t{1} << 40;
  WriteHashes(wrong);
  ExpectCorruption(Verify(), "its keys are not those of the hash list");
  wrong = hashes_;
  wrong.flags[3] ^= PieceHashes::kMerge;
  WriteHashes(wrong);
  ExpectCorruption(Verify(), "its keys are not those of the hash list");
  WriteHashes(hashes_);
  EXPECT_OK(Verify());
  PieceParts parts = ReadParts(meta_);
  wrong = hashes_;
  wrong.h1.pop_back();
  wrong.h2.pop_back();
  wrong.flags.pop_back();
  parts.section(PieceSection::kHashes) = EncodeHashes(wrong);
  --parts.footer.num_keys;
  WriteParts(std::move(parts), &meta_);
  ExpectCorruption(Verify(), "its keys are not those of the hash list");
}

TEST_P(ForgedHashedPieceTest, BoundsMustBeTheFirstAndTheLastOfTheReverseIndex) {
  Build(NumberedRecords(100));
  const PieceMeta good = meta_;
  meta_.smallest = Slice("a");
  WriteProperties(meta_);
  ExpectCorruption(Verify(), "smallest key is not the reverse index's first");
  meta_ = good;
  meta_.largest = Slice("z");
  WriteProperties(meta_);
  ExpectCorruption(Verify(), "largest key is not the reverse index's last");
}

TEST_P(ForgedHashedPieceTest, SeparatorsMustBeOfTheGroups) {
  auto others = NumberedRecords(200);
  for (TestRecord& r : others) r.key = "other" + r.key;
  Build(others);
  const std::string separators = ReadParts(meta_).section(PieceSection::kSeparators);
  Build(NumberedRecords(200));
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kSeparators) = separators;
  WriteParts(std::move(parts), &meta_);
  ExpectCorruption(Verify(), "key 'key00000128' belongs into another group by the separators");
}

TEST_P(ForgedHashedPieceTest, AFilterThatLacksAKeyIsFoundByVerify) {
  UseFilter(20000);
  Build({{"another", 1, kTypeValue, "v"}});
  const std::string other = ReadParts(meta_).section(PieceSection::kFilter);
  Build(NumberedRecords(100));
  EXPECT_OK(Verify());
  PieceParts parts = ReadParts(meta_);
  parts.section(PieceSection::kFilter) = other;
  WriteParts(std::move(parts), &meta_);
  ExpectCorruption(Verify(), "is not in the filter");
}

TEST_P(ForgedHashedPieceTest, TheReverseIndexMustSeparateKeys) {
  Build(NumberedRecords(100));
  EditPage(meta_, 0, [](PageParts* page) { ++page->differences[50]; });
  ExpectCorruption(Verify(), "the reverse index is wrong about what separates key 'key00000100' from the one before");
}

TEST_P(ForgedHashedPieceTest, TheReverseIndexMustReachEveryKeyOnce) {
  Build(NumberedRecords(100));
  EditPage(meta_, 0, [](PageParts* page) { page->places[99] = page->places[98]; });
  ExpectCorruption(Verify(), "the reverse index reaches 100 records of 99 keys, the footer counts 100 of 100");
}

TEST_P(ForgedHashedPieceTest, TheReverseIndexMustReachEveryRecord) {
  auto records = NumberedRecords(100);
  records.push_back({NumberedKey(198), 1000, kTypeValue, "newer"});
  Build(records);
  EditPage(meta_, 0, [](PageParts* page) { ++page->places[99].index; });
  ExpectCorruption(Verify(), "the reverse index reaches 100 records of 100 keys, the footer counts 101 of 100");
}

TEST_P(ForgedHashedPieceTest, TheReverseIndexMustBeInOrder) {
  LengthFirstComparator length_first;  // no differences
  UseComparator(&length_first);
  Build(NumberedRecords(100));
  EditPage(meta_, 0, [](PageParts* page) { std::swap(page->places[50], page->places[51]); });
  ExpectCorruption(Verify(), "key 'key00000100' is out of order in the reverse index");
}

}  // namespace
}  // namespace compassdb
