// SPDX-License-Identifier: Apache-2.0
// Separated values (HashKV) through the database: what reads see, what collections leave, what a crash keeps.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "compassdb/index.h"
#include "db/testing/value_test_util.h"
#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/statistics.h"
#include "util/random.h"

namespace compassdb {
namespace {

TEST_F(ValueStoreTest, LargeValuesAreReadFromTheValueStore) {
  options_.write_buffer_size = 1 << 20;  // one flush
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), Value(i, i % 2 == 0 ? 500 : 50)).ok());
  Flush();
  EXPECT_GT(ValueBytes(), 100u * 500);
  EXPECT_LT(ValueBytes(), 100u * 500 + 200 * 120 + 64 * 200);
  EXPECT_EQ(IntProperty("rocksdb.num-blob-files"), 1u);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(Get(Key(i)), Value(i, i % 2 == 0 ? 500 : 50)) << i;
    }
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) {
      ASSERT_EQ(it->value().ToString(), Value(n, n % 2 == 0 ? 500 : 50));
    }
    EXPECT_EQ(n, 200);
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      --n;
      ASSERT_EQ(it->value().ToString(), Value(n, n % 2 == 0 ? 500 : 50));
    }
    EXPECT_EQ(n, 0);
    std::vector<std::string> names;
    for (int i = 0; i < 200; i += 7) names.push_back(Key(i));
    std::vector<rocksdb::Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(rocksdb::ReadOptions(), keys, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_TRUE(statuses[i].ok()) << statuses[i].ToString();
      const int at = static_cast<int>(i) * 7;
      ASSERT_EQ(values[i], Value(at, at % 2 == 0 ? 500 : 50));
    }
    EXPECT_TRUE(db_->VerifyChecksum().ok());
    OpenDb();  // again from the files
  }
}

TEST_F(ValueStoreTest, CompactionsLeaveValuesWhereTheyAre) {
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  const uint64_t before = ValueBytes();
  Compact();
  Compact(/*force=*/true);
  EXPECT_EQ(ValueBytes(), before);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Get(Key(i)), Value(i));
}

TEST_F(ValueStoreTest, ValuesLieEvenlyOverTheGroups) {
  options_.write_buffer_size = 8 << 20;  // one flush: all groups are as wide
  OpenDb();
  EXPECT_EQ(IntProperty("compassdb.value-groups"), 0u);
  for (int i = 0; i < 6400; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  const uint64_t groups = IntProperty("compassdb.value-groups");
  const uint64_t least = IntProperty("compassdb.value-group-least");
  const uint64_t most = IntProperty("compassdb.value-group-most");
  EXPECT_GE(groups, 64u);
  EXPECT_LE(least * groups, 6400u);
  EXPECT_GE(most * groups, 6400u);
  EXPECT_GT(least * groups, 6400u / 3);
  EXPECT_LT(most * groups, 6400u * 2);
}

TEST_F(ValueStoreTest, OverwrittenValuesAreCollectedAndSpaceIsBounded) {
  OpenDb();
  constexpr int kKeys = 2000;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < kKeys; ++i) {
      const int key = (i * 7919) % kKeys;
      ASSERT_TRUE(Put(Key(key), Value(key + round)).ok());
    }
  }
  Flush();
  Settle();
  // Records, keys and key tables; 256 KiB are tolerated in any case.
  const uint64_t live = kKeys * (500 + 9 + 40);
  EXPECT_LT(ValueBytes(), live * 135 / 100 + (512 << 10));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 11)) << i;
  OpenDb();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 11)) << i;
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

// Flushes and collections append to one log. Its tail is collected, with values that are never updated.
TEST_F(ValueStoreTest, OneLogIsCollectedFromItsTail) {
  options_.statistics = rocksdb::CreateDBStatistics();
  piece_.value_gc_policy = ValueGcPolicy::kOldestFirst;
  UsePieces();
  OpenDb();
  constexpr int kCold = 2000, kHot = 200, kRounds = 40;
  for (int i = 0; i < kCold; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = kCold; i < kCold + kHot; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
  }
  Flush();
  Settle();
  EXPECT_EQ(IntProperty("compassdb.value-groups"), 1u);
  EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED), uint64_t{kCold});
  const uint64_t live = (kCold + kHot) * (500 + 9 + 40);
  EXPECT_LT(ValueBytes(), live * 135 / 100 + (128 << 10));
  for (int reopened = 0; reopened < 2; ++reopened) {
    for (int i = 0; i < kCold; ++i) ASSERT_EQ(Get(Key(i)), Value(i)) << i;
    for (int i = kCold; i < kCold + kHot; ++i) ASSERT_EQ(Get(Key(i)), Value(i + kRounds)) << i;
    OpenDb();
  }
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(ValueStoreTest, GroupsBecomeALogAndGroupsAgain) {
  OpenDb();
  constexpr int kKeys = 1000;
  int value = 0;
  const auto update = [&](int rounds) {
    for (int end = value + rounds; value < end; ++value) {
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + value)).ok());
    }
    Flush();
    Settle();
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + value - 1)) << i;
  };
  update(3);
  EXPECT_GE(IntProperty("compassdb.value-groups"), 16u);
  ASSERT_TRUE(db_->SetOptions({{"table_factory", "{value_gc_policy=oldest-first}"}}).ok());
  update(6);
  EXPECT_EQ(IntProperty("compassdb.value-groups"), 1u);
  EXPECT_TRUE(db_->SetOptions({{"table_factory", "{value_hot_cold=true}"}}).IsInvalidArgument());
  ASSERT_TRUE(db_->SetOptions({{"table_factory", "{value_gc_policy=greedy}"}}).ok());
  update(6);
  EXPECT_GE(IntProperty("compassdb.value-groups"), 16u);
}

