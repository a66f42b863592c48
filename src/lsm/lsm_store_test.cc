// SPDX-License-Identifier: Apache-2.0
// Random operations on a store, against a model that keeps every version.
#include <atomic>

#include "format/file_names.h"
#include "lsm/testing/store_harness.h"
#include "util/random.h"

namespace compassdb {
namespace {

std::string StoredKey(uint64_t i) {
  char buf[16];
  snprintf(buf, sizeof(buf), "key%05d", static_cast<int>(i));
  return buf;
}

struct Mix {
  const char* name;
  int merges, deletes, ranges, snapshots;  // per thousand
  uint32_t max_pieces;
  uint64_t hash_mask;
  bool one_level = false;
  bool hash_range = false;
  int reopens = 1;        // per thousand
  uint32_t subcompactions = 1;
  bool switches = false;  // reopened with another partition now and then
  bool filter_index = false;
  bool index_switches = false;  // reopened with the other point index or kind of compaction now and then
  bool leveled = false;  // with filter_index always
  bool dynamic_levels = false;  // and of both kinds by turns, with index_switches
};

// A family without directories, as the options project it.
void UseFilterIndex(StoreOptions* options) {
  options->filter_index = options->leveled = true;
  options->filter.new_bits = [](const FilterPlace&) { return NewBloomBuilder(10000); };
}

class LsmRandomTest : public ::testing::TestWithParam<Mix> {
 protected:
  void TearDown() override { TEST_SetKeyHashMask(~uint64_t{0}); }
};

TEST_P(LsmRandomTest, AgreesWithModel) {
  const Mix& mix = GetParam();
  TEST_SetKeyHashMask(mix.hash_mask);
  // COMPASSDB_SEED starts elsewhere, for longer hunts.
  const char* env = getenv("COMPASSDB_SEED");
  const uint64_t first = env == nullptr ? 1 : strtoull(env, nullptr, 10);
  for (uint64_t seed = first; seed < first + 6; ++seed) {
    StoreOptions options = StoreHarness::SmallOptions();
    options.max_pieces = mix.max_pieces;
    options.one_level = mix.one_level;
    options.data_order = static_cast<DataOrder>(seed % 3);
    options.hash_range = mix.hash_range;
    if (mix.filter_index) UseFilterIndex(&options);
    if (mix.filter_index || mix.leveled) {
      options.leveled = true;
      options.dynamic_levels = mix.dynamic_levels;
      options.input_order = static_cast<InputOrder>(seed % 4);
      options.group_compaction_bytes = seed % 2 == 0 ? 0 : 12 << 10;
    }
    StoreHarness h(options);
    h.context()->max_subcompactions = mix.subcompactions;
    h.merge_memtables = seed % 2 == 0;
    std::atomic<int> asked{0};
    if (seed % 4 == 0) h.hurry = [&](double, uint64_t) { return ++asked % 3 == 0; };
    Random rnd(static_cast<uint32_t>(seed * 7919));
    const uint64_t keys = 400;
    std::map<std::string, bool> single;  // keys that SingleDelete may touch
    for (int step = 0; step < 6000; ++step) {
      const std::string k = StoredKey(rnd.Uniform(keys));
      const int dice = static_cast<int>(rnd.Uniform(1000));
      int bound = mix.merges;
      if (dice < bound) {
        h.Merge(k, "m" + std::to_string(step));
      } else if (dice < (bound += mix.deletes)) {
        h.Delete(k);
      } else if (dice < (bound += mix.ranges)) {
        const uint64_t from = rnd.Uniform(keys);
        h.DeleteRange(StoredKey(from), StoredKey(from + rnd.Uniform(20)));
      } else if (dice < (bound += mix.snapshots)) {
        if (h.snapshots().size() < 3) {
          h.Snapshot();
        } else {
          h.ReleaseSnapshot(*h.snapshots().begin());
        }
      } else if (dice < (bound += 10)) {
        h.Flush();
      } else if (dice < (bound += 10)) {
        h.CompactOnce();
      } else if (dice < (bound += mix.reopens)) {
        options.data_order = static_cast<DataOrder>(rnd.Uniform(3));
        if (mix.switches) options.hash_range = !options.hash_range;
        if (mix.index_switches) {
          options.filter_index = rnd.OneIn(2);
          options.leveled = options.filter_index || rnd.OneIn(2);
          options.dynamic_levels = mix.dynamic_levels && options.leveled && rnd.OneIn(2);
        }
        h.Reopen(options);
      } else if (dice < (bound += 1)) {
        const int level = 1 + static_cast<int>(rnd.Uniform(3));
        h.Manual(level, level);
      } else if (dice < (bound += 4)) {
        // Part of a level moves down: newer keys overtake older ones.
        const int level = 1 + static_cast<int>(rnd.Uniform(2));
        const std::string from = k, to = StoredKey(rnd.Uniform(keys));
        const Slice begin(from), end(to);
        if (from < to) h.Manual(level, level + 1, &begin, &end);
      } else {
        h.Put(k, "v" + std::to_string(step) + std::string(rnd.Uniform(60), 'x'));
      }
      if (::testing::Test::HasFatalFailure()) FAIL() << mix.name << " seed " << seed;
      if (step % 1500 == 1499) {
        h.CheckAll(std::string(mix.name) + " seed " + std::to_string(seed) + " step " +
                   std::to_string(step));
        h.Verify();
        if (::testing::Test::HasFatalFailure()) FAIL() << mix.name << " seed " << seed;
      }
    }
    h.CompactAll();
    h.CheckAll("at the end");
    h.Verify();
    if (::testing::Test::HasFatalFailure()) FAIL() << mix.name << " seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mixes, LsmRandomTest,
    ::testing::Values(Mix{"puts", 0, 0, 0, 0, 4, ~0ull}, Mix{"deletes", 0, 300, 0, 0, 4, ~0ull},
                      Mix{"merges", 200, 50, 0, 0, 4, ~0ull},
                      Mix{"ranges", 0, 50, 20, 0, 4, ~0ull},
                      Mix{"snapshots", 0, 100, 0, 20, 4, ~0ull},
                      Mix{"everything", 100, 100, 10, 10, 4, ~0ull},
                      Mix{"one piece", 100, 100, 10, 10, 1, ~0ull},
                      Mix{"many pieces", 100, 100, 10, 10, 64, ~0ull},
                      Mix{"some equal hashes", 100, 100, 10, 10, 8, 0xfff0000000000000},
                      Mix{"few hashes", 50, 100, 10, 10, 4, 0xf000000000000000},
                      Mix{"one level", 100, 100, 10, 10, 16, ~0ull, true},
                      Mix{"hash range", 100, 100, 10, 10, 4, ~0ull, false, true},
                      Mix{"hash range one level", 100, 100, 10, 10, 16, ~0ull, true, true},
                      Mix{"hash range some equal hashes", 100, 100, 10, 10, 8,
                          0xfff0000000000000, false, true},
                      Mix{"partition switches", 100, 100, 10, 10, 4, ~0ull, false, false, 4, 2, true},
                      Mix{"subcompactions", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 3},
                      Mix{"hash range subcompactions", 100, 100, 10, 10, 4, ~0ull, false, true, 1, 3},
                      Mix{"filter index", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 1, false, true},
                      Mix{"filter index puts", 0, 0, 0, 0, 4, ~0ull, false, false, 1, 1, false, true},
                      Mix{"filter index few hashes", 50, 100, 10, 10, 4, 0xf000000000000000, false,
                          false, 1, 1, false, true},
                      Mix{"filter index one level", 100, 100, 10, 10, 4, ~0ull, true, false, 1, 1,
                          false, true},
                      Mix{"filter index hash range", 100, 100, 10, 10, 4, ~0ull, false, true, 1, 2,
                          false, true},
                      Mix{"filter index subcompactions", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 3,
                          false, true},
                      Mix{"leveled", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 1, false, false, false, true},
                      Mix{"leveled few hashes", 50, 100, 10, 10, 4, 0xf000000000000000, false, false, 1, 1,
                          false, false, false, true},
                      Mix{"leveled one level", 100, 100, 10, 10, 4, ~0ull, true, false, 1, 1, false, false,
                          false, true},
                      Mix{"leveled hash range", 100, 100, 10, 10, 4, ~0ull, false, true, 1, 2, false, false,
                          false, true},
                      Mix{"leveled subcompactions", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 3, false,
                          false, false, true},
                      Mix{"index switches", 100, 100, 10, 10, 4, ~0ull, false, false, 4, 1, false,
                          true, true},
                      Mix{"dynamic levels", 100, 100, 10, 10, 4, ~0ull, false, false, 1, 1, false, false,
                          false, true, true},
                      Mix{"dynamic levels hash range", 100, 100, 10, 10, 4, ~0ull, false, true, 1, 2, false,
                          false, false, true, true},
                      Mix{"dynamic levels switches", 100, 100, 10, 10, 4, ~0ull, false, true, 4, 2, true,
                          true, true, true, true},
                      Mix{"all switches", 100, 100, 10, 10, 4, ~0ull, false, true, 4, 2, true, true,
                          true}),
    [](const auto& info) {
      std::string n = info.param.name;
      std::replace(n.begin(), n.end(), ' ', '_');
      return n;
    });

TEST(LsmStoreTest, TablesOfAFilterIndexHaveNoDirectory) {
  StoreOptions o = StoreHarness::SmallOptions();
  UseFilterIndex(&o);
  o.level1_max_bytes = 1 << 20;
  StoreHarness h(o);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 500; ++i) h.Put(StoredKey(i), std::string(80, static_cast<char>('a' + round)));
    h.Flush();
    h.CompactAll();
  }
  const auto levels = h.Tables();
  EXPECT_TRUE(levels[0].empty());
  ASSERT_GT(levels[1].size(), 5u);
  uint64_t bytes = 0, data = 0;
  for (const TphMeta& t : levels[1]) {
    EXPECT_EQ(t.pieces.size(), 1u);
    EXPECT_EQ(t.directory.length, 0u);
    EXPECT_EQ(t.num_keys, t.pieces[0].meta->num_keys);
    EXPECT_LT(t.DataBytes(), o.target_table_bytes * 3 / 2);
    bytes += t.TotalBytes();
    data += t.DataBytes();
  }
  EXPECT_GT(data / levels[1].size(), o.target_table_bytes * 3 / 4);
  EXPECT_EQ(h.ledger()->LiveBytes(), bytes);
  EXPECT_EQ(h.ledger()->LiveFiles().size(), 1u);  // all of them
  EXPECT_EQ(h.Get(StoredKey(500)), std::nullopt);
  h.CheckAll("leveled");
  h.Verify();
}

// The kind of compaction does not hang on the point index: tables as small, and levels as full, with directories.
TEST(LsmStoreTest, LeveledTablesMayHaveDirectories) {
  uint64_t tables[2] = {}, written[2] = {};
  for (const bool filter_index : {false, true}) {
    StoreOptions o = StoreHarness::SmallOptions();
    o.leveled = true;
    if (filter_index) UseFilterIndex(&o);
    o.level1_max_bytes = 128 << 10;
    StoreHarness h(o);
    Random rnd(5);
    for (int i = 0; i < 6000; ++i) {
      h.Put(StoredKey(rnd.Uniform(4000)), std::string(80, static_cast<char>('a' + i % 26)));
      if (i % 300 == 299) h.Flush();
      if (i % 300 == 299) h.CompactAll();
    }
    const auto levels = h.Tables();
    uint64_t on_level1 = 0;
    for (size_t level = 1; level < levels.size(); ++level) {
      for (const TphMeta& t : levels[level]) {
        EXPECT_EQ(t.pieces.size(), 1u);
        EXPECT_EQ(t.directory.length == 0, filter_index);
        EXPECT_LT(t.DataBytes(), o.target_table_bytes * 3 / 2);
        on_level1 += level == 1 ? t.LiveDataBytes() : 0;
      }
      tables[filter_index] += levels[level].size();
    }
    EXPECT_LE(on_level1, o.level1_max_bytes);
    EXPECT_GT(levels[2].size(), 5u);
    for (const LevelStats& level : h.store()->view()->Levels()) written[filter_index] += level.bytes_written;
    h.CheckAll("leveled");
    h.Verify();
    h.Reopen(o);
    h.CheckAll("reopened");
  }
  EXPECT_NEAR(static_cast<double>(tables[0]), static_cast<double>(tables[1]), static_cast<double>(tables[1]) / 5);
  EXPECT_LT(written[0], written[1] * 3 / 2);  // directories and hash lists come on top
}

// A tree with dynamic levels grows, shrinks, and takes over one with configured sizes.
class DynamicLevelsTest : public ::testing::Test {
 protected:
  DynamicLevelsTest() {
    options_ = StoreHarness::SmallOptions();
    UseFilterIndex(&options_);
    options_.dynamic_levels = true;
    options_.num_levels = 6;
    options_.compression.assign(6, rocksdb::kNoCompression);
    options_.group_compaction_bytes = 16 << 10;
    options_.target_table_bytes = 1 << 10;
    harness_.emplace(options_);
  }
  void Write(int flushes, uint64_t keys) {
    for (int i = 0; i < flushes * 60; ++i) {
      const auto letter = static_cast<char>('a' + i % 26);
      harness_->Put(StoredKey(rnd_.Uniform(keys)), std::string(80, letter));
      if (i % 60 != 59) continue;
      harness_->Flush();
      Settle();
    }
  }
  // Compactions end, and leave levels of the sizes that they should have.
  void Settle() {
    for (int jobs = 0; harness_->CompactOnce(); ++jobs) ASSERT_LT(jobs, 500);
    const std::vector<uint64_t> bytes = Bytes();
    const auto base = static_cast<double>(options_.level1_max_bytes);
    auto allowed = static_cast<double>(*std::max_element(bytes.begin() + 1, bytes.end()));
    for (size_t level = bytes.size() - 2; level > 0; --level) {
      const bool needed = allowed > base / 2;
      allowed /= options_.level_multiplier;
      EXPECT_LE(static_cast<double>(bytes[level]), needed ? std::max(base, allowed) : 0)
          << "level " << level;
    }
    EXPECT_EQ(harness_->store()->PendingCompactionBytes(), 0u);
  }
  std::vector<uint64_t> Bytes() {
    std::vector<uint64_t> bytes;
    for (const auto& level : harness_->Tables()) {
      bytes.push_back(0);
      for (const TphMeta& t : level) bytes.back() += t.LiveDataBytes();
    }
    return bytes;
  }
  int FirstLevel() {
    const std::vector<uint64_t> bytes = Bytes();
    int level = 1;
    while (level < options_.num_levels && bytes[static_cast<size_t>(level)] == 0) ++level;
    return level;
  }

