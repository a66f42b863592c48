// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece.h"

#include "rocksdb/perf_context.h"
#include "table/piece/piece_reader.h"
#include "table/table_test_util.h"
#include "util/compression.h"

namespace compassdb {
namespace {

class PieceTest : public TableTest {
 protected:
  std::vector<TestRecord> Keys(uint64_t n, size_t value_size = 20) {
    std::vector<TestRecord> out;
    for (uint64_t i = 0; i < n; ++i) {
      out.push_back({NumberedKey(i * 2), i + 1, kTypeValue, rnd_.Text(value_size)});
    }
    return out;
  }
  // Builds, opens, verifies and reads back.
  std::shared_ptr<Piece> RoundTrip(std::vector<TestRecord> records,
                                   const std::vector<RangeTombstone>& tombstones = {}) {
    Status s = BuildPiece(records, tombstones, &meta_, &hashes_);
    EXPECT_TRUE(s.ok()) << s.ToString();
    auto piece = OpenPiece(meta_);
    if (piece == nullptr) return nullptr;
    EXPECT_OK(piece->Verify());
    Sort(&records);
    std::vector<TestRecord> read;
    EXPECT_OK(Dump(*piece, &read));
    EXPECT_TRUE(read == records);
    PieceHashes stored;
    EXPECT_OK(piece->ReadHashes(&stored));
    EXPECT_EQ(stored.h1, hashes_.h1);
    EXPECT_EQ(stored.h2, hashes_.h2);
    EXPECT_EQ(stored.flags, hashes_.flags);
    return piece;
  }

