// SPDX-License-Identifier: Apache-2.0
// Point reads that go to the file, and what the cache keeps of them.
#include "cache/sharded_cache.h"
#include "rocksdb/perf_context.h"
#include "table/block/cached_record.h"
#include "table/block/point_block.h"
#include "table/table_test_util.h"
#include "util/epoch.h"

namespace compassdb {
namespace {

class PointReadTest : public TableTest {
 protected:
  void Build(size_t records, size_t value_bytes = 40) {
    for (uint64_t i = 0; i < records; ++i) {
      std::string value = "v" + std::to_string(i);
      value.resize(value_bytes, '.');
      records_.push_back({NumberedKey(i), i + 1, kTypeValue, value});
    }
    PieceHashes hashes;
    ASSERT_OK(BuildPiece(records_, {}, &meta_, &hashes));
  }
  void UseCache(size_t bytes) { options_.block_cache = rocksdb::NewLRUCache(bytes, 0); }

  // The value, "(absent)" or "(more)".
  std::string Get(const Piece& piece, const std::string& key, SequenceNumber snapshot = 1 << 20,
                  const BlockReadOptions& read = {}) {
    rocksdb::PinnableSlice value;
    GetContext ctx(key, snapshot, nullptr, &value);
    const KeyHash hash = build_.hasher(key);
    Piece::Found found;
    status_ = piece.FindNewest(read, key, hash, &ctx, &found);
    if (!status_.ok()) return "(error)";
    if (found == Piece::Found::kNotAlone) return "(more)";
    if (found == Piece::Found::kAbsent) return "(absent)";
    EXPECT_EQ(found, Piece::Found::kFed);
    EXPECT_OK(ctx.Finish());
    return value.ToString();
  }
  uint64_t Reads() { return rocksdb::get_perf_context()->block_read_count; }

