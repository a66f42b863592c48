// SPDX-License-Identifier: Apache-2.0
// Pieces in slot and hash order.
#include <set>

#include "table/piece/piece_reader.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

class HashedPieceTest : public TableTest, public ::testing::WithParamInterface<DataOrder> {
 protected:
  HashedPieceTest() { build_.data_order = GetParam(); }

  std::vector<TestRecord> Keys(uint64_t n, size_t value_size = 20) {
    std::vector<TestRecord> records;
    for (uint64_t i = 0; i < n; ++i) {
      records.push_back({NumberedKey(i * 2), 100 + i % 50, i % 9 == 4 ? kTypeDeletion : kTypeValue,
                         i % 9 == 4 ? "" : std::string(rnd_.Uniform(2 * value_size + 1), 'v')});
    }
    return records;
  }
  // Some keys have many versions.
  std::vector<TestRecord> Versions(uint64_t n) {
    std::vector<TestRecord> records;
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t versions = i % 7 == 0 ? 1 + rnd_.Uniform(40) : 1 + rnd_.Uniform(2);
      for (uint64_t v = 0; v < versions; ++v) {
        records.push_back({NumberedKey(i * 2), 10 + v * 5,
                           rnd_.OneIn(3) ? kTypeMerge : kTypeValue, std::to_string(v)});
      }
    }
    return records;
  }
  std::shared_ptr<Piece> Build(std::vector<TestRecord> records) {
    EXPECT_OK(BuildPiece(records, {}, &meta_, &hashes_));
    Sort(&records);
    records_ = std::move(records);
    auto piece = OpenPiece(meta_);
    EXPECT_EQ(OrderOf(*piece), GetParam());
    return piece;
  }
  static DataOrder OrderOf(const Piece& piece) {
    return piece.resident()->hashed() ? piece.resident()->hashed_index().order() : DataOrder::kKey;
  }
  TestRecord Current(const InternalIterator& iter) {
    ParsedInternalKey k;
    EXPECT_TRUE(ParseInternalKey(iter.key(), &k));
    return {k.user_key.ToString(), k.sequence, k.type, iter.value().ToString()};
  }
  void ExpectAt(const InternalIterator& iter, size_t i) {
    ASSERT_OK(iter.status());
    ASSERT_EQ(iter.Valid(), i < records_.size()) << i;
    if (iter.Valid()) {
      ASSERT_EQ(Current(iter), records_[i]) << i;
    }
  }
  // The index in records_ of the first that is not before (key, seq).
  size_t LowerBound(const std::string& key, SequenceNumber seq) const {
    size_t i = 0;
    for (; i < records_.size(); ++i) {
      const int c = build_.comparator->Compare(records_[i].key, key);
      if (c > 0 || (c == 0 && records_[i].seq <= seq)) break;
    }
    return i;
  }
  void ExpectWalks(const Piece& piece, const BlockReadOptions& read) {
    auto iter = piece.NewIterator(read);
    size_t i = 0;
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ExpectAt(*iter, i++);
    ASSERT_OK(iter->status());
    ASSERT_EQ(i, records_.size());
    for (iter->SeekToLast(); iter->Valid(); iter->Prev()) ExpectAt(*iter, --i);
    ASSERT_OK(iter->status());
    ASSERT_EQ(i, 0u);
  }
  void ExpectSeeks(const Piece& piece, int count) {
    auto iter = piece.NewIterator(BlockReadOptions());
    for (int n = 0; n < count; ++n) {
      const std::string key =
          rnd_.OneIn(20) ? (rnd_.OneIn(2) ? "" : "zzz")
                         : NumberedKey(rnd_.Uniform(records_.size() * 2 + 2)) + (rnd_.OneIn(9) ? "x" : "");
      const SequenceNumber seq = rnd_.OneIn(3) ? kMaxSequenceNumber : rnd_.Uniform(250);
      size_t i = LowerBound(key, seq);
      iter->Seek(IKey(key, seq, kValueTypeForSeek));
      ExpectAt(*iter, i);
      for (uint64_t steps = rnd_.Uniform(5); steps > 0 && iter->Valid(); --steps) {
        if (rnd_.OneIn(2)) {
          iter->Next();
          ++i;
        } else {
          iter->Prev();
          i = i == 0 ? records_.size() : i - 1;
        }
        ExpectAt(*iter, i);
      }
      i = LowerBound(key, seq);
      const bool exact = i < records_.size() && records_[i].key == key && records_[i].seq == seq;
      if (exact) {
        iter->SeekForPrev(IKey(key, seq, records_[i].type));
        ExpectAt(*iter, i);
      } else {
        iter->SeekForPrev(IKey(key, seq, kValueTypeForSeek));
        ExpectAt(*iter, i == 0 ? records_.size() : i - 1);
      }
    }
  }

  Random rnd_{17};
  PieceMeta meta_;
  PieceHashes hashes_;
  std::vector<TestRecord> records_;
};

