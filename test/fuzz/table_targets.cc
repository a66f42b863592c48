// SPDX-License-Identifier: Apache-2.0
// The parts of tables, each by itself.
#include "filter/table_filter.h"
#include "fuzz/fuzz_target.h"
#include "perfect_hash/perfect_hash.h"
#include "rocksdb/comparator.h"
#include "table/block/block.h"
#include "table/block/block_io.h"
#include "table/directory/directory.h"
#include "table/directory/separator_index.h"
#include "table/piece/hashed_index.h"
#include "table/piece/order_page.h"
#include "table/piece/piece_format.h"
#include "util/elias_fano.h"
#include "util/random.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

FUZZ_TARGET(perfect_hash, 512 << 10) {
  perfect_hash::Function function;
  // Words are read behind the end of what a function needs, as a string has them.
  const std::string bytes = input.ToString();
  if (!perfect_hash::Function::Open(
          {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &function)) {
    return;
  }
  compassdb::Random random(1);
  uint64_t hashes[64], slots[64];
  for (uint64_t& hash : hashes) hash = random.Next();
  hashes[0] = 0;
  hashes[1] = UINT64_MAX;
  function.Batch(hashes, slots, 64);
  for (size_t i = 0; i < 64; ++i) {
    function.Prefetch(hashes[i]);
    FUZZ_CHECK(function(hashes[i]) == slots[i]);
    FUZZ_CHECK(function.slots() == 0 ? slots[i] == 0 : slots[i] < function.slots());
  }
  AcceptFuzzInput();
}

FUZZ_TARGET(directory, 512 << 10) {
  std::unique_ptr<Directory> directory;
  if (!Directory::Open(input.ToString(), &directory).ok()) return;
  compassdb::Random random(1);
  for (int i = 0; i < 64; ++i) {
    KeyHash hash;
    hash.h1 = random.Next();
    hash.h2 = random.Next();
    const DirectoryHit hit = directory->Lookup(hash);
    FUZZ_CHECK(hit.kind != DirectoryHit::kPiece || hit.piece < directory->num_pieces());
    if (directory->num_keys() > 0 && !directory->IsAmbiguous(hash.h1)) {
      FUZZ_CHECK(directory->PieceAt(directory->SlotOf(hash)) < directory->num_pieces());
    }
  }
  (void)directory->Memory();
  AcceptFuzzInput();
}

void WalkBlock(const Block& block, const KeyOrder& order, size_t bytes) {
  BlockIter iter(block, order);
  size_t records = 0;
  for (iter.SeekToFirst(); iter.Valid(); iter.Next()) {
    FUZZ_CHECK(iter.key().size() >= 8 && iter.value().size() <= bytes);
    ++records;
  }
  FUZZ_CHECK(records <= block.count());
  for (iter.SeekToLast(); iter.Valid(); iter.Prev()) {
  }
  const std::string keys[] = {"", "key", "key00000020", std::string(40, '\xff')};
  for (const std::string& key : keys) {
    Block::FindResult result;
    const KeyHash hash = KeyHasher(7)(key);
    (void)block.Find(order, key, nullptr, kMaxSequenceNumber, &result);
    (void)block.Find(order, key, &hash, 5, &result);
    std::string internal;
    AppendInternalKey(&internal, key, 100, kTypeValue);
    iter.Seek(internal);
    iter.SeekForPrev(internal);
  }
}

FUZZ_TARGET(block, 512 << 10) {
  Block block;
  if (!Block::Parse(input, &block)) return;
  WalkBlock(block, KeyOrder(rocksdb::BytewiseComparator()), input.size());
  WalkBlock(block, KeyOrder(rocksdb::ReverseBytewiseComparator()), input.size());
  AcceptFuzzInput();
}

FUZZ_TARGET(order_page, 512 << 10) {
  FuzzInput in(input);
  const OrderWidths widths = {static_cast<uint32_t>(in.Number(1) % 29), static_cast<uint32_t>(in.Number(1) % 29),
                              static_cast<uint32_t>(in.Number(1) % (OrderWidths::kMax + 1))};
  const auto count = static_cast<uint32_t>(in.Number(2) % OrderPage::kKeys);
  Block block;
  OrderPage page;
  if (!Block::Parse(in.Rest(), &block) || !OrderPage::Parse(block, count, widths, &page)) return;
  for (uint32_t i = 0; i < count; ++i) (void)page.place(i);
  AcceptFuzzInput();
  if (!page.has_differences() || count == 0) return;
  const uint32_t candidate = page.Candidate(0, count, "key00000020");
  FUZZ_CHECK(candidate < count);
  FUZZ_CHECK(page.LowerBound(0, count, candidate, 12, true) <= count);
  FUZZ_CHECK(page.LowerBound(0, count, candidate, 12, false) <= count);
}

// How many blocks and bytes, the comparator, and the section.
FUZZ_TARGET(separators, 512 << 10) {
  FuzzInput in(input);
  const uint64_t blocks = in.Number(3), bytes = in.Number(6);
  const KeyOrder order(in.Number(1) % 2 == 0 ? rocksdb::BytewiseComparator() : rocksdb::ReverseBytewiseComparator());
  SeparatorIndex index;
  if (!SeparatorIndex::Parse(in.Rest(), order, blocks, bytes, "piece", &index).ok()) return;
  FUZZ_CHECK(index.num_blocks() == blocks);
  for (uint64_t i = 0; i <= blocks; i += 1 + blocks / 300) {
    FUZZ_CHECK(index.BlockOffset(static_cast<uint32_t>(i)) <= bytes);
    if (i < blocks) {
      FUZZ_CHECK(index.BlockLength(static_cast<uint32_t>(i)) <= bytes);
      (void)index.KeyContinues(static_cast<uint32_t>(i));
    }
  }
  for (const char* key : {"", "key", "key00000020", "key00000077x", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    FUZZ_CHECK(index.LowerBound(order, key) <= blocks);
  }
  AcceptFuzzInput();
}

// The footer's numbers, and the section.
FUZZ_TARGET(hashed_index, 512 << 10) {
  FuzzInput in(input);
  PieceFooter footer;
  footer.data_order = 1 + in.Number(1) % 2;
  footer.num_blocks = in.Number(3);
  footer.num_keys = in.Number(4);
  footer.data_bytes = in.Number(6);
  footer.order_bytes = in.Number(5);
  HashedIndex index;
  if (!HashedIndex::Parse(in.Rest(), footer, "piece", &index).ok()) return;
  compassdb::Random random(1);
  for (int i = 0; i < 64; ++i) {
    FUZZ_CHECK(index.Locate(i == 0 ? UINT64_MAX : random.Next()) <= footer.num_blocks);
  }
  for (uint64_t i = 0; i <= footer.num_blocks; i += 1 + footer.num_blocks / 300) {
    FUZZ_CHECK(index.BlockOffset(static_cast<uint32_t>(i)) <= footer.data_bytes);
    if (i < footer.num_blocks) FUZZ_CHECK(index.BlockLength(static_cast<uint32_t>(i)) <= footer.data_bytes);
  }
  for (uint64_t page = 0; page < index.num_pages(); page += 1 + index.num_pages() / 300) {
    const PieceRange range = index.Page(page);
    FUZZ_CHECK(range.offset + range.length <= footer.data_bytes + footer.order_bytes);
  }
  AcceptFuzzInput();
}

FUZZ_TARGET(filter, 512 << 10) {
  const auto extractor = std::unique_ptr<const rocksdb::SliceTransform>(rocksdb::NewFixedPrefixTransform(5));
  std::unique_ptr<const TableFilter> filter;
  if (TableFilter::Parse(input, &filter)) {
    AcceptFuzzInput();
    for (const char* key : {"", "key", "key00000020"}) {
      (void)filter->AskKey(key, nullptr);
      (void)filter->AskKey(key, extractor.get());
      if (filter->HasPrefixesOf(extractor.get())) (void)filter->MayHavePrefix(key);
    }
  }
  const auto reader = NewFilterReader(input);
  compassdb::Random random(1);
  for (int i = 0; i < 32; ++i) (void)reader->MayMatch(random.Bytes(static_cast<size_t>(i)));
}

// The input for a piece's sections: which of them, how many, and the bytes.
FUZZ_TARGET(piece_sections, 512 << 10) {
  FuzzInput in(input);
  const uint64_t kind = in.Number(1), count = in.Number(8);
  bool good = false;
  switch (kind % 4) {
    case 0: {
      PieceHashes hashes;
      good = DecodeHashes(in.Rest(), count, "piece", &hashes).ok();
      FUZZ_CHECK(!good || hashes.h1.size() == count);
      break;
    }
    case 1: {
      std::vector<RangeTombstone> tombstones;
      good = DecodeTombstones(in.Rest(), count, /*timestamp_size=*/0, "piece", &tombstones).ok();
      FUZZ_CHECK(!good || tombstones.size() == count);
      break;
    }
    case 2: {
      PieceMeta meta;
      std::string comparator;
      good = DecodeProperties(in.Rest(), "piece", &meta, &comparator).ok();
      break;
    }
    default: {
      PieceFooter footer;
      const uint64_t length = in.Number(6);
      good = DecodeFooter(in.Rest(), 1, 1u << 20, length, "piece", &footer).ok();
      FUZZ_CHECK(!good || footer.ExtentLength() == length);
    }
  }
  if (good) AcceptFuzzInput();
}

FUZZ_TARGET(elias_fano, 512 << 10) {
  FuzzInput in(input);
  const uint64_t most = in.Number(3);
  Slice rest = in.Rest();
  EliasFano sequence;
  if (!EliasFano::Parse(&rest, most, &sequence)) return;
  FUZZ_CHECK(sequence.size() <= most);
  uint64_t last = 0;
  for (uint64_t i = 0; i < sequence.size(); i += 1 + sequence.size() / 300) {
    FUZZ_CHECK(sequence[i] >= last);
    last = sequence[i];
    FUZZ_CHECK(sequence.CountUpTo(last) > i);
  }
  FUZZ_CHECK(sequence.CountUpTo(UINT64_MAX) <= sequence.size());
  AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
