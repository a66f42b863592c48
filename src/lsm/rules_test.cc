// SPDX-License-Identifier: Apache-2.0
// The rules of docs/design/rules.md that keep tables correct, each with tests that
// fail without it.
#include <strings.h>

#include "lsm/policy/picker.h"
#include "lsm/testing/store_harness.h"

namespace compassdb {
namespace {

std::string Key(int i) {
  char buf[16];
  snprintf(buf, sizeof(buf), "k%05d", i);
  return buf;
}

// One large table on level 1 that takes many deltas before it is collected.
StoreOptions OneTable() {
  StoreOptions o = StoreHarness::SmallOptions();
  o.target_table_bytes = 1 << 20;
  o.level1_max_bytes = 16 << 20;
  o.max_pieces = 16;
  return o;
}

class RulesTest : public ::testing::Test {
 protected:
  void TearDown() override { TEST_SetKeyHashMask(~uint64_t{0}); }
  // A base of n keys in level 1, as one piece.
  void Base(StoreHarness* h, int n) {
    for (int i = 0; i < n; ++i) h->Put(Key(i), "base" + std::string(60, 'b'));
    Down(h);
  }
  void Down(StoreHarness* h) {
    h->Flush();
    ASSERT_TRUE(h->Manual(0, 1));
  }
  uint64_t Deletions(StoreHarness* h) {
    uint64_t n = 0;
    for (const auto& level : h->Tables()) {
      for (const TphMeta& t : level) {
        for (const TphPiece& p : t.pieces) n += p.meta->num_deletions;
      }
    }
    return n;
  }
};

// Rule 1: truth is the merge of the pieces; the directory is only a short way.
TEST_F(RulesTest, Rule1SnapshotsReadPastTheDirectory) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  const SequenceNumber before = h.Snapshot();
  h.Put(Key(7), "new");
  h.Merge(Key(8), "m");
  h.Delete(Key(9));
  Down(&h);
  ASSERT_EQ(h.Tables()[1][0].pieces.size(), 2u);
  EXPECT_EQ(h.Get(Key(7), before), h.Expected(Key(7), before));
  EXPECT_EQ(h.Get(Key(8), before), h.Expected(Key(8), before));
  EXPECT_EQ(h.Get(Key(9), before), h.Expected(Key(9), before));
  h.CheckAll("rule 1");
}

TEST_F(RulesTest, Rule1RangeTombstoneInTheHeadCoversPiecesThatStay) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.DeleteRange(Key(10), Key(20));
  Down(&h);
  ASSERT_EQ(h.Tables()[1][0].pieces.size(), 2u);
  EXPECT_EQ(h.Get(Key(15)), std::nullopt);
  h.CheckAll("rule 1");
}

TEST_F(RulesTest, Rule1SequencesBecomeZeroOnlyWhenTheWholeTableIsRewritten) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.Put(Key(1), "x");
  Down(&h);
  // A partial merge keeps the sequence, or the head could lose to its base.
  EXPECT_GT(h.Tables()[1][0].pieces[1].meta->smallest_seq, 0u);
  ASSERT_TRUE(h.Manual(1, 1));
  EXPECT_EQ(h.Tables()[1][0].pieces[0].meta->largest_seq, 0u);
  h.Put(Key(1), "y");
  Down(&h);
  h.CheckAll("rule 1");
}

// Operands are folded with their neighbours in sequence only: the delta's must
// not meet a victim's old record while a piece that stays holds one in between.
TEST_F(RulesTest, Rule1OperandsOfTheDeltaDoNotFoldOverAPieceThatStays) {
  StoreOptions o = OneTable();
  o.max_pieces = 4;
  StoreHarness h(o);
  const auto to_level3 = [&] {
    Down(&h);
    ASSERT_TRUE(h.Manual(1, 2));
    ASSERT_TRUE(h.Manual(2, 3));
  };
  for (int i = 0; i < 300; ++i) h.Put(Key(i), "base" + std::string(60, 'b'));
  to_level3();
  h.Put(Key(7), "one");
  h.Put(Key(8), "x");
  to_level3();
  h.Put(Key(9), "x");
  to_level3();
  ASSERT_EQ(h.Tables()[3][0].pieces.size(), 3u);
  h.Put(Key(7), "two");
  h.Put(Key(250), "x");
  Down(&h);
  ASSERT_TRUE(h.Manual(1, 2));
  // The operand waits on level 1 while newer keys overtake it and join "two".
  h.Merge(Key(7), "operand");
  h.Flush();
  h.Snapshot();
  for (int i = 100; i < 200; ++i) h.Put(Key(i), "overtakes" + std::string(40, 'o'));
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.CompactOnce(&report));
  ASSERT_TRUE(report.trivial_move);
  const std::string from = Key(100), to = Key(200);
  const Slice begin(from), end(to);
  ASSERT_TRUE(h.Manual(1, 2, &begin, &end));
  ASSERT_TRUE(h.Manual(2, 3));
  ASSERT_EQ(h.Tables()[3][0].pieces.size(), 4u);
  ASSERT_TRUE(h.Manual(1, 2));
  ASSERT_TRUE(h.Manual(2, 3));  // at the piece limit: "one" is a victim, "two" need not be
  EXPECT_EQ(h.Get(Key(7)), StoreHarness::Answer("two,operand"));
  h.CheckAll("rule 1");
  h.Verify();
}

