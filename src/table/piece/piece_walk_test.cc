// SPDX-License-Identifier: Apache-2.0
// Which bytes the walks of a piece read, and in how many reads.
#include "env/io_ring.h"
#include "env/read_batch.h"
#include "env/sim/fault_injection_file_system.h"
#include "rocksdb/perf_context.h"
#include "table/piece/piece_reader.h"
#include "table/read_stats.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

class PieceWalkTest : public TableTest {
 protected:
  // Blocks of about 512 bytes.
  void Build(bool with_cache) {
    if (with_cache) options_.block_cache = rocksdb::NewLRUCache(64 << 20);
    std::vector<TestRecord> records;
    for (int i = 0; i < 400; ++i) records.push_back({NumberedKey(i), 1, kTypeValue, std::string(100, 'v')});
    ASSERT_OK(BuildPiece(records, {}, &meta_, &hashes_));
    piece_ = OpenPiece(meta_);
    ASSERT_GE(meta_.num_blocks, 50u);
  }
  const SeparatorIndex& separators() const { return piece_->resident()->separators(); }
  uint32_t BlockOf(int i) const { return piece_->resident()->SeekBlock(NumberedKey(i)); }
  uint64_t Bytes(uint32_t from, uint32_t to) const {
    return separators().BlockOffset(to) - separators().BlockOffset(from);
  }
  // Blocks of about this many bytes are expected behind the first one.
  BlockReadOptions Expecting(uint64_t bytes) {
    seeks_ = SeekCounter();
    seeks_.expected_bytes = bytes;
    BlockReadOptions read;
    read.seeks = &seeks_;
    return read;
  }
  struct Reads {
    uint64_t count, bytes;
  };
  template <typename F>
  static Reads Count(F f) {
    rocksdb::PerfContext* const perf = rocksdb::get_perf_context();
    perf->Reset();
    f();
    return {perf->block_read_count, perf->block_read_byte};
  }
  void Walk(const BlockReadOptions& read, int from, int n) {
    auto iter = piece_->NewIterator(read);
    iter->Seek(IKey(NumberedKey(from), kMaxSequenceNumber));
    for (int i = 0; i < n; ++i, iter->Next()) {
      ASSERT_TRUE(iter->Valid());
      ASSERT_EQ(ExtractUserKey(iter->key()), NumberedKey(from + i));
    }
  }

  PieceMeta meta_;
  PieceHashes hashes_;
  std::shared_ptr<Piece> piece_;
  SeekCounter seeks_;
};

TEST_F(PieceWalkTest, ExpectedBytesAreReadAtOnceByShare) {
  Build(/*with_cache=*/false);
  const uint32_t b = BlockOf(100);
  BlockReadOptions read = Expecting(Bytes(b + 1, b + 9));
  Reads r = Count([&] { Walk(read, 100, 20); });
  EXPECT_EQ(r.count, 1u);
  EXPECT_EQ(r.bytes, Bytes(b, b + 9));
  EXPECT_EQ(seeks_.from_file, 1u);
  EXPECT_EQ(seeks_.file_bytes, seeks_.walked_bytes + separators().BlockLength(b));
  read = Expecting(Bytes(b + 1, b + 9));
  read.walk_share = 0.25;
  r = Count([&] { Walk(read, 100, 1); });
  EXPECT_EQ(r.count, 1u);
  EXPECT_EQ(r.bytes, Bytes(b, b + 3));
  read.walk_share = 0;
  r = Count([&] { Walk(read, 100, 1); });
  EXPECT_EQ(r.bytes, Bytes(b, b + 1));
}

TEST_F(PieceWalkTest, WindowsEndBeforeWhatIsCached) {
  Build(/*with_cache=*/true);
  const uint32_t b = BlockOf(100);
  // Blocks b + 5 to b + 8 and b + 2 are in the cache.
  BlockRef ref;
  for (const uint32_t block : {b + 2, b + 5, b + 6, b + 7, b + 8}) {
    ASSERT_OK(piece_->resident()->GetBlock({}, block, &ref));
  }
  ref.Reset();
  const BlockReadOptions read = Expecting(Bytes(b + 1, b + 9));
  const Reads r = Count([&] { Walk(read, 100, 28); });
  EXPECT_EQ(r.count, 1u);
  EXPECT_EQ(r.bytes, Bytes(b, b + 5));
  EXPECT_EQ(Count([&] { Walk(read, 100, 28); }).count, 0u);
  // Backward, too: from a block that is not cached over those that are.
  int in_last = 100;
  while (BlockOf(in_last) != b + 9) ++in_last;
  auto iter = piece_->NewIterator(Expecting(Bytes(b + 3, b + 9)));
  const Reads back = Count([&] {
    iter->SeekForPrev(IKey(NumberedKey(in_last), 0, kTypeDeletion));
    ASSERT_TRUE(iter->Valid());
  });
  EXPECT_EQ(back.bytes, separators().BlockLength(b + 9));
}

