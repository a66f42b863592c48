// SPDX-License-Identifier: Apache-2.0
// Reads of a column family without a database around it.
#include "db/read/reader.h"

#include <gtest/gtest.h>

#include "db/families/column_family_handle.h"
#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

class ReaderTest : public ::testing::Test {
 protected:
  // Readers see it once the last sequence says so.
  void Put(ColumnFamilyHandle* handle, SequenceNumber sequence, const Slice& key, const Slice& value) {
    ASSERT_TRUE(FamilyOf(handle)->memtables().active()->Add(sequence, kTypeValue, key, value, false).ok());
  }
  std::string Get(ColumnFamilyHandle* handle, const Slice& key, const ReadOptions& options = {}) {
    PinnableSlice value;
    Status s = reader_.Get(options, handle, key, &value, nullptr);
    return s.ok() ? value.ToString() : s.ToString();
  }
  static std::string All(rocksdb::Iterator* it) {
    std::string all;
    for (it->SeekToFirst(); it->Valid(); it->Next()) all += it->key().ToString() + "=" + it->value().ToString() + " ";
    return all;
  }

  FamilyHarness harness_;
  std::atomic<SequenceNumber>& last_sequence_{harness_.last_sequence};
  ColumnFamilyHandleImpl a_{harness_.families.ById(harness_.Add("a")->id()), nullptr};
  ColumnFamilyHandleImpl b_{harness_.families.ById(harness_.Add("b")->id()), nullptr};
  std::atomic<bool> unlogged_data_{false};
  CountedWork work_;
  SnapshotList snapshots_{&last_sequence_, &harness_.mu, &work_};
  Tracing tracing_;
  Reader reader_{SystemClock(), nullptr, harness_.context.hasher, /*read_only=*/false, last_sequence_,
                 unlogged_data_, &snapshots_, &tracing_, &harness_.mu};
};

TEST_F(ReaderTest, SeesUpToTheLastSequence) {
  Put(&a_, 1, "k", "old");
  Put(&a_, 2, "k", "new");
  EXPECT_EQ(Get(&a_, "k"), "NotFound: ");
  last_sequence_ = 1;
  EXPECT_EQ(Get(&a_, "k"), "old");
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshots_.New(0);
  last_sequence_ = 2;
  EXPECT_EQ(Get(&a_, "k"), "new");
  EXPECT_EQ(Get(&a_, "k", at_snapshot), "old");
}

TEST_F(ReaderTest, LeavesOutWhatACrashWouldTake) {
  Put(&a_, 1, "k", "v");
  last_sequence_ = 1;
  ReadOptions persisted;
  persisted.read_tier = rocksdb::kPersistedTier;
  EXPECT_EQ(Get(&a_, "k", persisted), "v");
  unlogged_data_ = true;
  EXPECT_EQ(Get(&a_, "k", persisted), "NotFound: ");
  EXPECT_EQ(Get(&a_, "k"), "v");
}

TEST_F(ReaderTest, MultiGetReadsFamiliesAtOneSequence) {
  Put(&a_, 1, "k", "a");
  Put(&b_, 2, "k", "b");
  last_sequence_ = 1;
  ColumnFamilyHandle* handles[] = {&b_, &a_, &a_};
  const Slice keys[] = {"k", "k", "absent"};
  PinnableSlice values[3];
  Status statuses[3];
  reader_.MultiGet(ReadOptions(), 3, handles, keys, values, nullptr, statuses, false);
  EXPECT_TRUE(statuses[0].IsNotFound());
  EXPECT_EQ(values[1].ToString(), "a");
  EXPECT_TRUE(statuses[2].IsNotFound());
}

TEST_F(ReaderTest, IteratorsKeepTheirStateUntilTheyAreRefreshed) {
  Put(&a_, 1, "a", "1");
  last_sequence_ = 1;
  std::unique_ptr<rocksdb::Iterator> it(reader_.NewIterator(ReadOptions(), &a_));
  harness_.Flush(a_.family());
  Put(&a_, 2, "b", "2");
  last_sequence_ = 2;
  EXPECT_EQ(All(it.get()), "a=1 ");
  ASSERT_TRUE(it->Refresh().ok());
  EXPECT_EQ(All(it.get()), "a=1 b=2 ");
}

TEST_F(ReaderTest, ARefreshedIteratorLeavesItsSnapshot) {
  Put(&a_, 1, "a", "1");
  last_sequence_ = 1;
  ReadOptions options;
  options.snapshot = snapshots_.New(0);
  std::unique_ptr<rocksdb::Iterator> it(reader_.NewIterator(options, &a_));
  Put(&a_, 2, "b", "2");
  last_sequence_ = 2;
  EXPECT_EQ(All(it.get()), "a=1 ");
  snapshots_.Release(options.snapshot);
  ASSERT_TRUE(it->Refresh().ok());
  EXPECT_EQ(All(it.get()), "a=1 b=2 ");
}

TEST_F(ReaderTest, NewestSequenceCountsWhatReadersDoNotSeeYet) {
  Put(&a_, 5, "k", "v");
  SequenceNumber newest = 0;
  ASSERT_TRUE(reader_.NewestSequence(&a_, "k", 0, &newest, nullptr).ok());
  EXPECT_EQ(newest, 5u);
  ASSERT_TRUE(reader_.NewestSequence(&a_, "absent", 0, &newest, nullptr).ok());
  EXPECT_EQ(newest, 0u);
}

TEST_F(ReaderTest, ForEachRecordShowsAllVersions) {
  Put(&a_, 1, "k", "1");
  Put(&a_, 2, "k", "2");
  std::string records;
  ASSERT_TRUE(reader_.ForEachRecord(&a_, "", "", [&](const ParsedInternalKey& key, const Slice& value) {
    records += std::to_string(key.sequence) + value.ToString() + " ";
    return true;
  }).ok());
  EXPECT_EQ(records, "22 11 ");
}

}  // namespace
}  // namespace compassdb