// Rule 2: every user key with a record in any piece has a slot; a tombstone is a record.
TEST_F(RulesTest, Rule2TombstonesAreInTheDirectory) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.Delete(Key(3));
  Down(&h);
  const TphMeta t = h.Tables()[1][0];
  EXPECT_EQ(t.num_keys, 300u);
  EXPECT_EQ(t.pieces[0].live_keys, 299u);
  EXPECT_EQ(t.pieces[1].live_keys, 1u);
  h.Verify();
}

// Rule 3: a 64-bit hash is a hint.
TEST_F(RulesTest, Rule3KeysThatShareAHashAllSurviveCollection) {
  TEST_SetKeyHashMask(0xe000000000000000);  // eight hashes for all keys
  StoreOptions o = OneTable();
  o.max_pieces = 3;
  StoreHarness h(o);
  Base(&h, 100);
  for (int round = 0; round < 8; ++round) {
    for (int i = round; i < 100; i += 9) h.Put(Key(i), "r" + std::to_string(round));
    Down(&h);
    h.CheckAll("rule 3");
    h.Verify();
  }
}

// Rule 4: a tombstone stays while a piece outside the job may hold the key.
TEST_F(RulesTest, Rule4TombstoneStaysWhileAnOlderPieceHoldsTheKey) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.Delete(Key(3));
  h.Delete("k99999");  // no table has it: it may be dropped at once
  Down(&h);
  EXPECT_EQ(Deletions(&h), 1u);
  EXPECT_EQ(h.Get(Key(3)), std::nullopt);
  ASSERT_TRUE(h.Manual(1, 1));  // the whole table: now it is dropped
  EXPECT_EQ(Deletions(&h), 0u);
  EXPECT_EQ(h.Get(Key(3)), std::nullopt);
}

TEST_F(RulesTest, Rule4TombstoneStaysWhileADeeperLevelHoldsTheKey) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  ASSERT_TRUE(h.Manual(1, 2));
  h.Put(Key(3), "again");
  h.Delete(Key(3));
  h.Put(Key(4), "x");
  Down(&h);
  EXPECT_EQ(Deletions(&h), 1u);
  EXPECT_EQ(h.Get(Key(3)), std::nullopt);
  ASSERT_TRUE(h.Manual(1, 1));
  EXPECT_EQ(Deletions(&h), 1u);  // level 2 still holds the key
  EXPECT_EQ(h.Get(Key(3)), std::nullopt);
}

class DropEverything : public rocksdb::CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice& value, std::string*, bool*) const override {
    return value == Slice("drop");
  }
  const char* Name() const override { return "DropEverything"; }
};

TEST_F(RulesTest, Rule4FilteredRecordBecomesADeletionOverAnOlderOne) {
  DropEverything filter;
  StoreOptions o = OneTable();
  o.compaction_filter = &filter;
  StoreHarness h(o);
  Base(&h, 300);
  h.Put(Key(5), "drop");
  h.Put("k99999", "drop");
  Down(&h);
  EXPECT_EQ(h.Get(Key(5)), std::nullopt);  // and not the base's value
  EXPECT_EQ(h.Get("k99999"), std::nullopt);
  EXPECT_EQ(Deletions(&h), 1u);
  h.Verify();
}

TEST_F(RulesTest, Rule4RangeTombstoneStaysWhileItCoversPiecesThatStay) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.DeleteRange(Key(100), Key(150));
  Down(&h);
  EXPECT_EQ(h.Tables()[1][0].pieces.back().meta->num_range_tombstones, 1u);
  h.Put(Key(250), "x");
  Down(&h);
  EXPECT_EQ(h.Get(Key(120)), std::nullopt);
  ASSERT_TRUE(h.Manual(1, 1));
  EXPECT_EQ(h.Tables()[1][0].pieces[0].meta->num_range_tombstones, 0u);
  EXPECT_EQ(h.RecordsIn(1), 250u);
  h.CheckAll("rule 4");
}