TEST_F(PieceWalkTest, PreparedSeeksOfSeveralIteratorsShareABatch) {
  Build(/*with_cache=*/false);
  const BlockReadOptions read = Expecting(3000);
  auto a = piece_->NewIterator(read), b = piece_->NewIterator(read);
  const std::string target = IKey(NumberedKey(200), kMaxSequenceNumber);
  const Slice key(target);
  for (const bool to_first : {false, true}) {
    {
      ReadBatch batch;
      const Reads r = Count([&] {
        a->PrepareSeek(to_first ? nullptr : &key, &batch);
        b->PrepareSeek(to_first ? nullptr : &key, &batch);
      });
      EXPECT_EQ(r.count, 2u);
      EXPECT_FALSE(batch.empty());
      batch.Wait();
    }
    const Reads r = Count([&] {
      for (auto* it : {&a, &b}) {
        to_first ? (*it)->SeekToFirst() : (*it)->Seek(key);
        for (int i = to_first ? 0 : 200, n = 0; n < 15; ++i, ++n, (*it)->Next()) {
          ASSERT_TRUE((*it)->Valid());
          EXPECT_EQ(ExtractUserKey((*it)->key()), NumberedKey(i));
        }
      }
    });
    EXPECT_EQ(r.count, 0u);
  }
  // A prepared seek need not be used.
  ReadBatch batch;
  a->PrepareSeek(&key, &batch);
  batch.Wait();
  a->SeekToLast();
  EXPECT_EQ(ExtractUserKey(a->key()), NumberedKey(399));
  a->PrepareSeek(&key, &batch);
  batch.Wait();
  a->SeekForPrev(IKey(NumberedKey(7), 0, kTypeDeletion));
  EXPECT_EQ(ExtractUserKey(a->key()), NumberedKey(7));
  const std::string beyond = IKey(NumberedKey(5000), kMaxSequenceNumber);
  const Slice behind(beyond);
  a->PrepareSeek(&behind, &batch);
  EXPECT_TRUE(batch.empty());
  a->Seek(behind);
  EXPECT_FALSE(a->Valid());
  EXPECT_OK(a->status());
}

TEST_F(PieceWalkTest, LongWalksReadTheirNextWindowInAdvance) {
  Build(/*with_cache=*/false);
  const auto all = [&](const BlockReadOptions& read, bool backward) {
    auto iter = piece_->NewIterator(read);
    int i = backward ? 399 : 0;
    for (backward ? iter->SeekToLast() : iter->SeekToFirst(); iter->Valid();
         backward ? iter->Prev() : iter->Next()) {
      ASSERT_EQ(ExtractUserKey(iter->key()), NumberedKey(i));
      i += backward ? -1 : 1;
    }
    ASSERT_OK(iter->status());
    EXPECT_EQ(i, backward ? -1 : 400);
  };
  for (const bool backward : {false, true}) {
    BlockReadOptions read;
    const Reads plain = Count([&] { all(read, backward); });
    EXPECT_LT(plain.count, 10u);
    EXPECT_EQ(plain.bytes, meta_.data_bytes);
    read.async_io = true;
    const Reads async = Count([&] { all(read, backward); });
    EXPECT_LT(async.count, 12u);
    EXPECT_EQ(async.bytes, meta_.data_bytes);
    read.readahead_bytes = 4000;
    EXPECT_EQ(Count([&] { all(read, backward); }).bytes, meta_.data_bytes);
  }
  // A walk that asks for it has one block on its way beyond the one that it is in.
  BlockReadOptions read;
  read.async_io = true;
  auto iter = piece_->NewIterator(read);
  const Reads r = Count([&] { iter->Seek(IKey(NumberedKey(100), kMaxSequenceNumber)); });
  EXPECT_EQ(r.count, 2u);
  EXPECT_EQ(r.bytes, Bytes(BlockOf(100), BlockOf(100) + 2));
}

}  // namespace
}  // namespace compassdb