  StoreOptions options_;
  std::optional<StoreHarness> harness_;
  Random rnd_{11};
};

TEST_F(DynamicLevelsTest, ATreeGrowsUpwards) {
  Write(2, 4000);
  EXPECT_EQ(FirstLevel(), 5);  // and no other
  Write(10, 4000);
  EXPECT_EQ(FirstLevel(), 4);
  Write(70, 4000);
  EXPECT_EQ(FirstLevel(), 3);
  const std::vector<uint64_t> bytes = Bytes();
  EXPECT_GT(bytes[5], (bytes[3] + bytes[4]) * 2);
  harness_->CheckAll("grown");
  harness_->Verify();
  harness_->Reopen();
  EXPECT_FALSE(harness_->CompactOnce());
  EXPECT_EQ(Bytes(), bytes);
  Write(10, 4000);
  harness_->CheckAll("reopened and written to");
}

TEST_F(DynamicLevelsTest, ATreeShrinks) {
  Write(80, 4000);
  EXPECT_EQ(FirstLevel(), 3);
  harness_->DeleteRange(StoredKey(100), StoredKey(4000));
  harness_->Flush();
  harness_->Manual(0, 3);
  harness_->Manual(3, 4);
  harness_->Manual(4, 5);
  Settle();
  Write(40, 100);
  EXPECT_EQ(FirstLevel(), 5);
  harness_->CheckAll("shrunk");
  harness_->Verify();
}

TEST_F(DynamicLevelsTest, AnExistingTreeIsTakenOver) {
  for (const bool leveled : {true, false}) {
    options_.dynamic_levels = false;
    options_.leveled = options_.filter_index = leveled;
    harness_->Reopen(options_);
    for (int i = 0; i < 8000; ++i) {
      harness_->Put(StoredKey(rnd_.Uniform(2500)), std::string(80, 'b'));
      if (i % 500 != 499) continue;
      harness_->Flush();
      harness_->CompactAll();
    }
    if (leveled) {
      EXPECT_EQ(FirstLevel(), 1);
    }
    for (int i = 0; i < 50; ++i) harness_->Put(StoredKey(rnd_.Uniform(2500)), std::string(80, 'c'));
    harness_->Flush();
    options_.leveled = options_.filter_index = options_.dynamic_levels = true;
    harness_->Reopen(options_);
    Settle();
    EXPECT_GE(FirstLevel(), 2);
    harness_->CheckAll("taken over");
    harness_->Verify();
    Write(20, 2500);
    harness_->CheckAll("and written to");
  }
}

// Each kind of compaction reads and compacts the other's tables.
TEST(LsmStoreTest, LeveledAndBack) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.max_pieces = 8;
  o.target_table_bytes = 16 << 10;
  o.level1_max_bytes = 1 << 20;
  StoreHarness h(o);
  const auto most_pieces = [&] {
    size_t most = 0;
    const auto levels = h.Tables();
    for (const TphMeta& t : levels[1]) most = std::max(most, t.pieces.size());
    return most;
  };
  const auto update = [&](int step, char c) {
    for (int i = 0; i < 1000; i += step) h.Put(StoredKey(i), std::string(80, c));
    h.Flush();
    ASSERT_TRUE(h.Manual(0, 1));
    h.CheckAll(std::string("after ") + c);
    h.Verify();
  };
  update(1, 'a');
  update(20, 'b');
  EXPECT_GT(most_pieces(), 1u);
  o.leveled = true;
  h.Reopen(o);
  h.CheckAll("leveled, before anything was compacted");
  update(20, 'c');
  EXPECT_EQ(most_pieces(), 1u);
  o.leveled = false;
  h.Reopen(o);
  h.CheckAll("no longer leveled");
  update(20, 'd');
  EXPECT_GT(most_pieces(), 1u);  // hash lists were kept for that
}