// A piece whose keys are all overwritten is dropped; one with range tombstones is not empty.
// If a log is cut off again and again, each range deletion covers all before it.
TEST_F(RulesTest, Rule4RangeTombstonesThatNewerOnesHideGo) {
  StoreHarness h;
  for (int i = 0; i < 300; ++i) h.Put(Key(i), "deep");
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  while (h.Manual(1, 2)) {
  }
  const auto tombstones = [&h](int level) {
    uint64_t most = 0;
    const auto levels = h.Tables();
    for (const TphMeta& t : levels[static_cast<size_t>(level)]) {
      uint64_t sum = 0;
      for (const TphPiece& p : t.pieces) sum += p.meta->num_range_tombstones;
      most = std::max(most, sum);
    }
    return most;
  };
  SequenceNumber snapshot = 0;
  for (int i = 1; i <= 60; ++i) {
    h.DeleteRange(Key(0), Key(2 * i));
    h.Put(Key(2 * i), "log");
    if (i == 35) snapshot = h.Snapshot();
    if (i % 10 == 0) h.Flush();
  }
  EXPECT_EQ(tombstones(0), 2u);  // the snapshot's, and the newest
  h.CheckAll("flushed");
  ASSERT_TRUE(h.Manual(0, 1));
  EXPECT_EQ(tombstones(1), 2u);
  h.CheckAll("compacted");
  h.ReleaseSnapshot(snapshot);
  h.DeleteRange(Key(0), Key(200));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  EXPECT_LE(tombstones(1), 3u);  // pieces that stay keep theirs
  h.CheckAll("released");
  h.Verify();
}

TEST_F(RulesTest, Rule4PieceWithRangeTombstonesIsNotEmpty) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.Put(Key(1), "one");
  h.DeleteRange(Key(100), Key(150));
  Down(&h);
  h.Put(Key(1), "two");
  Down(&h);
  ASSERT_EQ(h.Tables()[1][0].pieces.size(), 3u);
  EXPECT_EQ(h.Tables()[1][0].pieces[1].live_keys, 0u);
  EXPECT_EQ(h.Get(Key(120)), std::nullopt);
  h.CheckAll("rule 4");
}

// Records under a range deletion count as dead: if there are too many, they are rewritten.
TEST_F(RulesTest, Rule4PiecesThatARangeTombstoneCoversAreCollected) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.DeleteRange(Key(20), Key(280));
  Down(&h);
  ASSERT_EQ(h.Tables()[1].size(), 1u);
  EXPECT_EQ(h.RecordsIn(1), 40u);
  EXPECT_EQ(h.Tables()[1][0].pieces.back().meta->num_range_tombstones, 0u);
  h.CheckAll("rule 4");
  // Not what a snapshot sees.
  h.Snapshot();
  h.DeleteRange(Key(0), Key(300));
  Down(&h);
  EXPECT_GE(h.RecordsIn(1), 40u);
  h.CheckAll("rule 4, snapshot");
}

TEST_F(RulesTest, Rule4EmptyPieceStaysForASnapshot) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  h.Put(Key(1), "one");
  Down(&h);
  h.Snapshot();
  h.Put(Key(1), "two");
  Down(&h);
  EXPECT_EQ(h.Tables()[1][0].pieces.size(), 3u);
  h.CheckAll("with snapshot");
  h.ReleaseSnapshot(*h.snapshots().begin());
  h.Put(Key(1), "three");
  Down(&h);
  EXPECT_EQ(h.Tables()[1][0].pieces.size(), 2u);  // both old pieces vanished unread
  h.CheckAll("without");
}

// Rule 5: one job per table at a time, level 0 as a whole.
TEST_F(RulesTest, Rule5TablesOfARunningJobAreLeftAlone) {
  StoreOptions o = StoreHarness::SmallOptions();
  StoreHarness h(o);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i) h.Put(Key(i), std::string(50, 'a' + round));
    h.Flush();
  }
  std::unique_ptr<CompactionTask> first = h.store()->PickCompaction();
  ASSERT_NE(first, nullptr);
  for (int i = 0; i < 100; ++i) h.Put(Key(i), "newest");
  h.Flush();
  // The newer run may not move down before the older ones.
  EXPECT_EQ(h.store()->PickCompaction(), nullptr);
  bool conflict = false;
  ManualCompaction m;
  m.input_level = 0;
  m.output_level = 1;
  EXPECT_EQ(h.store()->PickManual(m, &conflict), nullptr);
  EXPECT_TRUE(conflict);
  ASSERT_TRUE(h.Run(std::move(first)));
  h.CheckAll("rule 5");
  h.CompactAll();
  h.CheckAll("rule 5, after");
}

TEST_F(RulesTest, Rule5RangeTombstonesCountAsOverlap) {
  const Comparator* cmp = rocksdb::BytewiseComparator();
  TphMeta tombstones;  // only a range tombstone [b, m)
  tombstones.smallest = "b";
  tombstones.largest = "m";
  tombstones.largest_exclusive = true;
  TphMeta points;
  points.smallest = "k";
  points.largest = "z";
  EXPECT_TRUE(Overlap(cmp, tombstones, points));
  points.smallest = "m";
  EXPECT_FALSE(Overlap(cmp, tombstones, points));  // the end is exclusive
  tombstones.largest_exclusive = false;
  EXPECT_TRUE(Overlap(cmp, tombstones, points));

  StoreHarness h(OneTable());
  Base(&h, 300);
  h.DeleteRange(Key(0), Key(300));  // no point record in the delta
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.Manual(0, 1, nullptr, nullptr, &report));
  EXPECT_FALSE(report.trivial_move);
  h.CheckAll("rule 5");
}