std::string OrderName(const ::testing::TestParamInfo<DataOrder>& info) {
  return info.param == DataOrder::kSlot ? "Slot" : "Hash";
}
INSTANTIATE_TEST_SUITE_P(Orders, HashedPieceTest,
                         ::testing::Values(DataOrder::kSlot, DataOrder::kHash), OrderName);

TEST_P(HashedPieceTest, WalksAndSeeksInKeyOrder) {
  for (uint64_t n : {1, 2, 63, 64, 65, 700, 3000}) {
    auto piece = Build(Keys(n));
    ExpectWalks(*piece, {});
    BlockReadOptions ahead;
    ahead.readahead_bytes = 100000;
    ExpectWalks(*piece, ahead);
    BlockReadOptions whole;
    whole.whole_piece = true;
    ExpectWalks(*piece, whole);
    ExpectSeeks(*piece, 200);
    ASSERT_OK(piece->Verify());
  }
}

TEST_P(HashedPieceTest, VersionsLieTogetherNewestFirst) {
  auto piece = Build(Versions(900));
  ExpectWalks(*piece, {});
  ExpectSeeks(*piece, 500);
  ASSERT_OK(piece->Verify());
  for (size_t i = 0; i < records_.size(); ++i) {
    const TestRecord& r = records_[i];
    FoundRecord found;
    ASSERT_OK(piece->Find({}, r.key, r.seq, &found));
    ASSERT_TRUE(found.found);
    EXPECT_EQ(found.sequence, r.seq);
    EXPECT_EQ(found.value, r.value);
    EXPECT_EQ(found.newest, i == 0 || records_[i - 1].key != r.key);
  }
}

TEST_P(HashedPieceTest, FindsEveryKeyAndNoOther) {
  auto piece = Build(Keys(3000, 100));
  for (const TestRecord& r : records_) {
    FoundRecord found;
    ASSERT_OK(piece->Find({}, r.key, kMaxSequenceNumber, &found));
    ASSERT_TRUE(found.found) << r.key;
    EXPECT_EQ(found.value, r.value);
    EXPECT_EQ(found.type, r.type);
    ASSERT_OK(piece->Find({}, r.key, r.seq - 1, &found));
    EXPECT_FALSE(found.found);
    EXPECT_TRUE(found.key_present);
    const std::string absent = r.key + "x";
    ASSERT_OK(piece->Find({}, absent, kMaxSequenceNumber, &found));
    EXPECT_FALSE(found.key_present);
  }
}

TEST_P(HashedPieceTest, LargeRecordsLeaveBlocksEmpty) {
  auto piece = Build(Keys(1200, 1000));  // a slot per block, and more slots than keys
  ExpectWalks(*piece, {});
  ExpectSeeks(*piece, 100);
  ASSERT_OK(piece->Verify());
  for (uint64_t i = 0; i < 20000; ++i) {
    const std::string absent = "absent" + std::to_string(i);
    FoundRecord found;
    ASSERT_OK(piece->Find({}, absent, kMaxSequenceNumber, &found));
    EXPECT_FALSE(found.key_present);
  }
}

TEST_P(HashedPieceTest, HashListIsInTheOrderOfTheData) {
  auto piece = Build(Keys(2000));
  PieceHashes hashes;
  ASSERT_OK(piece->ReadHashes(&hashes));
  EXPECT_EQ(hashes.h1, hashes_.h1);
  ASSERT_EQ(hashes.h1.size(), records_.size());
  EXPECT_EQ(std::is_sorted(hashes.h1.begin(), hashes.h1.end()), GetParam() == DataOrder::kHash);
  std::set<std::pair<uint64_t, uint64_t>> listed, expected;
  uint32_t last_block = 0;
  for (size_t i = 0; i < hashes.h1.size(); ++i) {
    listed.insert({hashes.h1[i], hashes.h2[i]});
    const KeyHash h = build_.hasher(records_[i].key);
    expected.insert({h.h1, h.h2});
    const uint32_t block = piece->resident()->hashed_index().Locate(hashes.h1[i]);
    EXPECT_LE(last_block, block);
    last_block = block;
  }
  EXPECT_EQ(listed, expected);
}

