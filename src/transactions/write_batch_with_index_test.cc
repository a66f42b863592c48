// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/write_batch_with_index.h"

#include <gtest/gtest.h>

#include <random>

#include "db/testing/db_test_util.h"

namespace compassdb {
namespace {

using rocksdb::DBOptions;
using rocksdb::Iterator;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WBWIIterator;
using rocksdb::WriteBatchWithIndex;
using rocksdb::WriteOptions;

// "put k=v,del k,..." in index order.
std::string Entries(WBWIIterator* it) {
  static const char* const kNames[] = {"put", "merge", "del", "sdel"};
  std::string out;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const rocksdb::WriteEntry entry = it->Entry();
    out += (out.empty() ? "" : ",") + std::string(kNames[entry.type]) + " " + entry.key.ToString();
    if (!entry.value.empty()) out += "=" + entry.value.ToString();
  }
  return out;
}

std::string Walk(Iterator* it) {
  std::string out;
  for (; it->Valid(); it->Next()) out += it->key().ToString() + "=" + it->value().ToString() + ",";
  return it->status().ok() ? out : it->status().ToString();
}

class BatchWithIndexTest : public DbTest {
 protected:
  BatchWithIndexTest() { options_.merge_operator = std::make_shared<AppendOperator>(); }

  std::string FromBatch(WriteBatchWithIndex* batch, const std::string& key, bool handle = true) {
    std::string value;
    Status s = batch->GetFromBatch(handle ? db_->DefaultColumnFamily() : nullptr, DBOptions(), key,
                                   &value);
    return s.ok() ? value : s.ToString();
  }
  std::string FromBoth(WriteBatchWithIndex* batch, const std::string& key) {
    std::string value;
    Status s = batch->GetFromBatchAndDB(db_.get(), ReadOptions(), key, &value);
    return s.ok() ? value : s.ToString();
  }
};

TEST(BatchWithIndex, EntriesOfAKeyStandInOrderOfTime) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("b", "1").ok());
  ASSERT_TRUE(batch.Put("a", "2").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.PutLogData("no entry").ok());
  ASSERT_TRUE(batch.SingleDelete("a").ok());
  ASSERT_TRUE(batch.Merge("b", "3").ok());
  std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  EXPECT_EQ(Entries(it.get()), "put a=2,sdel a,put b=1,del b,merge b=3");
  it->SeekForPrev("azzz");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->Entry().type, rocksdb::kSingleDeleteRecord);
  it->Prev();
  EXPECT_EQ(it->Entry().value, "2");
  it->Prev();
  EXPECT_FALSE(it->Valid());
  it->Seek("b");
  EXPECT_EQ(it->Entry().value, "1");
  it->SeekToLast();
  EXPECT_EQ(it->Entry().value, "3");
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST(BatchWithIndex, OverwritingReplacesTheNewestEntry) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  ASSERT_TRUE(batch.Put("k", "1").ok());
  ASSERT_TRUE(batch.Put("k", "2").ok());
  ASSERT_TRUE(batch.Merge("k", "3").ok());
  std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  EXPECT_EQ(Entries(it.get()), "put k=2,merge k=3");
  ASSERT_TRUE(batch.Delete("k").ok());
  EXPECT_EQ(Entries(it.get()), "put k=2,del k");
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 4u);
}

TEST(BatchWithIndex, RollbackTakesTheIndexBack) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  ASSERT_TRUE(batch.Put("k", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("k", "2").ok());
  ASSERT_TRUE(batch.Put("l", "2").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.PopSavePoint().ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  EXPECT_EQ(Entries(it.get()), "put k=1");
  batch.Clear();
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
}

TEST(BatchWithIndex, RefusedRecordsLeaveNoEntry) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true, /*max_bytes=*/40);
  ASSERT_TRUE(batch.Put("k", "v").ok());
  EXPECT_TRUE(batch.Put("l", std::string(50, 'x')).IsMemoryLimit());
  EXPECT_TRUE(batch.DeleteRange("a", "b").IsNotSupported());
  std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  EXPECT_EQ(Entries(it.get()), "put k=v");
}

TEST_F(BatchWithIndexTest, FamiliesHaveTheirOwnComparators) {
  OpenDb();
  rocksdb::ColumnFamilyOptions reverse;
  reverse.comparator = rocksdb::ReverseBytewiseComparator();
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(reverse, "reverse", &family).ok());
  handles_.push_back(family);
  WriteBatchWithIndex batch;
  for (const char* key : {"b", "", "c", "a"}) {
    ASSERT_TRUE(batch.Put(family, key, "r").ok());
    ASSERT_TRUE(batch.Put(key, "f").ok());
  }
  std::unique_ptr<WBWIIterator> forward(batch.NewIterator());
  std::unique_ptr<WBWIIterator> backward(batch.NewIterator(family));
  EXPECT_EQ(Entries(forward.get()), "put =f,put a=f,put b=f,put c=f");
  EXPECT_EQ(Entries(backward.get()), "put c=r,put b=r,put a=r,put =r");
  forward->SeekToLast();
  EXPECT_EQ(forward->Entry().key, "c");
  backward->SeekToLast();
  EXPECT_EQ(backward->Entry().key, "");
}