  std::vector<TestRecord> records_;
  PieceMeta meta_;
  Status status_;
};

TEST_F(PointReadTest, WithoutACacheEachReadsTheFile) {
  Build(200);
  auto piece = OpenPiece(meta_);
  rocksdb::get_perf_context()->Reset();
  for (const TestRecord& r : records_) EXPECT_EQ(Get(*piece, r.key), r.value);
  EXPECT_EQ(Reads(), 200u);
  EXPECT_EQ(Get(*piece, NumberedKey(7) + "x"), "(absent)");
  EXPECT_EQ(Get(*piece, NumberedKey(7), 7), "(more)");  // the snapshot is older
}

TEST_F(PointReadTest, ACacheWithRoomKeepsBlocks) {
  UseCache(1 << 20);
  Build(200);
  auto piece = OpenPiece(meta_);
  rocksdb::get_perf_context()->Reset();
  BlockReadOptions keep_nothing;
  keep_nothing.fill_cache = false;
  Get(*piece, NumberedKey(0), 1 << 20, keep_nothing);
  EXPECT_EQ(Reads(), 1u);
  for (int round = 0; round < 2; ++round) {
    for (const TestRecord& r : records_) EXPECT_EQ(Get(*piece, r.key), r.value);
  }
  EXPECT_EQ(Reads(), 1 + meta_.num_blocks);
  EXPECT_FALSE(piece->resident()->loader().own_cache()->keeps_records());
}

TEST_F(PointReadTest, AFullCacheKeepsRecordsThatAreWantedAgain) {
  UseCache(8 << 10);
  Build(10000);
  auto piece = OpenPiece(meta_);
  Random rnd(5);
  const auto read_others = [&](int n) {
    for (int i = 0; i < n; ++i) {
      const TestRecord& r = records_[1000 + rnd.Uniform(9000)];
      ASSERT_EQ(Get(*piece, r.key), r.value);
    }
  };
  read_others(200);
  const size_t usage = options_.block_cache->GetUsage();
  EXPECT_LE(usage, size_t{8 << 10});
  rocksdb::get_perf_context()->Reset();
  EXPECT_EQ(Get(*piece, NumberedKey(5)), records_[5].value);
  EXPECT_EQ(Get(*piece, NumberedKey(5)), records_[5].value);
  EXPECT_EQ(Reads(), 2u);
  EXPECT_TRUE(piece->resident()->loader().own_cache()->keeps_records());
  read_others(3);
  EXPECT_EQ(Reads(), 5u);
  EXPECT_EQ(Get(*piece, NumberedKey(5)), records_[5].value);
  EXPECT_EQ(Reads(), 5u);
  // Neighbours are fetched with their block, from the second on.
  for (int i = 101; i < 105; ++i) EXPECT_EQ(Get(*piece, NumberedKey(i)), records_[i].value);
  EXPECT_LE(Reads(), 5u + 3);
  EXPECT_LE(options_.block_cache->GetUsage(), size_t{8 << 10});
}

TEST_F(PointReadTest, PagedIndexesLeaveTheCacheToRecords) {
  UseCache(24 << 10);
  Build(10000);
  const Piece piece(Context(), meta_, IndexMode::kPaged);
  Random rnd(6);
  const auto read = [&](uint64_t i) { ASSERT_EQ(Get(piece, NumberedKey(i)), records_[i].value); };
  for (int i = 0; i < 500; ++i) read(1000 + rnd.Uniform(9000));
  EXPECT_EQ(piece.resident(), nullptr);
  for (int i = 0; i < 2; ++i) read(5);
  rocksdb::get_perf_context()->Reset();
  read(5);
  EXPECT_EQ(Reads(), 0u);
  BlockReadOptions cached;
  cached.cache_only = true;
  EXPECT_EQ(Get(piece, NumberedKey(5), 1 << 20, cached), records_[5].value);
  EXPECT_LE(options_.block_cache->GetUsage(), size_t{24 << 10});
}

TEST_F(PointReadTest, RecordsAreFoundByPieceAndKey) {
  UseCache(1 << 20);
  Build(50);
  auto piece = OpenPiece(meta_);
  ShardedCache* const cache = piece->resident()->loader().own_cache();
  Block::Record record;
  record.value = "value";
  record.sequence = 7;
  record.type = kTypeValue;
  const CachedRecord::Key key{1, 2, 3};
  const size_t before = options_.block_cache->GetUsage();
  CachedRecord::Keep(cache, BlockAllocator(), key, "k", record);
  EXPECT_GT(options_.block_cache->GetUsage(), before + sizeof(CachedRecord));
  const EpochGuard guard;
  const CachedRecord* const found = CachedRecord::Find(cache, key, "k");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value(), "value");
  EXPECT_EQ(found->sequence(), 7u);
  EXPECT_EQ(found->type(), kTypeValue);
  EXPECT_EQ(CachedRecord::Find(cache, key, "l"), nullptr);  // another key of this hash
  EXPECT_EQ(CachedRecord::Find(cache, {1, 2, 4}, "k"), nullptr);
  EXPECT_EQ(CachedRecord::Find(cache, {1, 3, 3}, "k"), nullptr);
  EXPECT_EQ(CachedRecord::Find(cache, {2, 2, 3}, "k"), nullptr);
}

TEST_F(PointReadTest, CompressedBlocksAreUnpacked) {
  build_.compression = rocksdb::kLZ4Compression;
  Build(300, 200);
  for (const size_t bytes : {0, 4 << 10, 1 << 20}) {
    if (bytes > 0) UseCache(bytes);
    auto piece = OpenPiece(meta_);
    for (const TestRecord& r : records_) EXPECT_EQ(Get(*piece, r.key), r.value);
  }
}

TEST_F(PointReadTest, DamageIsFoundAndNothingOfItKept) {
  Build(200);
  const std::string good = ReadFile(last_number_);
  UseCache(1 << 20);
  auto piece = OpenPiece(meta_);
  std::string bad = good;
  bad[meta_.extent.offset + 100] ^= 1;
  WriteFile(last_number_, bad);
  piece = OpenPiece(meta_);
  EXPECT_EQ(Get(*piece, NumberedKey(1)), "(error)");
  EXPECT_TRUE(status_.IsCorruption()) << status_.ToString();
  EXPECT_NE(status_.ToString().find(PathOf(last_number_)), std::string::npos);
  EXPECT_NE(status_.ToString().find("checksum"), std::string::npos);
  WriteFile(last_number_, good);
  piece = OpenPiece(meta_);
  EXPECT_EQ(Get(*piece, NumberedKey(1)), records_[1].value);
  // Cut off: the file ends within the block.
  WriteFile(last_number_, good.substr(0, meta_.extent.offset + 50));
  const std::shared_ptr<Piece> cut = std::make_shared<Piece>(Context(), meta_, IndexMode::kResident);
  PieceRef ref;
  EXPECT_FALSE(cut->Open({}, &ref).ok());
}

TEST_F(PointReadTest, LargeBlocksAreLeftToFind) {
  Build(3, 100 << 10);
  auto piece = OpenPiece(meta_);
  const std::string key = NumberedKey(1);
  rocksdb::PinnableSlice value;
  GetContext ctx(key, 100, nullptr, &value);
  Piece::Found found;
  ASSERT_OK(piece->FindNewest({}, key, build_.hasher(key), &ctx, &found));
  EXPECT_EQ(found, Piece::Found::kUndecided);
  FoundRecord record;
  ASSERT_OK(piece->Find({}, key, 100, &record));
  EXPECT_EQ(record.value, records_[1].value);
}

}  // namespace
}  // namespace compassdb
