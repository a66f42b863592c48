// SPDX-License-Identifier: Apache-2.0
// Consolidation of what is scanned often (the picker's rule is in testdata/scans.txt): scans bring
// it about, pay for it, and only once.
#include "lsm/policy/picker.h"
#include "lsm/testing/store_harness.h"

namespace compassdb {
namespace {

TEST(ScanCost, ReadingWhatIsDeadIsLostToThePieces) {
  constexpr uint64_t kRead = 16 << 10, kCounted = ScanCost::kSampled * kRead;
  SeekCounter seek;
  seek.from_file = 1;
  seek.file_bytes = 2 * ScanCost::kBytesPerRead;
  ScanCost clean, dead, hashed;
  EXPECT_FALSE(clean.Add(seek, kRead, /*above_others=*/false, 0, kCounted));
  EXPECT_EQ(clean.pieces() + clean.run(), 0u);
  EXPECT_TRUE(dead.Add(seek, kRead, /*above_others=*/true, 0.5, kCounted));
  EXPECT_EQ(dead.pieces(), kCounted);
  EXPECT_EQ(dead.run(), kCounted);
  seek.file_bytes = 0;
  seek.scattered_from_file = 8;
  seek.scattered_from_cache = 4 * ScanCost::kCachedBlocksPerRead;
  hashed.Add(seek, kRead, /*above_others=*/false, 0.25, kCounted);
  EXPECT_EQ(hashed.pieces(), 3 * kCounted);
}

std::string ScannedKey(int i) {
  char buf[16];
  snprintf(buf, sizeof(buf), "k%05d", i);
  return buf;
}

class ConsolidationTest : public ::testing::Test {
 protected:
  static constexpr int kKeys = 400;

  static StoreOptions Options() {
    StoreOptions o = StoreHarness::SmallOptions();
    o.target_table_bytes = 1 << 20;
    o.level1_max_bytes = 16 << 20;
    o.max_pieces = 16;
    o.max_dead_percent = 1000;
    return o;
  }
  // One table of `pieces` pieces on level 1, each with records all over it.
  static void Fill(StoreHarness* h, int pieces) {
    for (int p = 0; p < pieces; ++p) {
      for (int i = p; i < kKeys; i += p == 0 ? 1 : pieces) h->Put(ScannedKey(i), std::string(60, 'v'));
      h->Flush();
      ASSERT_TRUE(h->Manual(0, 1));
    }
    ASSERT_EQ(Pieces(h, 1), static_cast<size_t>(pieces));
  }
  static size_t Pieces(StoreHarness* h, int level) {
    size_t n = 0;
    const auto levels = h->Tables();
    for (const TphMeta& t : levels[level]) n += t.pieces.size();
    return n;
  }
  static void Scan(StoreHarness* h, int times) {
    for (int i = 0; i < times; ++i) h->GetByScan(ScannedKey(i % kKeys));
  }
};

TEST_F(ConsolidationTest, ScansMakeOnePieceOfATableAndThenNothing) {
  for (const DataOrder order : {DataOrder::kKey, DataOrder::kSlot, DataOrder::kHash}) {
    SCOPED_TRACE(static_cast<int>(order));
    StoreOptions options = Options();
    options.data_order = order;
    StoreHarness h(options);
    int wanted = 0;
    h.context()->compaction_wanted = [&] { ++wanted; };
    h.Reopen();
    Fill(&h, 4);
    EXPECT_FALSE(h.CompactOnce());
    Scan(&h, 3000);
    EXPECT_GT(wanted, 0);
    JobReport report;
    ASSERT_TRUE(h.CompactOnce(&report));
    EXPECT_EQ(report.reason, kScansReason);
    EXPECT_EQ(Pieces(&h, 1), 1u);
    EXPECT_EQ(h.store()->view()->Levels()[1].consolidations, 1u);
    wanted = 0;
    Scan(&h, 3000);
    EXPECT_EQ(wanted, 0);
    EXPECT_FALSE(h.CompactOnce());
    h.CheckAll("after consolidation");
  }
}

// Blocks of four records, as on a disk.
class WalkTest : public ConsolidationTest {
 protected:
  static constexpr int kLength = 50;