TEST_F(BatchWithIndexTest, LookupsInTheBatchAndBelow) {
  OpenDb();
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_TRUE(Put(key, "db").ok());
  for (const bool overwrite : {false, true}) {
    WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, overwrite);
    auto* family = db_->DefaultColumnFamily();
    ASSERT_TRUE(batch.Put("a", "batch").ok());
    ASSERT_TRUE(batch.Delete("b").ok());
    ASSERT_TRUE(batch.Merge(family, "c", "m").ok());
    ASSERT_TRUE(batch.Delete("e").ok());
    ASSERT_TRUE(batch.Merge(family, "e", "m").ok());
    ASSERT_TRUE(batch.Put("f", "p").ok());
    ASSERT_TRUE(batch.Merge(family, "f", "m").ok());
    EXPECT_EQ(FromBatch(&batch, "a"), "batch");
    EXPECT_EQ(FromBatch(&batch, "b"), "NotFound: ");
    EXPECT_EQ(FromBatch(&batch, "c"), "Merge in progress: ");
    EXPECT_EQ(FromBatch(&batch, "d"), "NotFound: ");
    EXPECT_EQ(FromBatch(&batch, "e"), "m");
    EXPECT_EQ(FromBatch(&batch, "f"), "p,m");
    EXPECT_EQ(FromBatch(&batch, "f", /*handle=*/false),
              "Invalid argument: Must provide a column_family");
    EXPECT_EQ(FromBoth(&batch, "a"), "batch");
    EXPECT_EQ(FromBoth(&batch, "b"), "NotFound: ");
    EXPECT_EQ(FromBoth(&batch, "c"), "db,m");
    EXPECT_EQ(FromBoth(&batch, "d"), "db");
    EXPECT_EQ(FromBoth(&batch, "e"), "m");
    const Slice keys[] = {"a", "b", "c", "d", "e", "x"};
    rocksdb::PinnableSlice values[6];
    Status statuses[6];
    batch.MultiGetFromBatchAndDB(db_.get(), ReadOptions(), family, 6, keys, values, statuses,
                                 false);
    std::string all;
    for (int i = 0; i < 6; ++i) all += (statuses[i].ok() ? values[i].ToString() : "-") + " ";
    EXPECT_EQ(all, "batch - db,m db m - ");
  }
}

TEST_F(BatchWithIndexTest, BoundsHoldForTheBatchToo) {
  OpenDb();
  ASSERT_TRUE(Put("c", "db").ok());
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  for (const char* key : {"a", "b", "d", "e"}) ASSERT_TRUE(batch.Put(key, "1").ok());
  const Slice lower("b"), upper("e");
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(
      db_->DefaultColumnFamily(), db_->NewIterator(options), &options));
  it->SeekToFirst();
  EXPECT_EQ(Walk(it.get()), "b=1,c=db,d=1,");
  it->Seek("a");
  EXPECT_EQ(Walk(it.get()), "b=1,c=db,d=1,");
  it->SeekForPrev("z");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "d");
  it->SeekForPrev("a");
  EXPECT_FALSE(it->Valid());
}

TEST_F(BatchWithIndexTest, StepsFromNowhereAreRefused) {
  OpenDb();
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  it->Next();
  EXPECT_TRUE(it->status().IsNotSupported());
  it->SeekToFirst();
  EXPECT_TRUE(it->status().ok());
}

// The overlay must show exactly what the database shows once it has the batch.
TEST_F(BatchWithIndexTest, TheOverlayIsWhatTheDatabaseWillBe) {
  for (int seed = 0; seed < 60; ++seed) {
    fs_ = std::make_shared<FaultInjectionFileSystem>();
    CloseDb();
    env_ = NewEnvForFileSystem(fs_);
    options_.env = env_.get();
    OpenDb();
    std::mt19937 random(seed);
    auto key = [&] { return std::string(1, static_cast<char>('a' + random() % 12)); };
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(Put(key(), "d" + std::to_string(i)).ok());
    if (seed % 3 == 0) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, seed % 2 == 0);
    auto* family = db_->DefaultColumnFamily();
    for (int i = 0; i < 10; ++i) {
      const std::string value = "b" + std::to_string(i);
      const int kind = static_cast<int>(random() % 4);
      Status s = kind == 0   ? batch.Delete(family, key())
                 : kind == 1 ? batch.Merge(family, key(), value)
                             : batch.Put(family, key(), value);
      ASSERT_TRUE(s.ok());
    }
    std::unique_ptr<Iterator> overlay(
        batch.NewIteratorWithBase(family, db_->NewIterator(ReadOptions())));
    ASSERT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).ok());
    std::unique_ptr<Iterator> after(db_->NewIterator(ReadOptions()));
    for (int step = 0; step < 80; ++step) {
      const std::string target = key();
      const int move = static_cast<int>(random() % 8);
      for (Iterator* it : {overlay.get(), after.get()}) {
        if (!it->Valid() || move == 0) {
          it->Seek(target);
        } else if (move == 1) {
          it->SeekForPrev(target);
        } else if (move == 2) {
          it->SeekToFirst();
        } else if (move == 3) {
          it->SeekToLast();
        } else if (move < 6) {
          it->Next();
        } else {
          it->Prev();
        }
      }
      ASSERT_EQ(overlay->Valid(), after->Valid()) << "seed " << seed << " step " << step;
      ASSERT_TRUE(overlay->status().ok());
      if (!after->Valid()) continue;
      ASSERT_EQ(overlay->key(), after->key()) << "seed " << seed << " step " << step;
      ASSERT_EQ(overlay->value(), after->value()) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace compassdb