TEST_F(ValueStoreTest, WithoutCollectionEverythingStays) {
  options_.enable_blob_garbage_collection = false;
  OpenDb();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
    Flush();
  }
  Settle();
  EXPECT_GT(ValueBytes(), 6u * 500 * 500);
}

// As RocksDB's files do.
TEST_F(ValueStoreTest, WithoutCollectionDeadRunsAreDeleted) {
  options_.enable_blob_garbage_collection = false;
  OpenDb();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  EXPECT_GT(ValueBytes(), 5000u * 500);
  // A few are left, in some groups.
  for (int i = 0; i < 5000; ++i) {
    if (i % 1000 == 7) continue;
    ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  }
  Flush();
  Compact(/*force=*/true);
  Settle();
  EXPECT_LT(ValueBytes(), 5000u * 500 / 8);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(Get(Key(i)), i % 1000 == 7 ? Value(i) : "NOT_FOUND") << i;
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  Flush();
  Compact(/*force=*/true);
  Settle();
  EXPECT_EQ(ValueBytes(), 0u);
}

// A family that has values writes notices for them with every flush, also when it no longer separates any.
TEST_F(ValueStoreTest, SegmentsDoNotGrowInNumber) {
  piece_.value_group_bytes = 1 << 20;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  options_.enable_blob_files = false;
  options_.enable_blob_garbage_collection = false;
  OpenDb();
  // Half of them become small, again and again; the others live.
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 2000; i += 5) ASSERT_TRUE(Put(Key(i), "r" + std::to_string(round)).ok());
    Flush();
  }
  Settle();
  std::string stats;
  ASSERT_TRUE(db_->GetProperty("compassdb.stats-json", &stats));
  const size_t at = stats.find("\"segments\":");
  ASSERT_NE(at, std::string::npos) << stats;
  EXPECT_LT(std::stoul(stats.substr(at + 11)), 64u * 140) << stats;
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), i < 2000 && i % 5 == 0 ? "r199" : Value(i)) << i;
  OpenDb();
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), i < 2000 && i % 5 == 0 ? "r199" : Value(i)) << i;
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(ValueStoreTest, LoadIndexLoadsTheirPlaces) {
  OpenDb();
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  OpenDb();
  ASSERT_TRUE(LoadIndex(db_.get(), db_->DefaultColumnFamily()).ok());
  const uint64_t loaded = IntProperty("compassdb.index-memory-values");
  EXPECT_GT(loaded, 3000u);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(Get(Key(i)), Value(i)) << i;
  EXPECT_EQ(IntProperty("compassdb.index-memory-values"), loaded);
}

// Everything that may end a value's life, one after the other: afterwards next to nothing is left.
class EndOfLifeTest : public ValueStoreTest, public ::testing::WithParamInterface<int> {};

TEST_P(EndOfLifeTest, LeavesNothingBehind) {
  class DropAll : public rocksdb::CompactionFilter {
   public:
    const char* Name() const override { return "DropAll"; }
    bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& value, std::string*,
                bool*) const override {
      // The value, and not its reference in the table.
      return value.size() == 500;
    }
  };
  DropAll drop;
  piece_.value_reserve_percent = 0;
  UsePieces();
  const bool filter = GetParam() == 4;
  OpenDb();
  constexpr int kKeys = 4000;  // 2 MB
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  Compact();
  EXPECT_GT(ValueBytes(), kKeys * 500u);
  const rocksdb::WriteOptions write;
  switch (GetParam()) {
    case 0:
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->Delete(write, Key(i)).ok());
      break;
    case 1:
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->SingleDelete(write, Key(i)).ok());
      break;
    case 2:
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), "small").ok());
      break;
    case 3:
      ASSERT_TRUE(db_->DeleteRange(write, db_->DefaultColumnFamily(), "a", "z").ok());
      break;
    case 4:
      options_.compaction_filter = &drop;
      OpenDb();
      break;
    case 5:
      for (int i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(db_->PutEntity(write, db_->DefaultColumnFamily(), Key(i), {{"c", "x"}}).ok());
      }
      break;
    case 6:
      ASSERT_TRUE(
          rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr).ok());
      break;
    default:
      FAIL();
  }
  Flush();
  // A range deletion is no key's newest record: compactions add deaths for its values.
  if (GetParam() != 3) Compact(/*force=*/filter);
  Settle();
  // 256 KiB of garbage are tolerated.
  EXPECT_LT(ValueBytes(), 700u << 10) << Garbage();
  const std::string present = GetParam() == 2 ? "small" : GetParam() == 5 ? "" : "NOT_FOUND";
  for (int i = 0; i < kKeys; i += 100) ASSERT_EQ(Get(Key(i)), present);
  CloseDb();
}

INSTANTIATE_TEST_SUITE_P(All, EndOfLifeTest, ::testing::Range(0, 7));

// A compaction rewrites more of the level below than what its input overlaps. Of those keys a
// neighbour of the input may have newer records, that were written before there were notices.
TEST_F(ValueStoreTest, WhatANeighbourOfTheInputHidesIsNotSeparated) {
  piece_.max_pieces = 1;  // tables are rewritten
  UsePieces();
  options_.enable_blob_files = false;
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 16 << 20;
  options_.target_file_size_base = 64 << 20;
  OpenDb();
  constexpr int kKeys = 2000;
  const auto compact_to = [this](int from, int to, int table) {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    const auto& tables = metadata.levels[static_cast<size_t>(from)].files;
    ASSERT_GT(tables.size(), static_cast<size_t>(table));
    const Status s = db_->CompactFiles({}, {tables[static_cast<size_t>(table)].name}, to);
    ASSERT_TRUE(s.ok()) << s.ToString();
  };
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  ASSERT_NO_FATAL_FAILURE(compact_to(0, 2, 0));
  for (int i = 0; i < kKeys / 2; i += 2) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
  Flush();
  ASSERT_NO_FATAL_FAILURE(compact_to(0, 1, 0));
  for (int i = kKeys / 2; i < kKeys; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  Flush();
  ASSERT_NO_FATAL_FAILURE(compact_to(0, 1, 0));
  ASSERT_TRUE(db_->SetOptions({{"enable_blob_files", "true"}}).ok());
  ASSERT_NO_FATAL_FAILURE(compact_to(1, 2, 0));
  EXPECT_GT(ValueBytes(), kKeys / 2 * 500u);
  EXPECT_LT(ValueBytes(), kKeys / 2 * 600u);
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(Get(Key(i)), i >= kKeys / 2 ? "NOT_FOUND" : Value(i % 2 == 0 ? i + 1 : i)) << i;
  }
}