// An empty range has no key that it could overlap: as a table it would share
// its bound with the next one and hide it.
TEST_F(RulesTest, Rule5EmptyRangeTombstonesMakeNoTable) {
  StoreOptions o = OneTable();
  o.level0_trigger = 1;
  StoreHarness h(o);
  Base(&h, 300);
  h.DeleteRange(Key(0), Key(0));
  h.Flush();
  EXPECT_TRUE(h.Tables()[0].empty());
  h.CompactAll();
  EXPECT_EQ(h.Tables()[1].size(), 1u);
  h.CheckAll("rule 5");
  h.Verify();
}

// A job with two inputs writes tables across the gap between them.
TEST_F(RulesTest, Rule5NothingFillsAGapThatARunningJobSpans) {
  StoreHarness h(OneTable());
  h.Put(Key(1), "left");
  h.Flush();
  h.Put(Key(9), "right");
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.CompactOnce(&report));
  ASSERT_TRUE(report.trivial_move);
  ASSERT_EQ(h.Tables()[1].size(), 2u);
  ManualCompaction m;
  m.input_level = 1;
  m.output_level = 2;
  bool conflict = false;
  std::unique_ptr<CompactionTask> both = h.store()->PickManual(m, &conflict);
  ASSERT_NE(both, nullptr);
  h.Put(Key(5), "middle");
  Down(&h);
  const std::string key = Key(5);
  const Slice at(key);
  h.Manual(1, 2, &at, &at);  // has to wait
  ASSERT_TRUE(h.Run(std::move(both)));
  h.CheckAll("rule 5");
  h.Verify();
  ASSERT_TRUE(h.Manual(1, 2, &at, &at));
  h.CheckAll("rule 5, after");
  h.Verify();
}

// Rule 6: hashing only where different bytes are different keys.
class CaseInsensitive : public rocksdb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    return strcasecmp(a.ToString().c_str(), b.ToString().c_str());
  }
  const char* Name() const override { return "CaseInsensitive"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(RulesTest, Rule6EqualKeysOfDifferentBytesShadowEachOther) {
  CaseInsensitive cmp;
  StoreOptions o = OneTable();
  o.comparator = &cmp;
  StoreHarness h(o);
  Base(&h, 300);
  ASSERT_TRUE(h.Manual(1, 2));
  h.Put("K00003", "upper");
  h.Delete("K00004");
  Down(&h);
  EXPECT_EQ(h.Get("k00003"), StoreHarness::Answer("upper"));
  EXPECT_EQ(h.Get("k00004"), std::nullopt);
  ASSERT_TRUE(h.Manual(1, 2));
  EXPECT_EQ(h.Get("k00003"), StoreHarness::Answer("upper"));
  EXPECT_EQ(h.Get("k00004"), std::nullopt);
  EXPECT_EQ(h.Get("K00005"), h.Expected("k00005"));
  h.Verify();
}

// Rule 6, in hash range: every partition has its copy of a range tombstone until
// it has itself compacted past it.
TEST_F(RulesTest, Rule6RangeTombstonesOfPartitionsGoOneByOne) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 1 << 20;
  StoreHarness h(o);
  Base(&h, 600);
  while (h.Manual(1, 2)) {
  }
  const size_t partitions = h.Tables()[2].size();
  ASSERT_GE(partitions, 8u);
  h.DeleteRange(Key(100), Key(200));
  h.Put(Key(150), "after");
  Down(&h);
  const auto tombstones = [&h](int level) {
    uint64_t n = 0;
    const auto levels = h.Tables();
    for (const TphMeta& t : levels[level]) {
      for (const TphPiece& p : t.pieces) n += p.meta->num_range_tombstones;
    }
    return n;
  };
  EXPECT_GE(tombstones(1), 1u);
  h.CheckAll("on level 1");
  ASSERT_TRUE(h.Manual(1, 2));
  h.CheckAll("on level 2");
  h.Verify();
  uint64_t left = tombstones(2);
  EXPECT_EQ(tombstones(1), 0u);
  EXPECT_GT(left, 0u);  // pieces that stay have covered keys
  ASSERT_TRUE(h.Manual(2, 2));
  EXPECT_EQ(tombstones(2), 0u);
  EXPECT_EQ(h.RecordsIn(2), 501u);
  h.CheckAll("all partitions have compacted past it");
  h.Verify();
}