// However many tables a job writes: one barrier for the data. (The manifest's is the database's.)
TEST(LsmStoreTest, OneSyncForAllTablesOfAJob) {
  for (const bool filter_index : {false, true}) {
    StoreOptions o = StoreHarness::SmallOptions();
    if (filter_index) UseFilterIndex(&o);
    o.level1_max_bytes = 64 << 20;
    StoreHarness h(o);
    for (int i = 0; i < 3000; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
    h.fs()->ResetCounts();
    h.Flush();
    EXPECT_EQ(h.fs()->Count(FaultOp::kSync), 1u);
    for (int i = 0; i < 3000; ++i) h.Put(StoredKey(i), std::string(80, 'b'));
    h.Flush();
    h.fs()->ResetCounts();
    ASSERT_TRUE(h.CompactOnce());
    EXPECT_EQ(h.fs()->Count(FaultOp::kSync), 1u);
    EXPECT_GT(h.Tables()[1].size(), 20u);
  }
}

TEST(LsmStoreTest, UnchangedRecordsStayWhereTheyAre) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.target_table_bytes = 64 << 10;
  o.level1_max_bytes = 1 << 20;
  o.max_pieces = 16;
  StoreHarness h(o);
  for (int i = 0; i < 600; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  ASSERT_EQ(h.Tables()[1].size(), 1u);
  const uint64_t first = h.Tables()[1][0].pieces[0].meta->piece_id;
  for (int i = 0; i < 600; i += 10) h.Put(StoredKey(i), "new");
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.Manual(0, 1, nullptr, nullptr, &report));
  const TphMeta table = h.Tables()[1][0];
  ASSERT_EQ(table.pieces.size(), 2u);
  EXPECT_EQ(table.pieces[0].meta->piece_id, first);
  EXPECT_EQ(table.pieces[0].live_keys, 540u);
  EXPECT_EQ(table.pieces[1].meta->num_records, 60u);
  EXPECT_EQ(table.num_keys, 600u);
  EXPECT_EQ(report.records_in, 60u);  // the base's data was not read
  h.CheckAll("after the merge");
  h.Verify();
}