// A merge hides nothing, so no group gets a notice. If a range deletion ends it, a deletion replaces it, and needs a
// notice: nothing would report the values below once the pieces of both are rewritten.
TEST_F(ValueStoreTest, WhatAMergeLeftBehindARangeDeletionHidesIsCollected) {
  UsePieces();
  options_.level0_file_num_compaction_trigger = 100;
  options_.max_bytes_for_level_base = 64 << 20;
  options_.write_buffer_size = 16 << 20;
  options_.target_file_size_base = 64 << 20;
  OpenDb();
  const auto compact_to = [this](int from, int to) {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    std::vector<std::string> names;
    for (const auto& table : metadata.levels[static_cast<size_t>(from)].files) names.push_back(table.name);
    if (names.empty()) return;
    const Status s = db_->CompactFiles(rocksdb::CompactionOptions(), names, to);
    ASSERT_TRUE(s.ok()) << s.ToString();
  };
  const auto down = [&](int to) {
    Flush();
    for (int level = 0; level < to; ++level) ASSERT_NO_FATAL_FAILURE(compact_to(level, level + 1));
  };
  constexpr int kKeys = 8000, kMerged = kKeys / 10;
  const rocksdb::WriteOptions write;
  for (int i = 0; i < kKeys; i += 2) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  ASSERT_NO_FATAL_FAILURE(down(2));
  for (int i = kMerged + 1; i < kKeys; i += 2) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  ASSERT_NO_FATAL_FAILURE(down(2));  // a piece of its own
  for (int i = 0; i < kMerged; i += 2) ASSERT_TRUE(db_->Merge(write, Key(i), "m").ok());
  ASSERT_NO_FATAL_FAILURE(down(1));
  ASSERT_TRUE(db_->DeleteRange(write, db_->DefaultColumnFamily(), Key(0), Key(kMerged)).ok());
  ASSERT_NO_FATAL_FAILURE(down(2));
  for (int i = kMerged; i < kKeys / 3 * 2; i += 2) ASSERT_TRUE(Put(Key(i), "small").ok());
  ASSERT_NO_FATAL_FAILURE(down(2));
  for (int i = kMerged; i < kKeys; ++i) ASSERT_TRUE(db_->Delete(write, Key(i)).ok());
  rocksdb::CompactRangeOptions collect;
  collect.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  collect.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  collect.blob_garbage_collection_age_cutoff = 1.0;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(db_->CompactRange(collect, nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "");
  EXPECT_LT(IntProperty("rocksdb.live-blob-file-size"), 1u << 10);
}

// What the log gives back is flushed while the database is opened.
TEST_F(ValueStoreTest, WhatTheLogEndsIsCollected) {
  piece_.value_reserve_percent = 0;
  UsePieces();
  options_.write_buffer_size = 8 << 20;
  options_.level0_file_num_compaction_trigger = 100;  // no compaction reports it
  options_.enable_blob_garbage_collection = false;    // nor is a memtable full early, to keep the bound
  OpenDb();
  constexpr int kKeys = 4000;  // 2 MB
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  const uint64_t before = ValueBytes();
  const auto end = [this](int i) {
    if (i % 5 == 0) return db_->Delete(rocksdb::WriteOptions(), Key(i));
    return i % 5 == 1 ? Put(Key(i), "small") : i % 50 == 2 ? Put(Key(i), Value(i + 1)) : Status::OK();
  };
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(end(i).ok());
  options_.enable_blob_garbage_collection = true;
  OpenDb();
  Settle();
  EXPECT_LT(ValueBytes(), before * 7 / 10) << Garbage();
  // Of what was collected nothing was as wide as the family.
  const std::string log = ReadFile("/db/LOG");
  EXPECT_NE(log.find("values: group"), std::string::npos);
  EXPECT_EQ(log.find("values: group 0/0"), std::string::npos);
  for (int i = 0; i < kKeys; ++i) {
    const std::string expected = i % 5 == 0 ? "NOT_FOUND" : i % 5 == 1 ? "small" : Value(i % 50 == 2 ? i + 1 : i);
    ASSERT_EQ(Get(Key(i)), expected) << i;
  }
}

// Whole tables are dropped. Older versions of their keys stay in deeper tables, whose values may have been collected.
TEST_F(ValueStoreTest, DroppedTablesUncoverNothingThatIsGone) {
  piece_.value_reserve_percent = 0;
  UsePieces();
  options_.level0_file_num_compaction_trigger = 100;
  options_.max_bytes_for_level_base = 64 << 20;
  OpenDb();
  constexpr int kKeys = 4000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  rocksdb::CompactRangeOptions down;
  down.change_level = true;
  down.target_level = 3;
  ASSERT_TRUE(db_->CompactRange(down, nullptr, nullptr).ok());
  const auto ended = [](int i) { return i > kKeys / 4 && i < kKeys * 3 / 4; };
  for (int i = 0; i < kKeys; ++i) {
    if (!ended(i)) continue;
    ASSERT_TRUE((i % 2 == 0 ? Put(Key(i), "small") : db_->Delete(rocksdb::WriteOptions(), Key(i))).ok());
  }
  Flush();
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  std::vector<std::string> names;
  for (const rocksdb::SstFileMetaData& file : metadata.levels[0].files) names.push_back(file.name);
  ASSERT_FALSE(names.empty());
  ASSERT_TRUE(db_->CompactFiles(rocksdb::CompactionOptions(), names, 1).ok());
  Settle();
  EXPECT_LT(ValueBytes(), kKeys * 300u);
  const std::string begin = Key(kKeys / 4), end = Key(kKeys * 3 / 4);
  const rocksdb::Slice first(begin), last(end);
  ASSERT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &first, &last).ok());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  for (int i = 0; i < kKeys; ++i) {
    if (!ended(i)) {
      ASSERT_EQ(Get(Key(i)), Value(i)) << i;
    }
    if (ended(i) && Get(Key(i)) != "NOT_FOUND") {
      ASSERT_EQ(Get(Key(i)), "small") << i;
    }
  }
}