// The copies of the partitions that are merged into one are one again, or every level that a tombstone
// passes would multiply them.
TEST_F(RulesTest, Rule6CopiesOfRangeTombstonesDoNotMultiply) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 64 << 20;
  StoreHarness h(o);
  Base(&h, 600);
  const SequenceNumber before = h.Snapshot();  // so that the tombstones are kept
  constexpr uint64_t kTombstones = 5;
  for (uint64_t i = 0; i < kTombstones; ++i) h.DeleteRange(Key(i * 10), Key(i * 10 + 300));
  for (int level = 1; level <= 3; ++level) {
    for (int i = 0; i < 600; ++i) h.Put(Key(i), std::string(60, 'v'));
    Down(&h);
    for (int to = 2; to <= level; ++to) ASSERT_TRUE(h.Manual(to - 1, to));
    const auto levels = h.Tables();
    ASSERT_GT(levels[static_cast<size_t>(level)].size(), 4u);
    for (const TphMeta& t : levels[static_cast<size_t>(level)]) {
      for (const TphPiece& p : t.pieces) EXPECT_LE(p.meta->num_range_tombstones, kTombstones) << level;
    }
  }
  h.CheckAll("three levels down");
  h.ReleaseSnapshot(before);
  h.Verify();
}

// One partition moves down with its records, another stays above with its copy of an older tombstone; then
// the levels are cut by keys. Records below must not get sequence 0, or the tombstone would cover them.
TEST_F(RulesTest, Rule6ATombstoneLeftAboveMayBeOlder) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 64 << 20;
  StoreHarness h(o);
  const SequenceNumber before = h.Snapshot();  // so that the tombstone is kept
  h.DeleteRange(Key(0), Key(400));
  for (int i = 0; i < 400; ++i) h.Put(Key(i), std::string(60, 'v'));
  Down(&h);
  ASSERT_GT(h.Tables()[1].size(), 1u);
  const std::unordered_set<uint64_t> one = {h.Tables()[1][0].tph_id};
  ManualCompaction down;
  down.input_level = 1;
  down.output_level = 2;
  down.tables = &one;
  bool conflict = false;
  ASSERT_TRUE(h.Run(h.store()->PickManual(down, &conflict)));
  o.hash_range = false;
  h.Reopen(o);
  h.CompactAll();
  ASSERT_FALSE(h.Tables()[2].empty());
  ASSERT_FALSE(h.Tables()[3].empty());
  h.ReleaseSnapshot(before);
  ASSERT_TRUE(h.Manual(3, 3));  // its own copy of the tombstone is dropped
  ASSERT_TRUE(h.Manual(3, 3));
  h.CheckAll("after the rewrite");
  h.Verify();
}

// Rule 7: a piece that was hashed with another seed is not taken for one of ours.
TEST_F(RulesTest, Rule7PiecesOfAnotherSeedAreRefused) {
  StoreHarness h(OneTable());
  Base(&h, 10);
  EXPECT_EQ(h.Tables()[1][0].pieces[0].meta->hash_seed, 77u);
  VersionEdit edit;
  h.store()->Snapshot(&edit);
  h.context()->hasher = KeyHasher(78);
  std::unique_ptr<Store> other = NewLsmStore(h.context(), OneTable());
  ASSERT_TRUE(other->ApplyRecovered(edit).ok());
  Status s = other->Open();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

// Rule 8: data and directory entry are durable before the manifest can name
// them; what a job replaces is freed only after that.
TEST_F(RulesTest, Rule8JobOutputSurvivesAPowerCutBeforeItIsCommitted) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  for (int i = 0; i < 300; ++i) h.Put(Key(i), "second");
  h.Flush();
  ManualCompaction m;
  m.input_level = 0;
  m.output_level = 1;
  bool conflict = false;
  std::unique_ptr<CompactionTask> task = h.store()->PickManual(m, &conflict);
  VersionEdit edit;
  JobReport report;
  h.fs()->ResetCounts();
  ASSERT_TRUE(task->Run({}, nullptr, &edit, &report).ok());
  EXPECT_EQ(h.fs()->Count(FaultOp::kSync), 1u);  // one data barrier for all outputs
  std::vector<std::string> before, after;
  ASSERT_TRUE(h.fs()->GetChildren("/db", &before).ok());
  ASSERT_TRUE(h.Free().ok());  // not committed: nothing may go
  ASSERT_TRUE(h.fs()->GetChildren("/db", &after).ok());
  EXPECT_EQ(before, after);
  h.fs()->PowerCut(1, CutMode::kDropUnsynced);
  h.fs()->Restart();
  // Both states can be opened: the old one, and the one that the edit makes.
  VersionEdit old_state;
  h.store()->Snapshot(&old_state);
  StoreContext context;
  h.CopyContext(&context);
  FileCache files(h.fs(), "/db", FileOptions(), 0);
  context.files = &files;
  for (bool committed : {false, true}) {
    std::unique_ptr<Store> store = NewLsmStore(&context, OneTable());
    ASSERT_TRUE(store->ApplyRecovered(old_state).ok());
    if (committed) {
      ASSERT_TRUE(store->ApplyRecovered(edit).ok());
    }
    Status s = store->Open();
    ASSERT_TRUE(s.ok()) << committed << s.ToString();
    s = store->view()->Verify();
    EXPECT_TRUE(s.ok()) << committed << s.ToString();
  }
  h.store()->Release(task.get());
}