  Random rnd_{301};
  PieceMeta meta_;
  PieceHashes hashes_;
};

TEST_F(PieceTest, RoundTripAtOddSizes) {
  for (size_t block_size : {1, 100, 4096, 1 << 20}) {
    build_.block_size = block_size;
    for (uint64_t n : {0, 1, 2, 3, 100, 1000}) RoundTrip(Keys(n));
  }
}

TEST_F(PieceTest, BlocksTakeTheRecordThatFillsThem) {
  std::vector<TestRecord> records;
  for (int i = 0; i < 12; ++i) {
    records.push_back({"key" + std::to_string(100 + i), 1, kTypeValue, rnd_.Bytes(300)});
  }
  build_.block_size = 1000;
  build_.block_size_deviation = 5;  // three of them are 92 % of it
  RoundTrip(records);
  EXPECT_EQ(meta_.num_blocks, 3u);
  build_.block_size_deviation = 10;
  RoundTrip(records);
  EXPECT_EQ(meta_.num_blocks, 4u);
  build_.block_size_deviation = 0;
  RoundTrip(records);
  EXPECT_EQ(meta_.num_blocks, 3u);
}

TEST_F(PieceTest, OddRecords) {
  std::vector<TestRecord> records = {{"", 5, kTypeValue, ""},
                                     {"", 4, kTypeDeletion, ""},
                                     {std::string(3, '\0'), 3, kTypeValue, rnd_.Bytes(1 << 20)},
                                     {std::string(100000, 'k'), 9, kTypeMerge, "m"},
                                     {std::string(100000, 'k') + "x", 1, kTypeSingleDeletion, ""}};
  auto piece = RoundTrip(records);
  FoundRecord found;
  ASSERT_OK(piece->Find({}, "", 100, &found));
  EXPECT_TRUE(found.found && found.newest && found.value.empty());
  EXPECT_EQ(meta_.num_deletions, 2u);
  EXPECT_EQ(meta_.num_merges, 1u);
  EXPECT_EQ(meta_.smallest, "");
  EXPECT_EQ(meta_.largest, std::string(100000, 'k') + "x");
  EXPECT_EQ(meta_.smallest_seq, 1u);
  EXPECT_EQ(meta_.largest_seq, 9u);
}

TEST_F(PieceTest, EveryCompressionTypeRoundTrips) {
  for (auto type : {rocksdb::kNoCompression, rocksdb::kSnappyCompression, rocksdb::kLZ4Compression,
                    rocksdb::kLZ4HCCompression, rocksdb::kZSTD}) {
    if (!CompressionTypeSupported(type)) continue;
    build_.compression = type;
    auto records = Keys(500);
    for (auto& r : records) r.value.assign(100, 'c');
    RoundTrip(records);
    if (type != rocksdb::kNoCompression) {
      EXPECT_LT(meta_.data_bytes, meta_.raw_bytes / 2) << CompressionTypeName(type);
    }
    records = Keys(100);
    for (auto& r : records) r.value = rnd_.Bytes(400);  // does not compress: kept raw
    RoundTrip(records);
  }
}

TEST_F(PieceTest, FindHitsAndMisses) {
  const auto records = Keys(1000);
  auto piece = RoundTrip(records);
  EXPECT_GT(meta_.num_blocks, 10u);
  for (size_t i = 0; i < records.size(); ++i) {
    FoundRecord found;
    ASSERT_OK(piece->Find({}, records[i].key, kMaxSequenceNumber, &found));
    ASSERT_TRUE(found.found && found.newest);
    EXPECT_EQ(found.value.ToString(), records[i].value);
    const std::string absent = NumberedKey(i * 2 + 1);
    ASSERT_OK(piece->Find({}, absent, kMaxSequenceNumber, &found));
    EXPECT_FALSE(found.found);
  }
  EXPECT_EQ(piece->resident()->SeekBlock("a"), meta_.num_blocks);
  EXPECT_EQ(piece->resident()->SeekBlock("z"), meta_.num_blocks);
}

TEST_F(PieceTest, VersionsOfOneKeySpanBlocks) {
  std::vector<TestRecord> records = Keys(20);
  for (SequenceNumber seq = 1; seq <= 300; ++seq) {
    records.push_back({"key00000009x", seq * 10, kTypeValue, "v" + std::to_string(seq * 10)});
  }
  build_.block_size = 200;
  auto piece = RoundTrip(records);
  const std::string key = "key00000009x";
  for (SequenceNumber snapshot = 0; snapshot <= 3010; snapshot += 5) {
    FoundRecord found;
    ASSERT_OK(piece->Find({}, key, snapshot, &found));
    EXPECT_TRUE(found.key_present);
    ASSERT_EQ(found.found, snapshot >= 10);
    if (!found.found) continue;
    EXPECT_EQ(found.sequence, std::min<SequenceNumber>(snapshot / 10 * 10, 3000));
    EXPECT_EQ(found.newest, snapshot >= 3000);
    EXPECT_EQ(found.value.ToString(), "v" + std::to_string(found.sequence));
  }
}

TEST_F(PieceTest, IteratorAgreesWithAModel) {
  std::vector<TestRecord> records;
  for (int i = 0; i < 400; ++i) {
    const std::string key = rnd_.Text(1 + rnd_.Uniform(2));
    records.push_back({key, static_cast<SequenceNumber>(i + 1), kTypeValue, rnd_.Text(10)});
  }
  build_.block_size = 100;
  auto piece = RoundTrip(records);
  Sort(&records);
  const InternalKeyComparator icmp(options_.comparator);
  auto iter = piece->NewIterator(BlockReadOptions());
  for (int probe = 0; probe < 3000; ++probe) {
    const std::string target = IKey(rnd_.Text(rnd_.Uniform(4)), rnd_.Uniform(500), kValueTypeForSeek);
    size_t at = 0;
    while (at < records.size() &&
           icmp.Compare(IKey(records[at].key, records[at].seq), target) < 0) {
      ++at;
    }
    long position;
    if (rnd_.OneIn(2)) {
      iter->Seek(target);
      position = static_cast<long>(at);
    } else {
      iter->SeekForPrev(target);
      position = static_cast<long>(at) - 1;
    }
    for (int step = 0; step < 10; ++step) {
      const bool inside = position >= 0 && position < static_cast<long>(records.size());
      ASSERT_EQ(iter->Valid(), inside);
      if (!inside) break;
      const TestRecord& r = records[static_cast<size_t>(position)];
      ASSERT_EQ(iter->key().ToString(), IKey(r.key, r.seq));
      if (rnd_.OneIn(2)) {
        iter->Next();
        ++position;
      } else {
        iter->Prev();
        --position;
      }
    }
    ASSERT_OK(iter->status());
  }
}

TEST_F(PieceTest, CustomComparators) {
  LengthFirstComparator length_first;
  UseComparator(&length_first);
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 300; ++i) {
    records.push_back({std::to_string(i * 7919 % 100000), i + 1, kTypeValue, rnd_.Text(30)});
  }
  auto piece = RoundTrip(records);
  for (const TestRecord& r : records) {
    FoundRecord found;
    ASSERT_OK(piece->Find({}, r.key, 1000, &found));
    ASSERT_TRUE(found.found);
    EXPECT_EQ(found.value.ToString(), r.value);
  }
  UseComparator(rocksdb::BytewiseComparator());
  Status s = TryOpenPiece(meta_);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("test.LengthFirst"), std::string::npos);
}