TEST(LsmStoreTest, AppendedKeysGetTablesOfTheirOwn) {
  StoreHarness h;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) h.Put(StoredKey(round * 100 + i), std::string(60, 'a'));
    h.Flush();
    h.CompactAll();
  }
  h.CheckAll("sequential load");
  for (const auto& level : h.Tables()) {
    for (const TphMeta& t : level) EXPECT_EQ(t.pieces.size(), 1u);
  }
}

TEST(LsmStoreTest, SpaceOfOverwrittenDataComesBack) {
  StoreHarness h;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 200; ++i) h.Put(StoredKey(i), std::string(100, 'a' + round % 26));
    h.Flush();
    h.CompactAll();
  }
  h.CheckAll("overwrites");
  EXPECT_LT(h.ledger()->LiveBytes(), 200u * 100 * 4);
}

// Holes cannot be punched into files that a checkpoint has links to, nor on every file system. What is
// live in the worst files is rewritten instead.
TEST(LsmStoreTest, DeadSpaceThatCannotBePunchedIsBounded) {
  for (const bool filter_index : {false, true}) {
    for (const bool linked : {false, true}) {
      for (const uint32_t percent : {10, 0}) {
        StoreOptions o = StoreHarness::SmallOptions();
        if (filter_index) UseFilterIndex(&o);
        o.target_table_bytes = 64 << 10;
        o.level1_max_bytes = 64 << 20;
        o.max_dead_space_percent = percent;
        StoreHarness h(o);
        h.merge_memtables = true;
        if (!linked) h.fs()->FailAll(FaultOp::kPunch, "", Status::NotSupported("no holes"));
        Random rnd(3);
        for (int i = 0; i < 40000; ++i) h.Put(StoredKey(i), std::string(100, 'a'));
        h.Flush();
        h.CompactAll();
        for (int round = 0; round < 20; ++round) {
          if (linked) {
            for (const uint64_t number : h.ledger()->LiveFiles()) {
              // The link of an earlier round may be there.
              h.fs()->LinkFile(PieceFileName("/db", number), "/link" + std::to_string(number))
                  .PermitUncheckedError();
            }
          }
          const int at = static_cast<int>(rnd.Uniform(36000));
          for (int i = at; i < at + 4000; ++i) h.Put(StoredKey(i), std::string(100, 'b'));
          h.Flush();
          h.CompactAll();
        }
        const uint64_t live = h.ledger()->LiveBytes(), total = h.ledger()->TotalBytes();
        EXPECT_GT(live, uint64_t{4} << 20);
        // Some of several pieces in a file stay live.
        if (percent > 0) {
          EXPECT_LT(total, live + live / 10 + (2 << 20)) << filter_index << linked;
        } else {
          EXPECT_GT(total, live + live / 5 + (2 << 20)) << filter_index << linked;
        }
        h.Verify();
      }
    }
  }
}

TEST(LsmStoreTest, DeletedDataLeavesNothing) {
  StoreHarness h;
  for (int i = 0; i < 500; ++i) h.Put(StoredKey(i), std::string(100, 'a'));
  h.Flush();
  h.CompactAll();
  for (int i = 0; i < 500; ++i) h.Delete(StoredKey(i));
  h.Flush();
  for (int level = 0; level < 3; ++level) {
    while (h.Manual(level, level + 1)) {
    }
  }
  while (h.Manual(3, 3)) {
  }
  for (const auto& level : h.Tables()) EXPECT_TRUE(level.empty());
  EXPECT_EQ(h.ledger()->LiveBytes(), 0u);
  ASSERT_TRUE(h.ledger()->Purge(nullptr).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(h.fs()->GetChildren("/db", &names).ok());
  EXPECT_TRUE(names.empty());
}

// Below level 0.
int LevelsWithTables(StoreHarness* h) {
  const auto levels = h->Tables();
  return static_cast<int>(std::count_if(levels.begin() + 1, levels.end(),
                                        [](const auto& level) { return !level.empty(); }));
}

StoreOptions SmallTablesOnLevelOne() {
  StoreOptions o = StoreHarness::SmallOptions();
  o.target_table_bytes = 16 << 10;
  o.level1_max_bytes = 1 << 20;
  return o;
}

// Several tables on level 1, and a tenth of their keys again, each straight from a memtable.
void MergeTwoMemTablesIntoLevelOne(StoreHarness* h, JobReport* report) {
  for (int i = 0; i < 2000; ++i) h->Put(StoredKey(i), std::string(80, 'a'));
  h->Flush();
  EXPECT_TRUE(h->Tables()[0].empty());
  const size_t tables = h->Tables()[1].size();
  EXPECT_GT(tables, 4u);
  for (int i = 0; i < 2000; i += 10) h->Put(StoredKey(i), std::string(80, 'b'));
  h->Flush(report);
  EXPECT_EQ(report->output_level, 1);
  EXPECT_EQ(report->records_in, 200u);  // the bases' data was not read
  EXPECT_EQ(h->Tables()[1].size(), tables);
}

TEST(LsmStoreTest, OneLevelMergesMemTablesStraightIntoIt) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.target_table_bytes = 16 << 10;
  o.max_pieces = 64;
  o.one_level = true;
  StoreHarness h(o);
  JobReport report;
  MergeTwoMemTablesIntoLevelOne(&h, &report);
  const std::vector<TphMeta> level1 = h.Tables()[1];
  for (const TphMeta& t : level1) EXPECT_EQ(t.pieces.size(), 2u);
  EXPECT_FALSE(h.CompactOnce());  // no level is ever too large
  h.CheckAll("one level");
  h.Verify();
}