TEST_F(RulesTest, Rule8ExtentsStayWhileAViewReadsThem) {
  StoreHarness h(OneTable());
  Base(&h, 300);
  std::shared_ptr<const StoreView> view = h.store()->view();
  for (int i = 0; i < 300; ++i) h.Put(Key(i), "second");
  Down(&h);
  ASSERT_TRUE(h.Free().ok());
  Status s = view->Verify();
  EXPECT_TRUE(s.ok()) << s.ToString();
  const uint64_t live = h.ledger()->LiveBytes();
  view.reset();
  EXPECT_LT(h.ledger()->LiveBytes(), live);
}

// Rule 9: when holes may be punched.
class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile("/db/000001.ph", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(1 << 20, 'x')).ok());
    ASSERT_TRUE(file->Close().ok());
    for (uint64_t i = 0; i < 16; ++i) ledger_.Add({1, i << 16, 1 << 16});
  }
  uint64_t Punches() { return fs_.Count(FaultOp::kPunch); }
  // Deletes whole files, then punches the holes of one pass.
  static Status Free(ExtentLedger* ledger, bool small = false) {
    Status s = ledger->Purge(nullptr);
    uint64_t punched = 0;
    return s.ok() ? ledger->Punch({.small = small}, &punched) : s;
  }
  Status Free() { return Free(&ledger_); }
  FaultInjectionFileSystem fs_;
  FileCache files_{&fs_, "/db", FileOptions(), 0};
  ExtentLedger ledger_{&fs_, &files_, 128 << 10};
};

TEST_F(LedgerTest, Rule9SmallRunsAreNotPunched) {
  ledger_.Release({1, 0, 1 << 16});
  ledger_.Release({1, 2 << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 0u);
  ledger_.Release({1, 1 << 16, 1 << 16});  // joins both
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 1u);
}

TEST_F(LedgerTest, Rule9NotInAFileWithTwoNames) {
  ASSERT_TRUE(fs_.LinkFile("/db/000001.ph", "/db/checkpoint").ok());
  for (uint64_t i = 0; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 0u);
  EXPECT_EQ(ledger_.TotalBytes(), uint64_t{1} << 20);
  // The other name is gone: what was spared is punched with the next run.
  ASSERT_TRUE(fs_.DeleteFile("/db/checkpoint").ok());
  for (uint64_t i = 8; i < 10; ++i) ledger_.Release({1, i << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 1u);
  EXPECT_EQ(ledger_.TotalBytes(), (uint64_t{1} << 20) - (10 << 16));
}

TEST_F(LedgerTest, Rule9AFewHolesAtATimeTheLargestFirst) {
  std::unique_ptr<WritableFile> file;
  const size_t at_once = ExtentLedger::PunchLimits().holes;
  const uint64_t runs = at_once + 10;
  constexpr uint64_t kRun = 128 << 10;
  ASSERT_TRUE(fs_.NewWritableFile("/db/000002.ph", FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(std::string(2 * kRun * runs, 'x')).ok());
  ASSERT_TRUE(file->Close().ok());
  for (uint64_t i = 0; i < 2 * runs; ++i) ledger_.Add({2, i * kRun, kRun});
  for (uint64_t i = 0; i < 2 * runs; i += 2) ledger_.Release({2, i * kRun, kRun});
  for (uint64_t i = 0; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});  // larger
  const uint64_t before = ledger_.TotalBytes();
  EXPECT_TRUE(ledger_.Sparse().empty());  // all of it will be freed
  EXPECT_EQ(ledger_.PunchableBytes(), (8 << 16) + runs * kRun);
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), at_once);
  EXPECT_EQ(ledger_.TotalBytes(), before - (8 << 16) - (at_once - 1) * kRun);
  EXPECT_TRUE(ledger_.HasHoles(false));
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), runs + 1);
  EXPECT_FALSE(ledger_.HasHoles(true));
}

TEST_F(LedgerTest, Rule9NoMoreBytesAtATimeThanAskedFor) {
  for (uint64_t i = 0; i < 12; ++i) ledger_.Release({1, i << 16, 1 << 16});  // one run of 768 KiB
  uint64_t punched = 0;
  ASSERT_TRUE(ledger_.Punch({.bytes = (300 << 10) + 77}, &punched).ok());
  EXPECT_EQ(punched, 300u << 10);
  EXPECT_EQ(Punches(), 1u);
  EXPECT_EQ(ledger_.TotalBytes(), (1u << 20) - (300 << 10));
  // Less than a hole of the least size is a hole of that, and no such rest stays.
  ASSERT_TRUE(ledger_.Punch({.bytes = 1}, &punched).ok());
  EXPECT_EQ(punched, 128u << 10);
  ASSERT_TRUE(ledger_.Punch({.bytes = 300 << 10}, &punched).ok());
  EXPECT_EQ(punched, 340u << 10);
  EXPECT_FALSE(ledger_.HasHoles(true));
  EXPECT_EQ(ledger_.TotalBytes(), 4u << 16);
  ASSERT_TRUE(ledger_.Punch({}, &punched).ok());
  EXPECT_EQ(punched, 0u);
}