TEST_F(PieceTest, RangeTombstonesAlone) {
  auto piece = RoundTrip({}, {{"a", "f", 7}, {"c", "z", 3}});
  ASSERT_EQ(TombstonesOf(*piece).size(), 2u);
  EXPECT_EQ(TombstonesOf(*piece)[1].end, "z");
  EXPECT_EQ(meta_.smallest_seq, 3u);
  EXPECT_EQ(meta_.largest_seq, 7u);
  EXPECT_EQ(meta_.num_blocks, 0u);
  EXPECT_EQ(piece->resident()->SeekBlock("b"), 0u);
  auto iter = piece->NewIterator(BlockReadOptions());
  iter->Seek(IKey("a", 5));
  EXPECT_FALSE(iter->Valid());
  iter->SeekForPrev(IKey("a", 5));
  EXPECT_FALSE(iter->Valid());
  iter->SeekToLast();
  EXPECT_FALSE(iter->Valid());
  EXPECT_OK(iter->status());
}

TEST_F(PieceTest, BuilderRefusesDisorder) {
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(900), 900, 1, FileOptions(), &file));
  for (int kind = 0; kind < 3; ++kind) {
    PieceBuilder builder(build_, file.get(), 1);
    EXPECT_TRUE(builder.empty());
    ASSERT_OK(builder.Add(IKey("b", 5), "v"));
    EXPECT_FALSE(builder.empty());
    Status s = kind == 0   ? builder.Add(IKey("a", 9), "v")
               : kind == 1 ? builder.Add(IKey("b", 6), "v")
                           : builder.Add("short", "v");
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_FALSE(builder.Finish(nullptr, nullptr).ok());
  }
}

TEST_F(PieceTest, StaleAndMergeFlags) {
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(901), 901, 1, FileOptions(), &file));
  PieceBuilder builder(build_, file.get(), 1);
  ASSERT_OK(builder.Add(IKey("a", 5, kTypeMerge), "v", true));
  ASSERT_OK(builder.Add(IKey("a", 4, kTypeValue), "v", false));
  ASSERT_OK(builder.Add(IKey("b", 3, kTypeValue), "v", false));
  ASSERT_OK(builder.Add(IKey("b", 2, kTypeMerge), "v", true));
  ASSERT_OK(builder.Finish(&meta_, &hashes_));
  ASSERT_OK(file->Finish());
  EXPECT_EQ(hashes_.flags, (std::vector<uint8_t>{3, 0}));
  PieceHashes stored;
  ASSERT_OK(OpenPiece(meta_)->ReadHashes(&stored));
  EXPECT_EQ(stored.flags, hashes_.flags);
}