// Rule 10: a delta smaller than the directories that its merge rewrites waits on level 0.
TEST(LsmStoreTest, OneLevelKeepsSmallMemTablesOnLevel0) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.one_level = true;
  o.level0_trigger = 4;
  StoreHarness h(o);
  for (int i = 0; i < 5000; ++i) h.Put(StoredKey(i), "a");
  h.Flush();
  for (size_t runs = 1; runs <= 3; ++runs) {
    h.Put(StoredKey(1), "b" + std::to_string(runs));
    h.Put(StoredKey(4999), "b" + std::to_string(runs));
    h.Flush();
    EXPECT_EQ(h.Tables()[0].size(), runs);
  }
  h.CheckAll("runs wait");
  h.Put(StoredKey(2500), "c");
  h.Flush();  // the fourth run would be one too many
  EXPECT_TRUE(h.Tables()[0].empty());
  EXPECT_EQ(LevelsWithTables(&h), 1);
  h.CheckAll("all on one level");
  h.Verify();
}

// The levels grow in number only when the deepest has become too large for one delta.
TEST(LsmStoreTest, FullMemTablesMergeIntoLevelOneWhileItIsSmallAgainstThem) {
  const StoreOptions o = SmallTablesOnLevelOne();
  StoreHarness h(o);
  h.merge_memtables = true;
  JobReport report;
  MergeTwoMemTablesIntoLevelOne(&h, &report);
  for (int i = 0; i < 2000; i += 50) h.Put(StoredKey(i), std::string(80, 'c'));
  h.Flush();
  EXPECT_EQ(h.Tables()[0].size(), 1u);  // too little against half a table
  for (int i = 0; i < 2000; i += 20) h.Put(StoredKey(i), std::string(120, 'd'));
  h.Flush(&report);
  EXPECT_EQ(report.output_level, 1);
  EXPECT_TRUE(h.Tables()[0].empty());  // what waited went along
  h.CheckAll("merged");
  h.Verify();
}

// The rest of a merge in a hurry is a run on level 0, with its part of the range
// tombstones; the tables behind it are untouched.
TEST(LsmStoreTest, AMergeInAHurryLeavesTheRestOnLevel0) {
  const StoreOptions o = SmallTablesOnLevelOne();
  StoreHarness h(o);
  h.merge_memtables = true;
  JobReport report;
  MergeTwoMemTablesIntoLevelOne(&h, &report);
  std::vector<TphMeta> before = h.Tables()[1];
  ASSERT_GE(before.size(), 3u);
  std::vector<std::pair<double, uint64_t>> asked;
  h.hurry = [&](double done, uint64_t rest) {
    asked.emplace_back(done, rest);
    return asked.size() == 2;
  };
  h.Snapshot();
  for (int i = 0; i < 2000; i += 5) h.Put(StoredKey(i), std::string(120, 'd'));
  h.DeleteRange(StoredKey(3), StoredKey(1997));
  for (int i = 0; i < 2000; i += 50) h.Merge(StoredKey(i), "m");
  h.Flush(&report);
  EXPECT_EQ(report.output_level, 1);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_GT(asked[0].first, 0);
  EXPECT_LT(asked[0].first, asked[1].first);
  EXPECT_LT(asked[1].first, 1);
  EXPECT_GT(asked[0].second, asked[1].second);
  EXPECT_GT(asked[1].second, 0u);
  const auto after = h.Tables();
  ASSERT_EQ(after[0].size(), 1u);
  EXPECT_GT(after[0][0].smallest, before[1].smallest);
  EXPECT_EQ(after[1].back().tph_id, before.back().tph_id);
  EXPECT_NE(after[1].front().tph_id, before.front().tph_id);
  h.CheckAll("cut short");
  h.Verify();
  h.Reopen(o);
  h.CheckAll("reopened");
  h.hurry = nullptr;
  for (int i = 0; i < 2000; i += 20) h.Put(StoredKey(i), std::string(120, 'e'));
  h.Flush(&report);
  EXPECT_TRUE(h.Tables()[0].empty());
  h.CheckAll("merged to the end");
  h.Verify();
}

// What a snapshot keeps is enough or not by the present max_dead_percent, not that of its writing.
TEST(LsmStoreTest, SetOptionsChangesWhichReleasesAreAwaited) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.level1_max_bytes = 1 << 20;
  o.max_dead_percent = 400;
  StoreHarness h(o);
  for (int i = 0; i < 100; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  const SequenceNumber snapshot = h.Snapshot();
  for (int i = 0; i < 100; ++i) h.Put(StoredKey(i), std::string(80, 'b'));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  EXPECT_EQ(h.store()->KeptUntil(snapshot), kMaxSequenceNumber);
  o.max_dead_percent = 25;
  h.store()->SetOptions(o);
  EXPECT_LT(h.store()->KeptUntil(snapshot), kMaxSequenceNumber);
  h.ReleaseSnapshot(snapshot);
  EXPECT_TRUE(h.store()->NeedsCompaction());
  o.max_dead_percent = 400;
  h.store()->SetOptions(o);
  EXPECT_EQ(h.store()->KeptUntil(snapshot), kMaxSequenceNumber);
  EXPECT_FALSE(h.store()->NeedsCompaction());
}