TEST_F(LedgerTest, Rule9SmallHolesWaitUntilTheyAreLargeOrAskedFor) {
  ExtentLedger ledger(&fs_, &files_, 64 << 10, 256 << 10);
  for (uint64_t i = 0; i < 16; ++i) ledger.Add({1, i << 16, 1 << 16});
  for (uint64_t i : {1, 2, 4, 6}) ledger.Release({1, i << 16, 1 << 16});
  EXPECT_FALSE(ledger.HasHoles(false));
  EXPECT_TRUE(ledger.HasHoles(true));
  EXPECT_TRUE(ledger.Sparse().empty());  // no file has to be rewritten for them
  ASSERT_TRUE(Free(&ledger).ok());
  EXPECT_EQ(Punches(), 0u);
  ledger.Release({1, 3 << 16, 1 << 16});  // joins the first three
  EXPECT_TRUE(ledger.HasHoles(false));
  ASSERT_TRUE(Free(&ledger).ok());
  EXPECT_EQ(Punches(), 1u);
  EXPECT_EQ(ledger.TotalBytes(), 12u << 16);
  EXPECT_EQ(ledger.PunchableBytes(), 1u << 16);
  ASSERT_TRUE(Free(&ledger, /*small=*/true).ok());
  EXPECT_EQ(Punches(), 2u);
  EXPECT_EQ(ledger.TotalBytes(), 11u << 16);
  EXPECT_FALSE(ledger.HasHoles(true));
}

// A file that cannot be punched is not tried over and over, however many runs are dead in it.
TEST_F(LedgerTest, Rule9WhatCannotBePunchedEnds) {
  ASSERT_TRUE(fs_.LinkFile("/db/000001.ph", "/db/checkpoint").ok());
  for (uint64_t i = 0; i < 16; ++i) {
    if (i % 3 != 2) ledger_.Release({1, i << 16, 1 << 16});
  }
  uint64_t punched = 0;
  int passes = 0;
  for (; ledger_.HasHoles(true) && passes < 100; ++passes) {
    ASSERT_TRUE(ledger_.Punch({.holes = 1}, &punched).ok());
    EXPECT_EQ(punched, 0u);
  }
  EXPECT_EQ(passes, 1);
  EXPECT_EQ(Punches(), 0u);
  EXPECT_EQ(ledger_.Sparse().size(), 1u);
}

TEST_F(LedgerTest, Rule9WhatCannotBePunchedIsReported) {
  // Runs that are too small for it.
  ledger_.Release({1, 0, 1 << 16});
  ASSERT_EQ(ledger_.Sparse().size(), 1u);
  EXPECT_EQ(ledger_.Sparse()[0].dead_bytes, uint64_t{1} << 16);
  EXPECT_EQ(ledger_.Sparse()[0].live_bytes, uint64_t{15} << 16);
  // A file system that cannot.
  fs_.FailAll(FaultOp::kPunch, "", Status::NotSupported("no holes"));
  for (uint64_t i = 1; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});
  EXPECT_TRUE(ledger_.Sparse().empty());  // not tried yet
  EXPECT_TRUE(Free().ok());
  ASSERT_EQ(ledger_.Sparse().size(), 1u);
  EXPECT_EQ(ledger_.Sparse()[0].dead_bytes, uint64_t{8} << 16);
  EXPECT_EQ(ledger_.TotalBytes(), uint64_t{1} << 20);
  ledger_.DisableDeletions();
  EXPECT_TRUE(ledger_.Sparse().empty());
  ledger_.EnableDeletions(true);
  // One that can, after all.
  fs_.ClearFaults();
  ledger_.Release({1, 8 << 16, 1 << 16});
  EXPECT_TRUE(Free().ok());
  EXPECT_TRUE(ledger_.Sparse().empty());
}

TEST_F(LedgerTest, Rule9NotInAFileWithAChecksum) {
  EXPECT_FALSE(ledger_.ChecksumOf(1).has_value());
  ledger_.Release({1, 0, 1 << 16});
  ledger_.Release({1, 1 << 16, 1 << 16});  // large enough, and then there is a checksum
  ledger_.SetChecksum({1, "sum", "function"});
  for (uint64_t i = 2; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});
  EXPECT_FALSE(ledger_.HasHoles(true));
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 0u);
  ASSERT_EQ(ledger_.Sparse().size(), 1u);
  EXPECT_EQ(ledger_.Sparse()[0].dead_bytes, uint64_t{8} << 16);
  ASSERT_EQ(ledger_.Checksums().size(), 1u);
  EXPECT_EQ(ledger_.Checksums()[0].checksum, "sum");
  EXPECT_EQ(ledger_.ChecksumOf(1)->function, "function");
  // It is deleted with the file.
  for (uint64_t i = 8; i < 16; ++i) ledger_.Release({1, i << 16, 1 << 16});
  EXPECT_TRUE(ledger_.Checksums().empty());
  ASSERT_TRUE(Free().ok());
  EXPECT_TRUE(fs_.FileExists("/db/000001.ph").IsNotFound());
  EXPECT_FALSE(ledger_.ChecksumOf(1).has_value());
}