TEST_F(PieceTest, ManyPiecesInOneFileAndFewDescriptors) {
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(902), 902, 77, FileOptions(), &file));
  std::vector<PieceMeta> metas;
  for (int p = 0; p < 10; ++p) {
    PieceBuilder builder(build_, file.get(), static_cast<uint64_t>(p));
    for (int i = 0; i < 50; ++i) {
      ASSERT_OK(builder.Add(IKey(NumberedKey(static_cast<uint64_t>(p * 100 + i)), 1), "v"));
    }
    ASSERT_OK(builder.Finish(&metas.emplace_back(), nullptr));
  }
  ASSERT_OK(file->Finish());
  for (size_t limit : {0, 1}) {
    NewFileCache(limit);
    for (int p = 0; p < 10; ++p) {
      auto piece = OpenPiece(metas[static_cast<size_t>(p)]);
      FoundRecord found;
      const std::string key = NumberedKey(static_cast<uint64_t>(p * 100 + 7));
      ASSERT_OK(piece->Find({}, key, 9, &found));
      EXPECT_TRUE(found.found);
    }
  }
}

// Reads everything that a reader can read; false if any of it failed.
bool SameContent(const std::vector<TestRecord>& expected, const PieceHashes& hashes,
                 const TableContextRef& context, const PieceMeta& meta) {
  const auto piece = std::make_shared<Piece>(context, meta, IndexMode::kResident);
  PieceRef index;
  Status s = piece->Open({}, &index);
  if (s.ok()) {
    std::vector<TestRecord> read;
    auto iter = piece->NewIterator(BlockReadOptions());
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
      read.push_back({ExtractUserKey(iter->key()).ToString(), ExtractSequence(iter->key()),
                      ExtractType(iter->key()), iter->value().ToString()});
    }
    s = iter->status();
    EXPECT_TRUE(!s.ok() || read == expected);
  }
  if (s.ok()) {
    PieceHashes stored;
    s = piece->ReadHashes(&stored);
    EXPECT_TRUE(!s.ok() || (stored.h1 == hashes.h1 && stored.h2 == hashes.h2));
  }
  if (s.ok()) return true;
  EXPECT_TRUE(s.IsCorruption() || s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find(".ph"), std::string::npos) << s.ToString();
  return false;
}

TEST_F(PieceTest, EveryFlippedBitIsCorruption) {
  build_.block_size = 64;
  build_.compression = rocksdb::kLZ4Compression;
  auto records = Keys(12, 6);
  records.push_back({"zz", 77, kTypeValue, std::string(300, 'x')});
  ASSERT_OK(BuildPiece(records, {{"a", "b", 5}}, &meta_, &hashes_));
  Sort(&records);
  const std::string good = ReadFile(last_number_);
  ASSERT_TRUE(SameContent(records, hashes_, Context(), meta_));
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << rnd_.Uniform(8)));
    WriteFile(last_number_, bad);
    EXPECT_FALSE(SameContent(records, hashes_, Context(), meta_)) << "byte " << byte;
  }
}

// Pieces of tables without a directory (format version 6).
TEST_F(PieceTest, WithoutHashList) {
  build_.hash_list = false;
  FilterOptions filter;
  filter.new_bits = [](const FilterPlace&) { return NewBloomBuilder(10000); };
  options_.filters = true;
  for (const bool filtered : {false, true}) {
    build_.filter = filtered ? &filter : nullptr;
    auto records = Keys(200);
    ASSERT_OK(BuildPiece(records, {{"a", "b", 5}}, &meta_, &hashes_));
    EXPECT_TRUE(hashes_.h1.empty());
    const auto piece = OpenPiece(meta_);
    EXPECT_OK(piece->Verify());
    Sort(&records);
    std::vector<TestRecord> read;
    EXPECT_OK(Dump(*piece, &read));
    EXPECT_TRUE(read == records);
    FoundRecord found;
    EXPECT_OK(piece->Find({}, NumberedKey(20), 1000, &found));
    EXPECT_TRUE(found.found);
    EXPECT_EQ(piece->AskFilter({}, NumberedKey(20)),
              filtered ? FilterAnswer::kPerhaps : FilterAnswer::kNotAsked);
    PieceHashes stored;
    EXPECT_TRUE(piece->ReadHashes(&stored).IsNotSupported());
    build_.hash_list = true;
    PieceMeta with;
    ASSERT_OK(BuildPiece(Keys(200), {{"a", "b", 5}}, &with, &hashes_));
    EXPECT_GE(with.extent.length, meta_.extent.length + 200 * 12);
    build_.hash_list = false;
  }
}