// What ends a value in the flush that separates it, since a snapshot sees it still: no table holds the key.
class EndOfLifeInOneFlushTest : public ValueStoreTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kKeys = 4000;
  void End(int i) {
    const rocksdb::WriteOptions write;
    switch (GetParam()) {
      case 0:
        ASSERT_TRUE(db_->Delete(write, Key(i)).ok());
        return;
      case 1:
        ASSERT_TRUE(db_->SingleDelete(write, Key(i)).ok());
        return;
      case 2:
        ASSERT_TRUE(Put(Key(i), "small").ok());
        return;
      case 3:
        ASSERT_TRUE(db_->PutEntity(write, db_->DefaultColumnFamily(), Key(i), {{"c", "x"}}).ok());
        return;
      case 4:  // which is deleted in turn, while a second snapshot sees it
        ASSERT_TRUE(Put(Key(i), "small").ok());
        return;
      default:
        ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
    }
  }
  std::string Ended(int i) const {
    const int kind = GetParam();
    if (kind == 2) return "small";
    if (kind == 3) return "";
    return kind == 5 ? Value(i + 1) : "NOT_FOUND";
  }
  // All into one flush; a snapshot between the values and their ends, and one between two ends, where there are.
  void PutAndEnd(const rocksdb::Snapshot** snapshot, const rocksdb::Snapshot** second) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
    *snapshot = db_->GetSnapshot();
    for (int i = 0; i < kKeys; ++i) End(i);
    if (GetParam() == 4) {
      *second = db_->GetSnapshot();
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
    }
    Flush();
  }
  // 256 KiB of garbage are tolerated; without a reserve the rest is collected.
  uint64_t Left() const { return (GetParam() == 5 ? kKeys * 560u : 0u) + (300u << 10); }
  void CheckEnds(const rocksdb::Snapshot* snapshot, const rocksdb::Snapshot* second) {
    Settle();
    for (int i = 0; i < kKeys; i += 50) {
      ASSERT_EQ(Get(Key(i), snapshot), Value(i));
      ASSERT_EQ(Get(Key(i)), Ended(i));
    }
    EXPECT_GT(IntProperty("compassdb.value-bytes-pinned"), kKeys * 500u) << ValueBytes();
    EXPECT_LT(IntProperty("compassdb.value-bytes-pinned"), kKeys * 600u);
    db_->ReleaseSnapshot(snapshot);
    Settle();
    EXPECT_EQ(IntProperty("compassdb.value-bytes-pinned"), 0u);
    EXPECT_LT(ValueBytes(), Left());
    EXPECT_LT(IntProperty("compassdb.value-bytes-bound"), Left() + (256 << 10));
    for (int i = 0; i < kKeys; i += 50) ASSERT_EQ(Get(Key(i)), Ended(i));
    if (second != nullptr) {
      EXPECT_EQ(Get(Key(7), second), "small");
      db_->ReleaseSnapshot(second);
    }
    EXPECT_TRUE(db_->VerifyChecksum().ok());
  }
};

TEST_P(EndOfLifeInOneFlushTest, LeavesNothingBehindOnceNoSnapshotSeesIt) {
  piece_.value_reserve_percent = 0;
  UsePieces();
  options_.write_buffer_size = 16 << 20;
  OpenDb();
  const rocksdb::Snapshot *snapshot = nullptr, *second = nullptr;
  PutAndEnd(&snapshot, &second);
  CheckEnds(snapshot, second);
}

// Both were in tables when the option was set: the compaction that separates the one has to add a notice of the other.
TEST_P(EndOfLifeInOneFlushTest, NorAfterACompactionThatSeparates) {
  piece_.value_reserve_percent = 0;
  UsePieces();
  options_.write_buffer_size = 16 << 20;
  options_.enable_blob_files = false;
  options_.disable_auto_compactions = true;
  OpenDb();
  const rocksdb::Snapshot *snapshot = nullptr, *second = nullptr;
  PutAndEnd(&snapshot, &second);
  ASSERT_TRUE(db_->SetOptions({{"enable_blob_files", "true"}}).ok());
  Compact(/*force=*/true);
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  CheckEnds(snapshot, second);
}

INSTANTIATE_TEST_SUITE_P(All, EndOfLifeInOneFlushTest, ::testing::Range(0, 6));