TEST_P(HashedPieceTest, KeysWithOneHash) {
  TEST_SetKeyHashMask(0x7);
  auto piece = Build(Keys(400));
  ExpectWalks(*piece, {});
  ExpectSeeks(*piece, 100);
  ASSERT_OK(piece->Verify());
}

TEST_P(HashedPieceTest, OnlyRangeTombstones) {
  ASSERT_OK(BuildPiece({}, {{"a", "c", 7}}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  ASSERT_OK(piece->Verify());
  EXPECT_EQ(TombstonesOf(*piece).size(), 1u);
  ExpectWalks(*piece, {});
  auto iter = piece->NewIterator({});
  iter->Seek(IKey("b", 9));
  EXPECT_FALSE(iter->Valid());
  ASSERT_OK(iter->status());
  EXPECT_EQ(piece->resident()->SeekBlock("b"), piece->meta().num_blocks);
}

TEST_P(HashedPieceTest, OtherComparators) {
  LengthFirstComparator length_first;
  UseComparator(&length_first);
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 800; ++i) records.push_back({std::to_string(i * 7), i + 1, kTypeValue, "v"});
  auto piece = Build(records);
  ExpectWalks(*piece, {});
  ExpectSeeks(*piece, 300);
  ASSERT_OK(piece->Verify());
}

TEST_P(HashedPieceTest, KeyOrderWhereEqualKeysMayDiffer) {
  NoCaseComparator no_case;
  UseComparator(&no_case);
  ASSERT_OK(BuildPiece({{"a", 3, kTypeValue, "1"}, {"A", 2, kTypeValue, "2"}}, {}, &meta_, &hashes_));
  auto piece = OpenPiece(meta_);
  EXPECT_EQ(OrderOf(*piece), DataOrder::kKey);
  ASSERT_OK(piece->Verify());
}

TEST_P(HashedPieceTest, TooManyBytesGoOnInKeyOrder) {
  std::vector<TestRecord> records = Versions(500);
  build_.max_held_bytes = 2000;
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  const PieceHashes hashes = hashes_;
  auto piece = OpenPiece(meta_);
  EXPECT_EQ(OrderOf(*piece), DataOrder::kKey);
  Sort(&records);
  records_ = records;
  ExpectWalks(*piece, {});
  ASSERT_OK(piece->Verify());
  build_.data_order = DataOrder::kKey;
  ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  EXPECT_EQ(hashes.h1, hashes_.h1);
}

TEST_P(HashedPieceTest, Compressed) {
  build_.compression = rocksdb::kLZ4Compression;
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 2000; ++i) {
    records.push_back({NumberedKey(i), i + 1, kTypeValue, std::string(100, 'x')});
  }
  auto piece = Build(records);
  EXPECT_LT(meta_.data_bytes, meta_.raw_bytes / 2);
  ExpectWalks(*piece, {});
  ASSERT_OK(piece->Verify());
}

TEST_P(HashedPieceTest, BlocksAndPagesGoThroughTheCache) {
  options_.block_cache = rocksdb::NewLRUCache(64 << 20);
  auto piece = Build(Keys(2000));
  BlockReadOptions cached;
  cached.cache_only = true;
  auto iter = piece->NewIterator(cached);
  iter->Seek(IKey(NumberedKey(100), kMaxSequenceNumber));
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().IsIncomplete());
  ExpectWalks(*piece, {});
  ExpectSeeks(*piece, 1);
  ExpectWalks(*piece, cached);
  EXPECT_GT(options_.block_cache->GetUsage(), meta_.data_bytes);
  piece->EraseFromCache();
  EXPECT_EQ(options_.block_cache->GetUsage(), 0u);
}

TEST_P(HashedPieceTest, WalksAreCountedAndEndAtTheBound) {
  options_.block_cache = rocksdb::NewLRUCache(64 << 20);
  auto piece = Build(Keys(2000, 60));
  SeekCounter seeks;
  const std::string bound = NumberedKey(1000);
  const Slice upper(bound);
  BlockReadOptions read;
  read.seeks = &seeks;
  read.upper_bound = &upper;
  auto iter = piece->NewIterator(read);
  size_t i = LowerBound(NumberedKey(600), kMaxSequenceNumber);
  iter->Seek(IKey(NumberedKey(600), kMaxSequenceNumber));
  EXPECT_EQ(seeks.from_file, 1u);
  for (; iter->Valid() && ExtractUserKey(iter->key()).compare(upper) < 0; iter->Next()) {
    ExpectAt(*iter, i++);
  }
  EXPECT_EQ(records_[i].key, bound);
  EXPECT_NEAR(static_cast<double>(seeks.walked_bytes),
              static_cast<double>(meta_.data_bytes) / 10, 3000);
  for (; iter->Valid(); iter->Prev()) ExpectAt(*iter, i--);  // it may turn
  ASSERT_OK(iter->status());
  iter->Seek(IKey(NumberedKey(600), kMaxSequenceNumber));
  EXPECT_EQ(seeks.from_file, 1u);
  EXPECT_EQ(seeks.from_cache, 1u);
}