TEST_F(PieceTest, WithoutHashListEveryFlippedBitIsCorruption) {
  build_.hash_list = false;
  build_.block_size = 64;
  const auto records = Keys(12, 6);
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  const std::string good = ReadFile(last_number_);
  for (size_t byte = meta_.extent.offset; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << rnd_.Uniform(8)));
    WriteFile(last_number_, bad);
    const Status s = Piece(Context(), meta_, IndexMode::kResident).Verify();
    EXPECT_TRUE(s.IsCorruption() || s.IsNotSupported()) << "byte " << byte << ": " << s.ToString();
  }
  for (size_t size = 0; size < good.size(); ++size) {
    WriteFile(last_number_, good.substr(0, size));
    EXPECT_FALSE(Piece(Context(), meta_, IndexMode::kResident).Verify().ok()) << "size " << size;
  }
}

// In slot and hash order the list is part of what the order is made from.
TEST_F(PieceTest, HashedPiecesKeepTheirHashList) {
  build_.hash_list = false;
  build_.data_order = DataOrder::kHash;
  RoundTrip(Keys(100));
  EXPECT_EQ(hashes_.h1.size(), 100u);
}

TEST_F(PieceTest, EveryTruncationIsCorruption) {
  build_.block_size = 64;
  auto records = Keys(12, 6);
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  const std::string good = ReadFile(last_number_);
  for (size_t size = 0; size < good.size(); ++size) {
    WriteFile(last_number_, good.substr(0, size));
    EXPECT_FALSE(SameContent(records, hashes_, Context(), meta_)) << "size " << size;
  }
}

TEST_F(PieceTest, BlocksThatSwapPlacesAreCorruption) {
  build_.block_size = 64;
  auto records = Keys(20, 6);
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  const SeparatorIndex& index = piece->resident()->separators();
  std::string bytes = ReadFile(last_number_);
  // Two neighbours of one length.
  for (uint32_t i = 0; i + 1 < index.num_blocks(); ++i) {
    const size_t length = index.BlockLength(i);
    if (index.BlockLength(i + 1) != length) continue;
    const size_t at = meta_.extent.offset + index.BlockOffset(i);
    std::swap_ranges(bytes.begin() + static_cast<long>(at),
                     bytes.begin() + static_cast<long>(at + length),
                     bytes.begin() + static_cast<long>(at + length));
    WriteFile(last_number_, bytes);
    std::vector<TestRecord> read;
    EXPECT_TRUE(Dump(*OpenPiece(meta_), &read).IsCorruption());
    return;
  }
  FAIL() << "no two blocks of one length";
}

TEST_F(PieceTest, DamageWithoutChecksumsStaysInBounds) {
  build_.block_size = 128;
  ASSERT_OK(BuildPiece(Keys(40, 10), {}, &meta_, &hashes_));
  const std::string good = ReadFile(last_number_);
  auto piece = OpenPiece(meta_);
  BlockReadOptions read;
  read.verify_checksums = false;
  read.fill_cache = false;
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) {
      bad[meta_.extent.offset + rnd_.Uniform(meta_.data_bytes)] = static_cast<char>(rnd_.Next());
    }
    WriteFile(last_number_, bad);
    auto damaged = OpenPiece(meta_);
    auto iter = damaged->NewIterator(read);
    size_t bytes = 0;
    for (iter->SeekToFirst(); iter->Valid() && bytes < 1000000; iter->Next()) {
      bytes += iter->key().size() + iter->value().size();
    }
    FoundRecord found;
    const std::string key = NumberedKey(rnd_.Uniform(80));
    Status s = damaged->Find(read, key, 100, &found);
    EXPECT_TRUE(s.ok() || s.IsCorruption() || s.IsNotSupported()) << s.ToString();
  }
}