// ColumnFamilyOptions::ttl sends old tables through the filter, by itself.
TEST_F(ValueStoreTest, WhatAFilterDropsAtItsTtlLeavesNothingBehind) {
  class LateEnv final : public rocksdb::EnvWrapper {
   public:
    using EnvWrapper::EnvWrapper;
    uint64_t NowMicros() override { return target()->NowMicros() + late; }
    rocksdb::Status GetCurrentTime(int64_t* time) override {
      *time = static_cast<int64_t>(NowMicros() / 1000000);
      return rocksdb::Status::OK();
    }
    std::atomic<uint64_t> late{0};
  };
  class DropAll final : public rocksdb::CompactionFilter {
   public:
    const char* Name() const override { return "DropAll"; }
    bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& value, std::string*, bool*) const override {
      return value.size() == 500;
    }
  };
  LateEnv late(env_.get());
  const DropAll drop;
  options_.env = &late;
  options_.ttl = 3600;
  piece_.value_reserve_percent = 0;
  UsePieces();
  OpenDb();
  constexpr int kKeys = 4000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  Compact();
  Settle();
  options_.compaction_filter = &drop;
  OpenDb();
  Settle();
  EXPECT_GT(ValueBytes(), kKeys * 500u);  // too young
  CloseDb();
  late.late = uint64_t{7200} * 1000000;
  OpenDb();
  Settle();
  EXPECT_LT(ValueBytes(), 300u << 10) << Garbage();
  for (int i = 0; i < kKeys; i += 100) ASSERT_EQ(Get(Key(i)), "NOT_FOUND");
  CloseDb();
}

TEST_F(ValueStoreTest, SnapshotsKeepTheirValues) {
  OpenDb();
  constexpr int kKeys = 1500;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  for (int round = 1; round < 8; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
    Flush();
  }
  Settle();
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(Get(Key(i), snapshot), Value(i)) << i;
    ASSERT_EQ(Get(Key(i)), Value(i + 7)) << i;
  }
  // In addition to the bound, because no collection can free them.
  EXPECT_GT(IntProperty("compassdb.value-bytes-pinned"), kKeys * 500u);
  EXPECT_LT(IntProperty("compassdb.value-bytes-pinned"), kKeys * 600u);
  EXPECT_GT(ValueBytes(), 2u * kKeys * 500);
  // Its values are deleted after its release, even without more writes.
  db_->ReleaseSnapshot(snapshot);
  Settle();
  EXPECT_EQ(IntProperty("compassdb.value-bytes-pinned"), 0u);
  EXPECT_LT(ValueBytes(), kKeys * 550u * 130 / 100 + (256 << 10));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 7)) << i;
}

TEST_F(ValueStoreTest, TwoVersionsOfOneFlushLeaveNothingBehind) {
  piece_.value_reserve_percent = 0;
  UsePieces();
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  constexpr int kKeys = 2000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
  Flush();
  Settle();
  EXPECT_GT(ValueBytes(), 2u * kKeys * 500);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i), snapshot), Value(i));
  db_->ReleaseSnapshot(snapshot);
  Settle();
  EXPECT_LT(ValueBytes(), kKeys * 550u + (256 << 10));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1));
}

TEST_F(ValueStoreTest, GarbageWithinTheReserveIsCollectedInIdleTime) {
  piece_.value_reserve_percent = 80;
  piece_.value_group_bytes = 1 << 20;
  UsePieces();
  options_.write_buffer_size = 256 << 10;
  OpenDb();
  constexpr int kKeys = 8000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  for (int i = 0; i < kKeys / 2; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
  Flush();
  Settle();
  const uint64_t garbage = Garbage();
  EXPECT_GT(garbage, kKeys / 4 * 500u);
  ASSERT_TRUE(db_->SetOptions({{"table_factory", "{value_idle_reserve_percent=5}"}}).ok());
  // Five seconds after the last flush, and as long as it takes.
  for (int i = 0; i < 600 && Garbage() > garbage / 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(Garbage(), garbage / 4);
  for (int i = 0; i < kKeys; i += 7) ASSERT_EQ(Get(Key(i)), Value(i < kKeys / 2 ? i + 1 : i)) << i;
}

// They never were separated: nothing ends when they are overwritten or deleted.
TEST_F(ValueStoreTest, SmallValuesStartNoCollections) {
  for (const bool hot_cold : {true, false}) {
    piece_.value_hot_cold = hot_cold;
    piece_.value_group_bytes = 1 << 20;
    UsePieces();
    options_.statistics = rocksdb::CreateDBStatistics();
    OpenDb();
    constexpr int kKeys = 4000;
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put("big" + Key(i), Value(i)).ok());
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 50)).ok());
    Flush();
    Settle();
    const uint64_t live = ValueBytes();
    const uint64_t moved = options_.statistics->getTickerCount(rocksdb::BLOB_DB_GC_BYTES_RELOCATED);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < kKeys; ++i) {
        ASSERT_TRUE((round % 2 == 0 ? Put(Key(i), Value(i, 50)) : db_->Delete(rocksdb::WriteOptions(), Key(i))).ok());
      }
      Flush();
    }
    Settle();
    // But where the notices of a group are garbage enough.
    EXPECT_LE(options_.statistics->getTickerCount(rocksdb::BLOB_DB_GC_BYTES_RELOCATED), moved + live / 10);
    // Useless notices of deletions are dropped, too.
    EXPECT_LT(ValueBytes(), live * 130 / 100 + (256 << 10));
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get("big" + Key(i)), Value(i)) << i;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(ValueStoreTest, DeletionsOfMixedSizesLeaveNothing) {
  piece_.value_reserve_percent = 10;
  UsePieces();
  options_.write_buffer_size = 1 << 20;
  OpenDb();
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 250)).ok());
  Flush();
  Settle();
  const uint64_t live = ValueBytes();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put("x" + Key(i), Value(i, 50000)).ok());
  Flush();
  EXPECT_GT(ValueBytes(), live + 90 * 50000);  // collections may have freed a bit of the others
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "x" + Key(i)).ok());
  Flush();
  Settle();
  EXPECT_LT(ValueBytes(), live * 110 / 100 + (256 << 10));
  for (int i = 0; i < 20000; i += 10) ASSERT_EQ(Get(Key(i)), Value(i, 250));
}