TEST_F(LedgerTest, Rule9PartsOfPagesArePunchedWithTheirNeighbours) {
  FaultInjectionFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/db").ok());
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs.NewWritableFile("/db/000001.ph", FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(std::string(1 << 20, 'x')).ok());
  ASSERT_TRUE(file->Close().ok());
  FileCache files(&fs, "/db", FileOptions(), 0);
  ExtentLedger ledger(&fs, &files, 128 << 10);
  const uint64_t half = (512 << 10) + 100;  // within a page
  ledger.Add({1, 36, half - 36});
  ledger.Add({1, half, (900 << 10) - half});
  ledger.Add({1, 900 << 10, 100});
  ledger.Release({1, 36, half - 36});
  ASSERT_TRUE(Free(&ledger).ok());
  EXPECT_EQ(ledger.TotalBytes(), (900 << 10) + 100 - (508 << 10));  // but the first page
  ledger.Release({1, half, (900 << 10) - half});
  ASSERT_TRUE(Free(&ledger).ok());
  EXPECT_EQ(ledger.TotalBytes(), 4096u + 100);
}

// A close or a crash forgets what was dead; the next open sees it around what is live.
TEST_F(LedgerTest, Rule9GapsOfARecoveredFileAreDead) {
  ExtentLedger ledger(&fs_, &files_, 128 << 10);
  const std::vector<Extent> live = {{1, 36, 100}, {1, 136, 1000}, {1, 512 << 10, 4096}};
  ledger.AddRecovered(live);
  EXPECT_TRUE(ledger.HasHoles(false));
  ASSERT_TRUE(Free(&ledger).ok());
  EXPECT_EQ(Punches(), 1u);
  EXPECT_EQ(ledger.TotalBytes(), 4096u + 4096u);
}

TEST_F(LedgerTest, Rule9BothEndsOfARecoveredFileAreDead) {
  for (const bool known : {false, true}) {
    ExtentLedger ledger(&fs_, &files_, 128 << 10);
    std::map<uint64_t, uint64_t> ends;
    if (known) ends[1] = 1 << 20;
    ledger.AddRecovered({{1, 256 << 10, 4096}}, ends);
    const uint64_t behind = known ? (768 << 10) - 4096 : 0;
    EXPECT_EQ(ledger.DeadBytes(), (256 << 10) - 36 + behind);
    EXPECT_EQ(ledger.TotalBytes(), (256 << 10) + 4096 + behind);
  }
}

TEST_F(LedgerTest, Rule9NotWhileDeletionsAreDisabled) {
  ledger_.DisableDeletions();
  ledger_.DisableDeletions();
  for (uint64_t i = 0; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  ledger_.EnableDeletions(false);
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 0u);
  ledger_.EnableDeletions(false);
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 1u);
}

TEST_F(LedgerTest, Rule9WholeFilesAreUnlinkedNotPunched) {
  for (uint64_t i = 0; i < 16; ++i) ledger_.Release({1, i << 16, 1 << 16});
  std::vector<ExtentLedger::Unlinked> unlinked;
  ASSERT_TRUE(ledger_.Purge(&unlinked).ok());
  ASSERT_EQ(unlinked.size(), 1u);
  EXPECT_EQ(unlinked[0].number, 1u);
  EXPECT_EQ(unlinked[0].path, "/db/000001.ph");
  EXPECT_EQ(Punches(), 0u);
  EXPECT_FALSE(fs_.FileExists("/db/000001.ph").ok());
}

TEST_F(LedgerTest, Rule9FileOfARunningJobStays) {
  ledger_.PinFile(1);
  for (uint64_t i = 0; i < 16; ++i) ledger_.Release({1, i << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  EXPECT_TRUE(fs_.FileExists("/db/000001.ph").ok());
  ledger_.UnpinFile(1);
  ASSERT_TRUE(Free().ok());
  EXPECT_FALSE(fs_.FileExists("/db/000001.ph").ok());
}

TEST_F(LedgerTest, Rule9HolesOfARunningJobsFileComeAfterIt) {
  ledger_.PinFile(1);
  for (uint64_t i = 0; i < 8; ++i) ledger_.Release({1, i << 16, 1 << 16});
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 0u);
  EXPECT_FALSE(ledger_.HasHoles(true));
  ledger_.UnpinFile(1);
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Punches(), 1u);
}

}  // namespace
}  // namespace compassdb