TEST_F(PieceTest, VerifyNamesFileAndOffset) {
  ASSERT_OK(BuildPiece(Keys(100), {}, &meta_, &hashes_));
  std::string bytes = ReadFile(last_number_);
  bytes[meta_.extent.offset + 700] ^= 1;
  WriteFile(last_number_, bytes);
  Status s = OpenPiece(meta_)->Verify();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find(PathOf(last_number_)), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("offset"), std::string::npos) << s.ToString();
}

TEST_F(PieceTest, ManifestThatDisagreesIsCorruption) {
  ASSERT_OK(BuildPiece(Keys(100), {}, &meta_, &hashes_));
  const PieceMeta good = meta_;
  const auto refused = [&](const PieceMeta& meta) { return TryOpenPiece(meta).IsCorruption(); };
  PieceMeta bad = good;
  bad.num_keys++;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.file_id++;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.extent.length++;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.extent.offset = UINT64_MAX;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.largest = Slice(bad.largest).ToString() + "x";
  EXPECT_TRUE(refused(bad));
}

TEST_F(PieceTest, CacheOnlyReadsAnswerIncomplete) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  ASSERT_OK(BuildPiece(Keys(100), {}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  BlockReadOptions cached;
  cached.cache_only = true;
  FoundRecord found;
  const std::string key = NumberedKey(20);
  EXPECT_TRUE(piece->Find(cached, key, 1000, &found).IsIncomplete());
  auto iter = piece->NewIterator(cached);
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().IsIncomplete());
  ASSERT_OK(piece->Find({}, key, 1000, &found));
  ASSERT_OK(piece->Find(cached, key, 1000, &found));
  EXPECT_TRUE(found.found);
  piece->EraseFromCache();
  EXPECT_TRUE(piece->Find(cached, key, 1000, &found).IsIncomplete());
}

TEST_F(PieceTest, ValuesStayPinnedWhileHeld) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  const auto records = Keys(100);
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  FoundRecord found;
  ASSERT_OK(piece->Find({}, records[50].key, 1000, &found));
  piece->EraseFromCache();
  EXPECT_EQ(found.value.ToString(), records[50].value);
  EXPECT_GT(options_.block_cache->GetPinnedUsage(), 0u);
  found.pin.Reset();
  EXPECT_EQ(options_.block_cache->GetPinnedUsage(), 0u);
}

TEST_F(PieceTest, FullStrictCacheStillServesReads) {
  options_.block_cache = rocksdb::NewLRUCache(100, 0, true);
  const auto records = Keys(100);
  RoundTrip(records);
}

TEST_F(PieceTest, ReadsAreCounted) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  auto statistics = rocksdb::CreateDBStatistics();
  options_.statistics = statistics.get();
  build_.compression = rocksdb::kLZ4Compression;
  build_.statistics = statistics.get();
  auto records = Keys(100);
  for (auto& r : records) r.value.assign(100, 'x');
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  rocksdb::PerfContext* perf = rocksdb::get_perf_context();
  perf->Reset();
  for (int i = 0; i < 3; ++i) {
    FoundRecord found;
    ASSERT_OK(piece->Find({}, records[7].key, 1000, &found));
  }
  EXPECT_EQ(statistics->getTickerCount(rocksdb::NUMBER_BLOCK_COMPRESSED), meta_.num_blocks);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::NUMBER_BLOCK_DECOMPRESSED), 1u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_MISS), 1u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS), 1u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_ADD), 1u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_HIT), 2u);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT), 2u);
  EXPECT_GT(statistics->getTickerCount(rocksdb::BLOCK_CACHE_BYTES_READ), 0u);
  EXPECT_EQ(perf->block_read_count, 1u);
  EXPECT_EQ(perf->block_read_byte, piece->resident()->separators().BlockLength(
                                       piece->resident()->SeekBlock(records[7].key)));
  EXPECT_EQ(perf->block_cache_hit_count, 2u);
}