TEST_F(ValueStoreTest, WhatIsDoneWithValuesIsCounted) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.statistics->set_stats_level(rocksdb::StatsLevel::kAll);
  options_.blob_compression_type = rocksdb::kSnappyCompression;
  piece_.value_reserve_percent = 0;
  UsePieces();
  OpenDb();
  const std::string value(2000, 'v');
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), value + std::to_string(i)).ok());
  Flush();
  const auto ticks = [&](uint32_t ticker) { return options_.statistics->getTickerCount(ticker); };
  const auto timed = [&](uint32_t histogram) {
    rocksdb::HistogramData data;
    options_.statistics->histogramData(histogram, &data);
    return data.count;
  };
  EXPECT_GE(ticks(rocksdb::BLOB_DB_BLOB_FILE_BYTES_WRITTEN), ValueBytes());
  EXPECT_EQ(ticks(rocksdb::BLOB_DB_BLOB_FILE_SYNCED), timed(rocksdb::BLOB_DB_BLOB_FILE_SYNC_MICROS));
  EXPECT_GT(ticks(rocksdb::BLOB_DB_BLOB_FILE_SYNCED), 0u);
  EXPECT_GT(timed(rocksdb::BLOB_DB_BLOB_FILE_WRITE_MICROS), 0u);
  EXPECT_EQ(timed(rocksdb::BLOB_DB_COMPRESSION_MICROS), 500u);
  rocksdb::SetPerfLevel(rocksdb::kEnableTime);
  rocksdb::get_perf_context()->Reset();
  ASSERT_EQ(Get(Key(7)), value + "7");
  EXPECT_EQ(timed(rocksdb::BLOB_DB_BLOB_FILE_READ_MICROS), 1u);
  EXPECT_EQ(timed(rocksdb::BLOB_DB_DECOMPRESSION_MICROS), 1u);
  EXPECT_GT(rocksdb::get_perf_context()->blob_read_time, 0u);
  EXPECT_GT(rocksdb::get_perf_context()->blob_checksum_time, 0u);
  EXPECT_GT(rocksdb::get_perf_context()->blob_decompress_time, 0u);
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  EXPECT_EQ(ticks(rocksdb::BLOB_DB_GC_BYTES_RELOCATED), 0u);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, 2000)).ok());
    Flush();
  }
  Settle();
  EXPECT_GT(ticks(rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED), 0u);
  EXPECT_GT(ticks(rocksdb::BLOB_DB_GC_BYTES_RELOCATED), 0u);
}

TEST_F(ValueStoreTest, FlushesFillTheCacheIfAskedTo) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.blob_cache = rocksdb::NewLRUCache(8 << 20);
  options_.prepopulate_blob_cache = rocksdb::PrepopulateBlobCache::kFlushOnly;
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Get(Key(i)), Value(i));
  EXPECT_EQ(options_.statistics->getTickerCount(rocksdb::BLOB_DB_CACHE_ADD), 300u);
  EXPECT_EQ(options_.statistics->getTickerCount(rocksdb::BLOB_DB_CACHE_MISS), 0u);
  EXPECT_EQ(options_.statistics->getTickerCount(rocksdb::BLOB_DB_BLOB_FILE_BYTES_READ), 0u);
}

// Within the reserve, and though nothing is collected by itself.
TEST_F(ValueStoreTest, ForcedCollections) {
  for (const bool collect : {true, false}) {
    options_.enable_blob_garbage_collection = collect;
    piece_.value_reserve_percent = 500;
    UsePieces();
    options_.write_buffer_size = 8 << 20;  // many small segments would become one, without what is dead
    OpenDb();
    constexpr int kKeys = 2000;
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
    Flush();
    const uint64_t live = ValueBytes();
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
    Flush();
    Compact();
    Settle();
    EXPECT_GT(ValueBytes(), live * 15 / 10);
    rocksdb::CompactRangeOptions options;
    options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    options.blob_garbage_collection_age_cutoff = 1;
    ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
    EXPECT_LT(ValueBytes(), live * 105 / 100);
    EXPECT_LT(Garbage(), live / 20);
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1)) << i;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// What was to be collected is still there, and still known as garbage.
TEST_F(ValueStoreTest, ACollectionThatIsNotCommittedForgetsNothing) {
  piece_.value_reserve_percent = 500;
  UsePieces();
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  constexpr int kKeys = 2000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  for (int i = 0; i < kKeys / 2; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  Flush();
  const uint64_t before = ValueBytes();
  rocksdb::CompactRangeOptions options;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  // Each of its commits fails, that of the collection among them.
  bool whole = false;
  for (uint64_t n = 1; !whole; ++n) {
    fs_->FailNth(FaultOp::kSync, n, "MANIFEST", Status::IOError("injected"));
    whole = db_->CompactRange(options, nullptr, nullptr).ok();
    fs_->ClearFaults();
    ASSERT_TRUE(whole || db_->Resume().ok());
  }
  EXPECT_LT(ValueBytes(), before * 6 / 10);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), i < kKeys / 2 ? "NOT_FOUND" : Value(i)) << i;
}

TEST_F(ValueStoreTest, IteratorsReadTheirStateWhileItIsCollected) {
  OpenDb();
  constexpr int kKeys = 1000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  for (int round = 1; round < 6; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
    Flush();
  }
  Settle();
  for (int i = 0; i < kKeys; ++i, it->Next()) {
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    ASSERT_EQ(it->value().ToString(), Value(i));
  }
}