TEST(LsmStoreTest, LevelsFollowTheDeepest) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.level1_max_bytes = 16 << 10;
  StoreHarness h(o);
  h.merge_memtables = true;
  for (int i = 0; i < 800; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  h.Flush();
  h.CompactAll();
  EXPECT_EQ(LevelsWithTables(&h), 1);  // 64 KiB, less than six times the target
  for (int i = 800; i < 1600; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.CompactOnce(&report));
  EXPECT_TRUE(report.trivial_move);  // settles without being rewritten
  EXPECT_FALSE(h.CompactOnce());
  uint64_t upper = 0, lower = 0;
  const auto levels = h.Tables();
  for (const TphMeta& t : levels[1]) upper += t.LiveDataBytes();
  for (const TphMeta& t : levels[2]) lower += t.LiveDataBytes();
  EXPECT_LT(upper, lower / 2);
  EXPECT_GT(upper, 0u);
  h.CheckAll("two levels");
  h.Verify();
}

TEST(LsmStoreTest, OneLevelTakesOverAnExistingFamily) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.level1_max_bytes = 4 << 10;
  StoreHarness h(o);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 600; ++i) h.Put(StoredKey(i * 7 % 600), std::string(60, 'a' + round));
    h.DeleteRange(StoredKey(100 + round), StoredKey(110 + round));
    h.Flush();
    h.CompactAll();
  }
  ASSERT_GT(LevelsWithTables(&h), 1);
  o.one_level = true;
  h.Reopen(o);
  for (int i = 0; i < 600; i += 3) h.Put(StoredKey(i), "one level");
  h.Flush();
  h.CompactAll();
  EXPECT_EQ(LevelsWithTables(&h), 1);
  h.CheckAll("after the switch");
  for (int i = 0; i < 600; i += 2) h.Put(StoredKey(i), std::string(80, 'z'));
  h.Flush();
  EXPECT_TRUE(h.Tables()[0].empty());
  EXPECT_EQ(LevelsWithTables(&h), 1);
  o.one_level = false;
  h.Reopen(o);
  h.CompactAll();
  h.CheckAll("and back");
  h.Verify();
}

// In hash range: the tables of a level, by search key, cover every search key once.
void ExpectHashLevel(const std::vector<TphMeta>& tables) {
  uint64_t next = 0;
  for (const TphMeta& t : tables) {
    EXPECT_TRUE(t.hash_range);
    EXPECT_EQ(t.search.first, next);
    next = uint64_t{t.search.last} + 1;
  }
  EXPECT_EQ(next, uint64_t{1} << 32);
}

TEST(LsmStoreTest, HashRangeCutsLevelsBySearchKey) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 256 << 10;
  o.target_table_bytes = 16 << 10;
  StoreHarness h(o);
  for (int i = 0; i < 1000; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  const size_t tables = h.Tables()[1].size();
  EXPECT_EQ(tables, 4u);
  ExpectHashLevel(h.Tables()[1]);
  for (int i = 0; i < 1000; i += 5) h.Put(StoredKey(i), std::string(80, 'b'));
  h.Flush();
  JobReport report;
  ASSERT_TRUE(h.Manual(0, 1, nullptr, nullptr, &report));
  EXPECT_EQ(report.records_in, 200u);  // the bases' data was not read
  EXPECT_EQ(h.Tables()[1].size(), tables);
  const std::vector<TphMeta> level = h.Tables()[1];
  for (const TphMeta& t : level) EXPECT_EQ(t.pieces.size(), 2u);
  ExpectHashLevel(level);
  h.CheckAll("hash range");
  h.Verify();
}

// A table meets only the tables of the next level that have its search keys.
TEST(LsmStoreTest, HashRangeSubtreesCompactAtTheSameTime) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 1;
  StoreHarness h(o);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 600; ++i) h.Put(StoredKey(i), std::string(40, 'a' + round));
    h.Flush();
    ASSERT_TRUE(h.Manual(0, 1));
    if (round == 0) {
      while (h.Manual(1, 2)) {
      }
    }
  }
  ASSERT_GE(h.Tables()[1].size(), 4u);
  std::vector<std::unique_ptr<CompactionTask>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(h.store()->PickCompaction());
    ASSERT_NE(tasks.back(), nullptr) << i;
    EXPECT_EQ(tasks.back()->input_level(), 1);
  }
  for (auto& task : tasks) ASSERT_TRUE(h.Run(std::move(task)));
  h.CheckAll("three at a time");
  h.Verify();
}

TEST(LsmStoreTest, HashRangeSplitsATableThatOutgrowsItsSize) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.one_level = true;
  o.max_pieces = 16;
  StoreHarness h(o);
  for (int i = 0; i < 6000; ++i) {
    h.Put(StoredKey(i), std::string(40, 'a'));
    if (i % 200 == 199) h.Flush();
  }
  h.CompactAll();
  const std::vector<TphMeta> level = h.Tables()[1];
  ExpectHashLevel(level);
  EXPECT_GT(level.size(), 16u);
  for (const TphMeta& t : level) EXPECT_LT(t.LiveDataBytes(), 8 * o.target_table_bytes);
  h.CheckAll("grown");
  h.Verify();
}

TEST(LsmStoreTest, HashRangeReadsATableOnceToSplitIt) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 256 << 10;
  o.target_table_bytes = 16 << 10;
  StoreHarness h(o);
  for (int i = 0; i < 150; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  for (int i = 100; i < 1600; ++i) h.Put(StoredKey(i), std::string(80, 'b'));
  h.Flush();
  const auto before = h.Tables();
  ASSERT_EQ(before[0].size(), 1u);
  ASSERT_EQ(before[1].size(), 1u);
  JobReport report;
  ASSERT_TRUE(h.Manual(0, 1, nullptr, nullptr, &report));
  EXPECT_GE(h.Tables()[1].size(), 4u);
  EXPECT_EQ(report.bytes_read, before[0][0].TotalBytes() + before[1][0].TotalBytes());
  ExpectHashLevel(h.Tables()[1]);
  h.CheckAll("split");
  h.Verify();
}