TEST_P(HashedPieceTest, ApproximateOffsetsGrowWithTheKey) {
  auto piece = Build(Keys(4000));
  uint64_t last = 0;
  for (uint64_t i = 0; i < 8000; i += 500) {
    const uint64_t offset = piece->ApproximateOffset(NumberedKey(i));
    EXPECT_GE(offset, last);
    EXPECT_NEAR(static_cast<double>(offset), static_cast<double>(meta_.data_bytes) * static_cast<double>(i) / 8000,
                static_cast<double>(meta_.data_bytes) / 20);
    last = offset;
  }
}

TEST_P(HashedPieceTest, EveryFlippedBitIsNoticed) {
  build_.block_size = 256;
  Build(Versions(150));
  const std::string good = ReadFile(last_number_);
  ASSERT_OK(OpenPiece(meta_)->Verify());
  for (size_t i = meta_.extent.offset; i < meta_.extent.offset + meta_.extent.length; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << rnd_.Uniform(8)));
    WriteFile(last_number_, bad);
    Status s = Piece(Context(), meta_, IndexMode::kResident).Verify();
    ASSERT_FALSE(s.ok()) << "byte " << i;
  }
}

TEST_P(HashedPieceTest, EveryTruncationIsNoticed) {
  Build(Keys(300));
  const std::string good = ReadFile(last_number_);
  for (size_t n = meta_.extent.offset; n < good.size(); n += 1 + n / 97) {
    WriteFile(last_number_, good.substr(0, n));
    EXPECT_FALSE(TryOpenPiece(meta_).ok()) << n;
  }
}

TEST_P(HashedPieceTest, DamageWithoutChecksumsStaysInBounds) {
  build_.block_size = 128;
  Build(Versions(200));
  const std::string good = ReadFile(last_number_);
  const auto piece = OpenPiece(meta_);
  const HashedIndex& index = piece->resident()->hashed_index();
  const PieceRange last = index.Page(index.num_pages() - 1);
  const uint64_t stored = last.offset + last.length;  // blocks, and the reverse index behind them
  BlockReadOptions read;
  read.verify_checksums = false;
  read.fill_cache = false;
  for (int round = 0; round < 1500; ++round) {
    std::string bad = good;
    for (int i = 0; i < 4; ++i) {
      bad[meta_.extent.offset + rnd_.Uniform(stored)] = static_cast<char>(rnd_.Next());
    }
    WriteFile(last_number_, bad);
    auto damaged = OpenPiece(meta_);
    read.whole_piece = round % 2 == 0;
    auto iter = damaged->NewIterator(read);
    size_t steps = 0;
    for (iter->SeekToFirst(); iter->Valid() && steps < 5000; iter->Next()) ++steps;
    const std::string key = NumberedKey(rnd_.Uniform(400));
    iter->Seek(IKey(key, 100));
    for (steps = 0; iter->Valid() && steps < 50; iter->Prev()) ++steps;
    FoundRecord found;
    Status s = damaged->Find(read, key, 100, &found);
    EXPECT_TRUE(s.ok() || s.IsCorruption() || s.IsNotSupported()) << s.ToString();
  }
}

TEST_P(HashedPieceTest, DamageInTheDataShowsInWalksAndSeeks) {
  Build(Keys(3000));
  std::string bad = ReadFile(last_number_);
  for (uint64_t i = 0; i < meta_.data_bytes; i += 200) bad[meta_.extent.offset + i] ^= 0x40;
  WriteFile(last_number_, bad);
  for (bool whole : {false, true}) {
    BlockReadOptions read;
    read.whole_piece = whole;
    auto piece = OpenPiece(meta_);
    auto iter = piece->NewIterator(read);
    for (iter->SeekToFirst(); iter->Valid();) iter->Next();
    EXPECT_TRUE(iter->status().IsCorruption()) << iter->status().ToString();
    iter->Seek(IKey(NumberedKey(4), kMaxSequenceNumber));
    EXPECT_TRUE(iter->status().IsCorruption()) << iter->status().ToString();
  }
}

}  // namespace
}  // namespace compassdb
