// SPDX-License-Identifier: Apache-2.0
// Pieces with filters: what is stored, what is asked, what damage does.
#include "filter/prefix_seek.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/slice_transform.h"
#include "table/piece/piece_format.h"
#include "table/piece/prefix_filtered_iterator.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

class PieceFilterTest : public TableTest {
 protected:
  PieceFilterTest() {
    filter_.new_bits = [](const FilterPlace&) { return NewBloomBuilder(20000); };
    filter_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
    build_.filter = &filter_;
    options_.filters = true;
  }
  void Build(const std::vector<std::string>& keys) {
    std::vector<TestRecord> records;
    for (const std::string& key : keys) records.push_back({key, records.size() + 1, kTypeValue, "v"});
    ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
  }
  std::string ReadExtent() { return ReadFile(last_number_).substr(meta_.extent.offset, meta_.extent.length); }

  FilterOptions filter_;
  PieceMeta meta_;
  PieceHashes hashes_;
};

TEST_F(PieceFilterTest, AnswersForKeysInEveryOrder) {
  for (const DataOrder order : {DataOrder::kKey, DataOrder::kSlot, DataOrder::kHash}) {
    build_.data_order = order;
    std::vector<std::string> keys;
    for (int i = 0; i < 500; ++i) keys.push_back("k" + std::to_string(1000 + i));
    Build(keys);
    const auto piece = OpenPiece(meta_);
    EXPECT_OK(piece->Verify());
    for (const std::string& key : keys) {
      ASSERT_EQ(piece->AskFilter({}, key), FilterAnswer::kPerhaps);
    }
    int absent = 0;
    for (const std::string& key : keys) {
      absent += piece->AskFilter({}, key + "x") == FilterAnswer::kAbsent ? 1 : 0;
    }
    EXPECT_GT(absent, 480);
    EXPECT_GT(MemoryOf(*piece->resident()).filters, keys.size() * 20 / 8);
  }
}

TEST_F(PieceFilterTest, NothingIsLoadedWithoutAPolicy) {
  Build({"a", "b"});
  options_.filters = false;
  const auto piece = OpenPiece(meta_);
  EXPECT_EQ(piece->AskFilter({}, "x"), FilterAnswer::kNotAsked);
  EXPECT_EQ(MemoryOf(*piece->resident()).filters, 0u);
  EXPECT_OK(piece->Verify());
}

// Format versions 4 and 5: only pieces with a filter have the sixth section.
TEST_F(PieceFilterTest, PiecesWithoutOneAreAsTheyWere) {
  Build({"a", "b"});
  const uint64_t with = meta_.extent.length;
  const std::string bytes = ReadExtent();
  EXPECT_EQ(DecodeFixed32(bytes.data() + bytes.size() - 12), 5u);
  build_.filter = nullptr;
  Build({"a", "b"});
  EXPECT_LT(meta_.extent.length, with);
  const std::string plain = ReadExtent();
  EXPECT_EQ(DecodeFixed32(plain.data() + plain.size() - 12), 4u);
  const auto piece = OpenPiece(meta_);
  EXPECT_EQ(piece->AskFilter({}, "x"), FilterAnswer::kNotAsked);
  filter_.new_bits = nullptr;
  build_.filter = &filter_;
  Build({"a", "b"});
  EXPECT_EQ(meta_.extent.length, plain.size());
}

TEST_F(PieceFilterTest, EveryFlippedByteOfTheFilterAndTheFooterIsFound) {
  Build({"aa1", "bb2", "cc3"});
  const std::string good = ReadFile(last_number_);
  const uint64_t end = meta_.extent.offset + meta_.extent.length;
  for (uint64_t place = end - PieceFooter::kMostBytes - 90; place < end; ++place) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 0x10);
    WriteFile(last_number_, bad);
    EXPECT_FALSE(TryOpenPiece(meta_).ok()) << end - place;
  }
  WriteFile(last_number_, good);
  EXPECT_OK(TryOpenPiece(meta_));
}

TEST_F(PieceFilterTest, SeeksForAbsentPrefixesAreLeftOut) {
  Build({"aa1", "aa2", "cc1", "cc2"});
  const auto piece = OpenPiece(meta_);
  PrefixSeek seek;
  seek.extractor = filter_.prefix_extractor;
  BlockReadOptions read;
  read.prefix_seek = &seek;
  const InternalIteratorPtr iter = NewPrefixFilteredIterator(*piece, read);
  const auto position = [&] {
    return iter->Valid() ? ExtractUserKey(iter->key()).ToString() : std::string("end");
  };
  const auto look_for = [&](const std::string& key) {
    seek.Start(key, nullptr, build_.comparator);
    iter->Seek(IKey(key, kMaxSequenceNumber));
    return position();
  };
  rocksdb::get_perf_context()->Reset();
  EXPECT_EQ(look_for("bb1"), "end");
  EXPECT_TRUE(iter->status().ok());
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_sst_miss_count, 1u);
  EXPECT_EQ(rocksdb::get_perf_context()->block_read_count, 0u);
  iter->SeekForPrev(IKey("bb1", 0));  // of the same seek: not counted again
  EXPECT_EQ(position(), "end");
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_sst_miss_count, 1u);
  EXPECT_EQ(look_for("aa2"), "aa2");
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_sst_hit_count, 1u);
  EXPECT_EQ(look_for("a"), "aa1");  // no prefix: everything counts
  seek.automatic = true;
  const Slice bound("bb9");
  seek.Start("bb1", &bound, build_.comparator);
  iter->Seek(IKey("bb1", kMaxSequenceNumber));
  EXPECT_EQ(position(), "end");
  iter->SeekForPrev(IKey("bb1", 0));  // automatic: as if there were no filter
  EXPECT_EQ(position(), "aa2");
  seek.Stop();
  iter->Seek(IKey("bb1", kMaxSequenceNumber));
  EXPECT_EQ(position(), "cc1");
  iter->SeekToLast();
  EXPECT_EQ(position(), "cc2");
}

TEST_F(PieceFilterTest, AnotherExtractorGetsAllOfThePiece) {
  Build({"aa1", "cc1"});
  const auto piece = OpenPiece(meta_);
  PrefixSeek seek;
  seek.extractor.reset(rocksdb::NewFixedPrefixTransform(1));
  BlockReadOptions read;
  read.prefix_seek = &seek;
  const InternalIteratorPtr iter = NewPrefixFilteredIterator(*piece, read);
  seek.Start("b", nullptr, build_.comparator);
  iter->Seek(IKey("b", kMaxSequenceNumber));
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(ExtractUserKey(iter->key()).ToString(), "cc1");
}

}  // namespace
}  // namespace compassdb