TEST(LsmStoreTest, HashRangeReadsTheDeltaOnceForManySplits) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 64 << 20;
  o.target_table_bytes = 8 << 10;
  for (const uint32_t threads : {1u, 3u}) {
    StoreHarness h(o);
    h.context()->max_subcompactions = threads;
    for (int i = 0; i < 600; ++i) h.Put(StoredKey(i), std::string(80, 'a'));
    h.Flush();
    ASSERT_TRUE(h.Manual(0, 1));
    for (int i = 600; i < 6600; ++i) h.Put(StoredKey(i), std::string(80, 'b'));
    h.Flush();
    const auto before = h.Tables();
    ASSERT_GE(before[1].size(), 8u);
    uint64_t bytes = before[0][0].TotalBytes();
    for (const TphMeta& t : before[1]) bytes += t.TotalBytes();
    JobReport report;
    ASSERT_TRUE(h.Manual(0, 1, nullptr, nullptr, &report));
    EXPECT_GE(h.Tables()[1].size(), 2 * before[1].size());
    EXPECT_EQ(report.bytes_read, bytes);
    ExpectHashLevel(h.Tables()[1]);
    h.CheckAll("split");
    h.Verify();
  }
}

// They get equal shares of every delta, and yet are not split all in one job.
TEST(LsmStoreTest, HashRangeTablesAreSplitInTurns) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.hash_range = true;
  o.level1_max_bytes = 64 << 20;
  o.target_table_bytes = 4 << 10;
  StoreHarness h(o);
  size_t tables = 0, jobs_with_splits = 0;
  for (int job = 0; job < 60; ++job) {
    for (int i = 0; i < 100; ++i) h.Put(StoredKey(job * 100 + i), std::string(80, 'a'));
    h.Flush();
    ASSERT_TRUE(h.Manual(0, 1));
    const size_t now = h.Tables()[1].size();
    if (tables >= 8) {
      EXPECT_LT(now, 2 * tables) << "job " << job;
      jobs_with_splits += now > tables ? 1 : 0;
    }
    tables = now;
  }
  EXPECT_GE(tables, 32u);
  EXPECT_GE(jobs_with_splits, 10u);
  ExpectHashLevel(h.Tables()[1]);
  h.CheckAll("grown");
}

TEST(LsmStoreTest, PartitionOfAnExistingFamilyChangesOver) {
  StoreOptions o = StoreHarness::SmallOptions();
  StoreHarness h(o);
  const auto write = [&](int round) {
    for (int i = 0; i < 900; ++i) h.Put(StoredKey(i * 7 % 900), std::string(60, 'a' + round));
    h.DeleteRange(StoredKey(100 + round), StoredKey(110 + round));
    h.Flush();
    h.CompactAll();
  };
  for (int round = 0; round < 6; ++round) write(round);
  for (const bool hash_range : {true, false, true}) {
    o.hash_range = hash_range;
    h.Reopen(o);
    h.CheckAll("reopened");
    h.CompactAll();
    h.CheckAll("changed over");
    h.Verify();
    write(7);
    int tables = 0;
    const auto levels = h.Tables();
    for (size_t level = 1; level < levels.size(); ++level) {
      for (const TphMeta& t : levels[level]) {
        EXPECT_EQ(t.hash_range, hash_range) << "level " << level;
        ++tables;
      }
    }
    EXPECT_GT(tables, 0);
    h.CheckAll("and written to");
    h.Verify();
  }
}

// Counts the threads that take part.
class PartCount : public JobObserver {
 public:
  void FileBegins(const std::string&, bool) override { ++files; }
  void FilesEnd(const JobReport& done) override { ended += done.output_files.size() + done.value_files.size(); }
  void PartBegins(int) override { ++parts; }
  void PartEnds(int, const JobReport& done, const Status& status) override {
    if (status.ok()) bytes += done.bytes_written;
  }
  std::atomic<uint64_t> files{0}, ended{0}, parts{0}, bytes{0};
};

// The threads of a job write into one file, and values into another, each synced once.
TEST(LsmStoreTest, SubcompactionsShareOutOneJob) {
  for (const bool hash_range : {false, true}) {
    for (const bool separates : {false, true}) {
      StoreOptions o = StoreHarness::SmallOptions();
      o.hash_range = hash_range;
      o.values.enabled = separates;
      o.values.min_size = 70;
      o.values.starting_level = 1;
      StoreHarness h(o);
      h.context()->max_subcompactions = 4;
      const auto run = [&](int from, size_t threads, const char* what) {
        PartCount count;
        JobReport report;
        report.observer = &count;
        const uint64_t syncs = h.fs()->Count(FaultOp::kSync);
        ASSERT_TRUE(h.Manual(from, 1, nullptr, nullptr, &report));
        EXPECT_GE(count.parts, threads) << what;
        EXPECT_EQ(report.output_files.size(), 1u) << what;
        EXPECT_EQ(report.value_files.size(), separates && from == 0 ? 1u : 0u) << what;
        EXPECT_EQ(count.files, report.output_files.size() + report.value_files.size()) << what;
        EXPECT_EQ(count.ended, count.files) << what;
        EXPECT_EQ(h.fs()->Count(FaultOp::kSync) - syncs, count.files) << what;
        // Except the files' headers.
        EXPECT_EQ(report.bytes_written, count.bytes + 36 * count.files) << what;
        h.CheckAll(what);
        h.Verify();
      };
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 900; ++i) h.Put(StoredKey(i), std::string(i % 2 == 0 ? 60 : 80, static_cast<char>('a' + round)));
        h.DeleteRange(StoredKey(200 * round), StoredKey(200 * round + 150));
        h.Flush();
        run(0, round > 0 ? 2 : 1, "merged by several threads");
      }
      run(1, 4, "rewritten by several threads");
    }
  }
}