TEST_F(ValueStoreTest, SwitchedOnAndOff) {
  options_.enable_blob_files = false;
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  EXPECT_EQ(ValueBytes(), 0u);
  ASSERT_TRUE(db_->SetOptions({{"enable_blob_files", "true"}}).ok());
  Compact(/*force=*/true);
  // Values in tables are moved to the value store when they are compacted.
  EXPECT_GT(ValueBytes(), 500u * 500);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i));
  ASSERT_TRUE(db_->SetOptions({{"enable_blob_files", "false"}}).ok());
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
  Flush();
  Compact(/*force=*/true);
  Settle();
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1));
}

TEST_F(ValueStoreTest, CompressedValues) {
  options_.blob_compression_type = rocksdb::kZSTD;
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), std::string(5000, 'a' + i % 26)).ok());
  Flush();
  EXPECT_LT(ValueBytes(), 300u * 500);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Get(Key(i)), std::string(5000, 'a' + i % 26));
}

TEST_F(ValueStoreTest, ReadsFromTheCacheAlone) {
  OpenDb();
  ASSERT_TRUE(Put("a", Value(1)).ok());
  Flush();
  rocksdb::ReadOptions memory;
  memory.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(db_->Get(memory, "a", &value).IsIncomplete());
  EXPECT_EQ(Get("a"), Value(1));
  const Status s = db_->Get(memory, "a", &value);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(value, Value(1));
}

TEST_F(ValueStoreTest, NotWithComparatorsThatTakeDifferentBytesForOneKey) {
  class NoCase : public rocksdb::Comparator {
   public:
    const char* Name() const override { return "NoCase"; }
    int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
      return strcasecmp(a.ToString().c_str(), b.ToString().c_str());
    }
    void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
    bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
  };
  NoCase comparator;
  options_.comparator = &comparator;
  EXPECT_TRUE(TryOpen().IsNotSupported());
  ASSERT_TRUE(rocksdb::Comparator::CreateFromString(rocksdb::ConfigOptions(),
                                                    "leveldb.BytewiseComparator.u64ts",
                                                    &options_.comparator)
                  .ok());
  EXPECT_TRUE(TryOpen().IsNotSupported());
}

// Cold values are on the last path: also after what was dead of them was collected, and after a forced collection.
TEST_F(ValueStoreTest, ColdValuesLieOnTheLastPath) {
  const std::string fast = name_ + "_fast", slow = name_ + "_slow";
  options_.db_paths = {{fast, uint64_t{1} << 40}, {slow, uint64_t{1} << 40}};
  piece_.value_hot_cold = true;
  piece_.value_reserve_percent = 10;
  piece_.value_group_bytes = 64 << 10;  // flushes are not too small then
  UsePieces();
  options_.write_buffer_size = 256 << 10;
  OpenDb();
  const auto in = [&](const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir, &names).ok());
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    uint64_t bytes = 0;
    for (const rocksdb::BlobMetaData& file : metadata.blob_files) {
      EXPECT_EQ(std::count(names.begin(), names.end(), file.blob_file_name),
                file.blob_file_path == dir ? 1 : 0)
          << file.blob_file_name;
      if (file.blob_file_path == dir) bytes += file.blob_file_size;
    }
    return bytes;
  };
  constexpr int kKeys = 3000;
  std::vector<int> version(kKeys);
  const auto put = [&](int key) { ASSERT_TRUE(Put(Key(key), Value(key + ++version[static_cast<size_t>(key)])).ok()); };
  const auto check = [&](int step) {
    for (int i = 0; i < kKeys; i += step) ASSERT_EQ(Get(Key(i)), Value(i + version[static_cast<size_t>(i)])) << i;
  };
  for (int i = 0; i < kKeys; ++i) put(i);
  // A few keys all the time, the others rarely.
  Random rnd(3);
  for (int n = 0; n < 9000; ++n) put(static_cast<int>(rnd.Uniform(n % 10 == 0 ? kKeys : kKeys / 50)));
  Flush();
  Settle();
  const uint64_t cold = in(slow);
  EXPECT_GT(cold, kKeys * 500u / 8);
  EXPECT_GT(in(fast), 0u);
  check(3);
  // All of them again: the old ones are deleted, on that path, too.
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kKeys; ++i) put(i);
  }
  Flush();
  Settle();
  EXPECT_LT(in(slow) + in(fast), kKeys * 560u * 115 / 100 + (512 << 10));
  check(1);
  // Some values there die: a forced collection has to move the others, and keeps them on that path.
  for (int n = 0; n < 9000; ++n) put(static_cast<int>(rnd.Uniform(n % 10 == 0 ? kKeys : kKeys / 50)));
  Flush();
  Settle();
  const uint64_t before = in(slow);
  EXPECT_GT(before, kKeys * 500u / 8);
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  for (int i = 0; i < kKeys; i += 20) put(i);
  Flush();
  EXPECT_EQ(in(slow), before);
  rocksdb::CompactRangeOptions options;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
  EXPECT_GT(in(slow), before);  // what the flushes wrote of cold values comes to it
  EXPECT_LT(Garbage(), before / 10);
  check(1);
  OpenDb();
  check(1);
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(ValueStoreTest, MetadataNamesTheFiles) {
  options_.write_buffer_size = 1 << 20;  // one flush
  OpenDb();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  ASSERT_EQ(metadata.blob_file_count, 1u);
  EXPECT_EQ(metadata.blob_file_size, ValueBytes());
  EXPECT_EQ(metadata.blob_files.front().total_blob_count, 50u);
  const std::string& name = metadata.blob_files.front().blob_file_name;
  EXPECT_TRUE(fs_->FileExists(name_ + "/" + name).ok()) << name;
}