TEST_F(PieceTest, SectionsOfOldPlacesDoNotVerify) {
  // The same bytes at another offset of the same file: an extent that was moved by mistake.
  ASSERT_OK(BuildPiece(Keys(10), {}, &meta_, &hashes_));
  std::string bytes = ReadFile(last_number_);
  bytes.insert(meta_.extent.offset, std::string(16, 'x'));
  WriteFile(last_number_, bytes);
  PieceMeta moved = meta_;
  moved.extent.offset += 16;
  EXPECT_TRUE(TryOpenPiece(moved).IsCorruption());
}

TEST_F(PieceTest, CompactionFileHeader) {
  ASSERT_OK(BuildPiece(Keys(3), {}, &meta_, &hashes_));
  const uint64_t number = last_number_;
  std::shared_ptr<CompactionFile> file;
  ASSERT_OK(CompactionFile::Open(&fs_, PathOf(number), number, FileOptions(), &file));
  EXPECT_EQ(file->file_id(), meta_.file_id);
  Status s = CompactionFile::Open(&fs_, PathOf(number), number + 1, FileOptions(), &file);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find(PathOf(number)), std::string::npos);
  EXPECT_FALSE(CompactionFile::Open(&fs_, PathOf(4711), 4711, FileOptions(), &file).ok());
}

TEST_F(PieceTest, IteratorsReleaseTheirFilesWhenFewMayBeOpen) {
  std::vector<std::shared_ptr<Piece>> pieces;
  std::vector<InternalIteratorPtr> iterators;
  std::vector<PieceMeta> metas;
  for (int i = 0; i < 12; ++i) {
    ASSERT_OK(BuildPiece(Keys(200), {}, &meta_, &hashes_));
    metas.push_back(meta_);
  }
  NewFileCache(/*max_open=*/4);
  for (const PieceMeta& meta : metas) {
    pieces.push_back(OpenPiece(meta));
    iterators.push_back(pieces.back()->NewIterator({}));
    iterators.back()->SeekToFirst();
    ASSERT_TRUE(iterators.back()->Valid());
  }
  // What the cache evicts now is closed: there is no other reference.
  size_t held = 0;
  for (const PieceMeta& meta : metas) {
    std::shared_ptr<CompactionFile> file;
    ASSERT_OK(files_->Get(meta.extent.file_number, &file));
    held += file.use_count() > 2 ? 1 : 0;
  }
  EXPECT_LE(held, 2u);
  for (auto& iterator : iterators) {
    size_t n = 1;
    for (iterator->Next(); iterator->Valid(); iterator->Next()) ++n;
    ASSERT_OK(iterator->status());
    EXPECT_EQ(n, 200u);
  }
}

TEST(Tombstones, HaveTheirTimeBehindBothBounds) {
  const std::string time(8, '\5');
  const std::vector<RangeTombstone> all = {FromStoredBounds("a" + time, "c" + time, 7, time.size()),
                                           FromStoredBounds("b" + time, "d" + time, 9, time.size())};
  EXPECT_EQ(all[0].start, "a" + std::string(8, '\xff'));
  EXPECT_EQ(all[0].end, "c" + std::string(8, '\xff'));
  const std::string bytes = EncodeTombstones(all);
  std::vector<RangeTombstone> read;
  ASSERT_TRUE(DecodeTombstones(bytes, 2, time.size(), "piece", &read).ok());
  ASSERT_EQ(read.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].start, all[i].start);
    EXPECT_EQ(read[i].end, all[i].end);
    EXPECT_EQ(read[i].sequence, all[i].sequence);
    EXPECT_EQ(read[i].timestamp, time);
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_TRUE(DecodeTombstones(Slice(bytes.data(), length), 2, time.size(), "piece", &read)
                    .IsCorruption());
  }
  EXPECT_TRUE(DecodeTombstones(bytes, 2, 10, "piece", &read).IsCorruption());  // none has room for it
}

}  // namespace
}  // namespace compassdb