  static StoreOptions Options() {
    StoreOptions o = ConsolidationTest::Options();
    o.block_size = 4096;
    return o;
  }
  static void Fill(StoreHarness* h) {
    for (int i = 0; i < kKeys; ++i) h->Put(ScannedKey(i), std::string(1000, 'v'));
    h->Flush();
    ASSERT_TRUE(h->Manual(0, 1));
  }
  // Sets *it to walk the store's tables.
  static void NewIterator(StoreHarness* h, const Slice* upper_bound, InternalIteratorPtr* it) {
    static const InternalKeyComparator icmp(rocksdb::BytewiseComparator());
    BlockReadOptions read;
    read.upper_bound = upper_bound;
    std::vector<InternalIteratorPtr> children;
    RangeTombstoneSet tombstones(rocksdb::BytewiseComparator());
    ASSERT_TRUE(h->store()->view()->AddIterators(read, &children, &tombstones).ok());
    *it = NewMergingIterator(&icmp, std::move(children));
  }
  // File reads of a walk from key number `from` on, or back from there.
  static uint64_t Reads(StoreHarness* h, int from, bool backward,
                        const Slice* upper_bound = nullptr) {
    const uint64_t before = h->fs()->Count(FaultOp::kRead);
    InternalIteratorPtr it;
    NewIterator(h, upper_bound, &it);
    std::string target;  // behind or before all versions of the key
    AppendInternalKey(&target, ScannedKey(from), backward ? 0 : kMaxSequenceNumber,
                      backward ? kTypeDeletion : kValueTypeForSeek);
    backward ? it->SeekForPrev(target) : it->Seek(target);
    for (int i = 0; i < kLength && it->Valid(); ++i) {
      EXPECT_EQ(ExtractUserKey(it->key()).ToString(), ScannedKey(backward ? from - i : from + i));
      EXPECT_EQ(it->value().size(), 1000u);
      backward ? it->Prev() : it->Next();
    }
    EXPECT_TRUE(it->status().ok());
    return h->fs()->Count(FaultOp::kRead) - before;
  }
};

TEST_F(WalkTest, WalksOfUsualLengthAreReadAtOnce) {
  StoreHarness h(Options());
  Fill(&h);
  EXPECT_GE(Reads(&h, 100, false), 4u);
  EXPECT_GE(Reads(&h, 200, true), 4u);
  for (int i = 0; i < 1000; ++i) Reads(&h, i % (kKeys - kLength), false);
  EXPECT_LE(Reads(&h, 100, false), 2u);
  EXPECT_LE(Reads(&h, 200, true), 2u);
  // No more walks: a seek is one block again.
  const auto seek = [&] {
    const uint64_t before = h.fs()->Count(FaultOp::kRead);
    InternalIteratorPtr it;
    NewIterator(&h, nullptr, &it);
    it->Seek(LookupKey(ScannedKey(100), kMaxSequenceNumber).internal_key());
    EXPECT_TRUE(it->Valid());
    return h.fs()->Count(FaultOp::kRead) - before;
  };
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(seek(), 1u);
}

TEST_F(WalkTest, NothingIsReadBehindTheUpperBound) {
  StoreHarness h(Options());
  Fill(&h);
  const std::string end = ScannedKey(102);
  const Slice bound(end);
  InternalIteratorPtr it;
  NewIterator(&h, &bound, &it);
  const uint64_t before = h.fs()->Count(FaultOp::kRead);
  it->Seek(LookupKey(ScannedKey(99), kMaxSequenceNumber).internal_key());
  int n = 99;
  for (; it->Valid() && ExtractUserKey(it->key()).compare(bound) < 0; it->Next()) {
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), ScannedKey(n++));
  }
  EXPECT_EQ(n, 102);
  while (it->Valid()) it->Next();  // to the end, which is near
  EXPECT_TRUE(it->status().ok());
  EXPECT_LE(h.fs()->Count(FaultOp::kRead) - before, 2u);
  // Backward there is no such bound.
  EXPECT_GE(Reads(&h, 300, true, &bound), 1u);
}

TEST_F(ConsolidationTest, RareScansChangeNothing) {
  StoreHarness h(Options());
  Fill(&h, 4);
  Scan(&h, 5);
  EXPECT_FALSE(h.CompactOnce());
}

TEST_F(ConsolidationTest, NothingHappensWhereItIsSwitchedOff) {
  StoreOptions o = Options();
  o.scan_bytes_per_read = 0;
  StoreHarness h(o);
  Fill(&h, 4);
  Scan(&h, 3000);
  EXPECT_FALSE(h.CompactOnce());
}

// Or a table that is written now and then would never be consolidated.
TEST_F(ConsolidationTest, WhatScansLostOutlivesANewHead) {
  StoreHarness h(Options());
  Fill(&h, 4);
  Scan(&h, 3000);
  h.Put(ScannedKey(7), "new");
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  ASSERT_EQ(Pieces(&h, 1), 5u);
  ASSERT_TRUE(h.CompactOnce());
  EXPECT_EQ(Pieces(&h, 1), 1u);
  h.CheckAll("after consolidation");
}

TEST_F(ConsolidationTest, AScannedFamilyEndsAsOneRun) {
  StoreHarness h(Options());
  Fill(&h, 3);
  ASSERT_TRUE(h.Manual(1, 2));
  Fill(&h, 2);
  for (int i = 0; i < kKeys; i += 3) h.Merge(ScannedKey(i), "operand");
  h.Flush();
  for (int round = 0; round < 20; ++round) {
    Scan(&h, 1000);
    h.CompactAll();
  }
  const auto tables = h.Tables();
  EXPECT_TRUE(tables[0].empty());
  EXPECT_TRUE(tables[1].empty());
  ASSERT_EQ(tables[2].size(), 1u);
  EXPECT_EQ(tables[2][0].pieces.size(), 1u);
  h.CheckAll("after consolidation");
  h.Verify();
}

}  // namespace
}  // namespace compassdb