// One thread's failure is the job's: nothing is installed, and no file stays.
TEST(LsmStoreTest, AFailedSubcompactionLeavesNothing) {
  StoreOptions o = StoreHarness::SmallOptions();
  o.values.enabled = true;
  o.values.min_size = 50;
  o.values.starting_level = 1;
  StoreHarness h(o);
  h.context()->max_subcompactions = 3;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 900; ++i) h.Put(StoredKey(i), std::string(60, static_cast<char>('a' + round)));
    h.Flush();
    if (round == 0) {
      ASSERT_TRUE(h.Manual(0, 1));
    }
  }
  std::vector<std::string> before, after;
  ASSERT_TRUE(h.fs()->GetChildren("/db", &before).ok());
  // The second of two syncs fails: the file of values is finished by then. Or one of the threads cannot write.
  for (const FaultOp op : {FaultOp::kSync, FaultOp::kWrite}) {
    h.fs()->FailNth(op, 2, ".ph", Status::IOError("injected"));
    ManualCompaction m;
    m.output_level = 1;
    bool conflict = false;
    std::unique_ptr<CompactionTask> task = h.store()->PickManual(m, &conflict);
    ASSERT_NE(task, nullptr);
    VersionEdit edit;
    JobReport report;
    EXPECT_TRUE(task->Run({}, nullptr, &edit, &report).IsIOError());
    h.store()->Release(task.get());
    task.reset();
    ASSERT_TRUE(h.ledger()->Purge(nullptr).ok());
    ASSERT_TRUE(h.fs()->GetChildren("/db", &after).ok());
    EXPECT_EQ(after.size(), before.size());
    h.CheckAll("as before");
  }
  ASSERT_TRUE(h.Manual(0, 1));
  h.CheckAll("the next one succeeds");
}

// A family dropped while a compaction of it runs: the job's file is deleted, too.
TEST(LsmStoreTest, DroppedFamilyLeavesNothingOfAJobThatRan) {
  StoreHarness h;
  for (int i = 0; i < 100; ++i) h.Put(StoredKey(i), std::string(50, 'a'));
  h.Flush();
  VersionEdit state;
  h.store()->Snapshot(&state);
  h.store()->MarkDropped();  // the harness's own store only gives way to the one below
  ExtentLedger ledger(h.fs(), h.context()->files, 0);
  StoreContext context;
  h.CopyContext(&context);
  context.ledger = &ledger;
  std::unique_ptr<Store> store = NewLsmStore(&context, StoreHarness::SmallOptions());
  ASSERT_TRUE(store->ApplyRecovered(state).ok());
  ASSERT_TRUE(store->Open().ok());
  ManualCompaction m;
  m.input_level = 0;
  m.output_level = 1;
  bool conflict = false;
  std::unique_ptr<CompactionTask> task = store->PickManual(m, &conflict);
  VersionEdit edit;
  JobReport report;
  ASSERT_TRUE(task->Run({}, nullptr, &edit, &report).ok());
  store->MarkDropped();  // the commit is refused
  store->Release(task.get());
  task.reset();
  store.reset();
  ASSERT_TRUE(ledger.Purge(nullptr).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(h.fs()->GetChildren("/db", &names).ok());
  EXPECT_TRUE(names.empty()) << names.size() << " files";
}

// The contents of a manifest are validated, not asserted.
TEST(LsmStoreTest, AManifestThatContradictsItselfIsCorruption) {
  StoreHarness h;
  for (int i = 0; i < 300; ++i) h.Put(StoredKey(i), std::string(50, 'a'));
  h.Flush();
  ASSERT_TRUE(h.Manual(0, 1));
  VersionEdit state;
  h.store()->Snapshot(&state);
  ASSERT_GE(state.added.size(), 2u);
  const auto forge = [](TphPiece* piece) {
    auto forged = std::make_shared<PieceMeta>(*piece->meta);
    piece->meta = forged;
    return forged.get();
  };
  const std::map<std::string, std::function<void(VersionEdit*)>> forgeries = {
      {"tables of a level share no key", [](VersionEdit* e) { e->added[1].tph.smallest = e->added[0].tph.smallest; }},
      {"a piece is of one table", [&](VersionEdit* e) {
         forge(&e->added[1].tph.pieces[0])->piece_id = e->added[0].tph.pieces[0].meta->piece_id;
       }},
      {"a table is in a version once", [](VersionEdit* e) {
         e->added[0].level = 2;
         e->added[0].tph.tph_id = e->added[1].tph.tph_id;
       }},
      {"the keys of a table are a range", [](VersionEdit* e) { e->added[0].tph.largest = "a"; }},
      {"a piece has keys of its table's range", [](VersionEdit* e) { e->added[0].tph.smallest = e->added[0].tph.largest; }},
      {"a piece has sequences of its table's range", [&](VersionEdit* e) { ++forge(&e->added[0].tph.pieces[0])->largest_seq; }},
      {"a piece has no more live keys than keys", [](VersionEdit* e) { e->added[0].tph.pieces[0].live_keys = 1000; }},
      {"a piece has no more deletions than records", [&](VersionEdit* e) { forge(&e->added[0].tph.pieces[0])->num_deletions = 1000; }},
      {"the numbers of values are a range", [](VersionEdit* e) {
         e->added_values.emplace_back().num_values = 1;
         e->added_values.back().min_number = 2;
       }},
  };
  for (const auto& [rule, change] : forgeries) {
    VersionEdit forged = state;
    change(&forged);
    ExtentLedger ledger(h.fs(), h.context()->files, 0);
    StoreContext context;
    h.CopyContext(&context);
    context.ledger = &ledger;
    const std::unique_ptr<Store> store = NewLsmStore(&context, StoreHarness::SmallOptions());
    Status s = store->ApplyRecovered(forged);
    if (s.ok()) s = store->Open();
    EXPECT_TRUE(s.IsCorruption()) << rule;
    EXPECT_NE(s.ToString().find(rule), std::string::npos) << rule << ": " << s.ToString();
  }
}

// A read asks the directories of several tables at once; here there are more than that.
TEST(LsmStoreTest, AKeyInManyRunsOfLevel0) {
  StoreOptions options = StoreHarness::SmallOptions();
  options.level0_trigger = 1000;
  StoreHarness h(options);
  h.Put(StoredKey(0), "only");
  for (int run = 0; run < 40; ++run) {
    h.Merge(StoredKey(1), "m" + std::to_string(run));
    h.Put(StoredKey(2), "v" + std::to_string(run));
    h.Flush();
    if (run == 20) h.Snapshot();
    if (run == 30) h.DeleteRange(StoredKey(0), StoredKey(1));
  }
  h.CheckAll("forty runs");
}

}  // namespace
}  // namespace compassdb