TEST_F(ValueStoreTest, ListenersAreNotifiedOfFiles) {
  class Files : public rocksdb::EventListener {
   public:
    void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override {
      const std::lock_guard<std::mutex> lock(mu);
      EXPECT_TRUE(info.status.ok());
      EXPECT_EQ(info.cf_name, "default");
      EXPECT_GT(info.total_blob_bytes, 500 * info.total_blob_count);
      values += info.reason == rocksdb::BlobFileCreationReason::kFlush ? info.total_blob_count : 0;
      live.insert(info.file_path);
    }
    void OnBlobFileDeleted(const rocksdb::BlobFileDeletionInfo& info) override {
      const std::lock_guard<std::mutex> lock(mu);
      EXPECT_EQ(live.erase(info.file_path), 1u) << info.file_path;
      ++deleted;
    }
    std::mutex mu;
    std::set<std::string> live;
    uint64_t values = 0, deleted = 0;
  };
  const auto files = std::make_shared<Files>();
  options_.listeners.push_back(files);
  options_.write_buffer_size = 8 << 20;
  piece_.value_reserve_percent = 20;
  piece_.value_group_bytes = 64 << 10;
  UsePieces();
  OpenDb();
  constexpr int kKeys = 2000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  EXPECT_EQ(files->values, static_cast<uint64_t>(kKeys));
  EXPECT_GE(files->live.size(), 1u);
  OpenDb();  // what was there before is known, too
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
    Flush();
  }
  Settle();
  CloseDb();
  const std::lock_guard<std::mutex> lock(files->mu);
  EXPECT_GT(files->deleted, 0u);
  for (const std::string& path : files->live) EXPECT_TRUE(fs_->FileExists(path).ok()) << path;
}

// DeleteFilesInRange writes down which values its tables named.
TEST_F(ValueStoreTest, DroppedTablesFilesAreReported) {
  class Files : public rocksdb::EventListener {
   public:
    void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override {
      const std::lock_guard lock(mu_);
      values_.insert(info.file_path);
    }
    void OnBlobFileDeleted(const rocksdb::BlobFileDeletionInfo& info) override {
      const std::lock_guard lock(mu_);
      EXPECT_EQ(values_.erase(info.file_path), 1u) << info.file_path;
    }
    void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
      const std::lock_guard lock(mu_);
      EXPECT_EQ(values_.count(info.file_path), 0u) << info.file_path;
    }
    std::set<std::string> values() const {
      const std::lock_guard lock(mu_);
      return values_;
    }

   private:
    mutable std::mutex mu_;
    std::set<std::string> values_;
  };
  const auto files = std::make_shared<Files>();
  const std::shared_ptr<rocksdb::SstFileManager> manager(rocksdb::NewSstFileManager(env_.get()));
  options_.listeners.push_back(files);
  options_.sst_file_manager = manager;
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Compact();
  const size_t before = files->values().size();
  ASSERT_GE(before, 1u);
  ASSERT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr).ok());
  ASSERT_EQ(files->values().size(), before + 1);
  const auto tracked = manager->GetTrackedFiles();
  for (const std::string& path : files->values()) EXPECT_EQ(tracked.count(path), 1u) << path;
  rocksdb::CompactRangeOptions collect;
  collect.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  collect.blob_garbage_collection_age_cutoff = 1.0;
  ASSERT_TRUE(db_->CompactRange(collect, nullptr, nullptr).ok());
  // A pass of the space reclaimer may delete what this call did not: it runs in a pool.
  for (int i = 0; i < 2000 && !files->values().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(files->values().empty());
  CloseDb();
}

class ValueModelTest : public ValueStoreTest, public ::testing::WithParamInterface<int> {};

TEST_P(ValueModelTest, MatchesAMap) {
  piece_.value_gc_policy = static_cast<ValueGcPolicy>(GetParam() % 5);
  piece_.value_hot_cold = GetParam() % 2 == 1 && piece_.value_gc_policy != ValueGcPolicy::kOldestFirst;
  piece_.one_level = GetParam() % 3 == 2;
  piece_.value_reserve_percent = GetParam() % 4 == 0 ? 0 : 30;
  if (GetParam() % 5 == 1) piece_.partition = Partition::kHashRange;
  UsePieces();
  options_.write_buffer_size = 32 << 10;
  if (GetParam() % 4 == 3) options_.blob_file_starting_level = 1;
  options_.blob_garbage_collection_force_threshold = 0.3;
  Run run;
  run.seed = static_cast<uint64_t>(GetParam()) * 7919 + 17;
  run.value = [](int step, Random* rnd) {
    return Value(step, rnd->OneIn(2) ? 20 + rnd->Uniform(60) : 100 + rnd->Uniform(900));
  };
  run.change_options = [this](Random* rnd) {
    rocksdb::CompactRangeOptions options;
    options.blob_garbage_collection_policy =
        rnd->OneIn(2) ? rocksdb::BlobGarbageCollectionPolicy::kForce : rocksdb::BlobGarbageCollectionPolicy::kDisable;
    options.blob_garbage_collection_age_cutoff = static_cast<double>(rnd->Uniform(6)) / 5;
    const Status s = db_->CompactRange(options, nullptr, nullptr);
    return !s.ok() ? s : db_->SetOptions({{"enable_blob_files", rnd->OneIn(3) ? "false" : "true"}});
  };
  MatchAMap(run);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ValueModelTest, ::testing::Range(0, 24));

TEST_F(ValueStoreTest, CrashesLoseNothingThatWasSynced) {
  options_.write_buffer_size = 16 << 10;
  Run run;
  run.keys = 100;
  run.value = [](int i, Random* rnd) { return Value(i, rnd->OneIn(4) ? 20 : 600); };
  for (run.seed = 1; run.seed <= 12; ++run.seed) {
    piece_.value_gc_policy = run.seed % 3 == 0 ? ValueGcPolicy::kOldestFirst : ValueGcPolicy::kGreedy;
    UsePieces();
    SurvivePowerCuts(run, {CutMode::kDropUnsynced, CutMode::kRandom});
  }
}

}  // namespace
}  // namespace compassdb
