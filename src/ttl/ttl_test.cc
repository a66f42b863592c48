// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "compassdb/table.h"
#include "db/testing/export_test_util.h"
#include "env/env_test_util.h"
#include "env/rocksdb/env_adapter.h"
#include "env/sim/memory_file_system.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/utilities/db_ttl.h"
#include "ttl/ttl_value.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::DBWithTTL;
using rocksdb::ReadOptions;
using rocksdb::WriteOptions;

// Its time is what the test says.
class ClockEnv final : public rocksdb::EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  rocksdb::Status GetCurrentTime(int64_t* time) override {
    if (fail) return Status::IOError("no clock");
    *time = now;
    return Status::OK();
  }
  std::atomic<int64_t> now{1'600'000'000};  // compactions look, too
  std::atomic<bool> fail{false};
};

class Append final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  bool ShouldMerge(const std::vector<Slice>&) const override { return ++asked_ > 0; }
  int asked() const { return asked_; }
  const char* Name() const override { return "Append"; }

 private:
  mutable int asked_ = 0;
};

// Drops "drop", changes "change"; sees no times.
class WordFilter final : public rocksdb::CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice& value, std::string* result,
              bool* changed) const override {
    if (value == "drop") return true;
    *changed = value == "change";
    if (*changed) *result = "changed";
    return false;
  }
  const char* Name() const override { return "WordFilter"; }
};

class WordFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<WordFilter>();
  }
  const char* Name() const override { return "WordFilterFactory"; }
};

class TtlTest : public ::testing::Test {
 protected:
  TtlTest() : base_(NewEnvForFileSystem(std::make_shared<MemoryFileSystem>())), env_(base_.get()) {
    options_.create_if_missing = true;
    options_.env = &env_;
    options_.merge_operator = std::make_shared<Append>();
  }
  void Open(int32_t ttl, bool read_only = false) {
    db_.reset();
    DBWithTTL* db = nullptr;
    Status s = DBWithTTL::Open(options_, "/db", &db, ttl, read_only);
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset(db);
  }
  std::string Get(const std::string& key) {
    std::string value;
    Status s = db_->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.ToString();
  }
  std::string Scan() {
    std::string out;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      out += it->key().ToString() + "=" + it->value().ToString() + ";";
    }
    return out + (it->status().ok() ? "" : it->status().ToString());
  }
  void Compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
  }

  std::unique_ptr<rocksdb::Env> base_;
  ClockEnv env_;
  rocksdb::Options options_;
  std::unique_ptr<DBWithTTL> db_;
};

TEST_F(TtlTest, StoredFormIsTheValueAndFourBytesOfTime) {
  Open(0);
  env_.now = 0x60000001;
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  std::string stored;
  ASSERT_TRUE(db_->GetBaseDB()->Get(ReadOptions(), "k", &stored).ok());
  EXPECT_EQ(stored, std::string("v\x01\x00\x00\x60", 5));
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(TtlTest, CompactionsDropWhatIsOlderThanTheTtl) {
  Open(100);
  ASSERT_TRUE(db_->Put(WriteOptions(), "old", "1").ok());
  env_.now += 60;
  ASSERT_TRUE(db_->Put(WriteOptions(), "new", "2").ok());
  env_.now += 40;
  Compact();
  EXPECT_EQ(Scan(), "new=2;old=1;");  // exactly at its age it is still there
  env_.now += 1;
  EXPECT_EQ(Get("old"), "1");  // until a compaction
  Compact();
  EXPECT_EQ(Scan(), "new=2;");
  db_->SetTtl(1000);
  env_.now += 500;
  Compact();
  EXPECT_EQ(Scan(), "new=2;");
  db_->SetTtl(0);
  env_.now += 5000;
  Compact();
  EXPECT_EQ(Scan(), "new=2;");
  Open(10);
  Compact();
  EXPECT_EQ(Scan(), "");
}

// Dropped records free their space in the value store, for any separated values.
TEST_F(TtlTest, SeparatedValuesGoWithTheirTime) {
  PieceTableOptions piece;
  piece.value_group_bytes = 16 << 10;
  piece.value_reserve_percent = 0;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  options_.enable_blob_files = options_.enable_blob_garbage_collection = true;
  options_.min_blob_size = 100;
  options_.write_buffer_size = 256 << 10;
  constexpr int kKeys = 4000;
  constexpr uint64_t kOne = 500;
  const auto bytes = [&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
    uint64_t all = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.total-blob-file-size", &all));
    return all;
  };
  const auto put = [&](int begin) {
    for (int i = begin; i < kKeys; i += 2) {
      const std::string value(kOne, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(db_->Put(WriteOptions(), "key" + std::to_string(i), value).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  };
  Open(100);
  put(0);
  env_.now += 60;
  put(1);
  Compact();
  EXPECT_GT(bytes(), kKeys * kOne);
  env_.now += 50;
  Compact();
  EXPECT_GT(bytes(), kKeys / 2 * kOne);
  EXPECT_LT(bytes(), kKeys / 2 * kOne * 115 / 100 + (300 << 10));  // 256 KiB of garbage are tolerated
  EXPECT_EQ(Get("key1"), std::string(kOne, 'b'));
  env_.now += 100;
  Compact();
  EXPECT_LT(bytes(), 300u << 10);
  EXPECT_EQ(Scan(), "");
}

// Pages are rewritten by flushes, a few at a time, and all of them by CompactRange.
TEST_F(TtlTest, PagesLoseWhatIsOlderWhenTheyAreRewritten) {
  PieceTableOptions piece;
  piece.store = StoreKind::kTableless;
  piece.tableless_sections = 1;
  piece.tableless_pages = 1;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  Open(100);
  ASSERT_TRUE(db_->Put(WriteOptions(), "old", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  env_.now += 101;
  EXPECT_EQ(Get("old"), "1");
  ASSERT_TRUE(db_->Put(WriteOptions(), "new", "2").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_TRUE(Get("old").starts_with("NotFound"));
  EXPECT_EQ(Scan(), "new=2;");
  env_.now += 101;
  EXPECT_EQ(Scan(), "new=2;");
  Compact();
  EXPECT_EQ(Scan(), "");
}

TEST_F(TtlTest, ClockErrorsFailWritesAndExpireNothing) {
  Open(10);
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  env_.now += 1000;
  env_.fail = true;
  EXPECT_TRUE(db_->Put(WriteOptions(), "l", "v").IsIOError());
  Compact();
  EXPECT_EQ(Scan(), "k=v;");
}

TEST_F(TtlTest, MergeGivesTheResultTheTimeOfTheMerge) {
  Open(100);
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "a").ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), "k", "b").ok());
  EXPECT_EQ(Get("k"), "a,b");
  // Asked with every operand, it would be given copies of all before.
  EXPECT_EQ(static_cast<const Append*>(options_.merge_operator.get())->asked(), 0);
  env_.now += 90;
  Compact();
  env_.now += 90;
  Compact();
  EXPECT_EQ(Scan(), "k=a,b;");
  env_.now += 11;
  Compact();
  EXPECT_EQ(Scan(), "");
}

TEST_F(TtlTest, BatchesKeepTheirOrderAndTheirOtherRecords) {
  Open(0);
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.PutLogData("note").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(batch.Merge("a", "2").ok());
  ASSERT_TRUE(batch.Put("b", "3").ok());
  ASSERT_TRUE(batch.SingleDelete("b").ok());
  ASSERT_TRUE(batch.Put("c", "4").ok());
  ASSERT_TRUE(batch.DeleteRange(db_->DefaultColumnFamily(), "c", "d").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(batch.Count(), 7);  // the caller's is as it was
  EXPECT_EQ(Scan(), "a=2;");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 7u);
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "e", {}).IsNotSupported());
}

TEST_F(TtlTest, AllReadsTakeTheTimeOff) {
  Open(0);
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", "1").ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), "b", "2").ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), "b", "3").ok());
  std::vector<std::string> strings;
  std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "x"}, &strings);
  EXPECT_EQ(strings[0], "1");
  EXPECT_TRUE(statuses[1].IsNotFound());
  const Slice keys[] = {"a", "b", "x"};
  rocksdb::PinnableSlice values[3];
  Status status[3];
  db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 3, keys, values, status);
  EXPECT_EQ(values[0].ToString() + values[1].ToString(), "12,3");
  EXPECT_TRUE(status[2].IsNotFound());
  rocksdb::GetMergeOperandsOptions operands;
  operands.expected_max_number_of_operands = 3;
  int count = 0;
  rocksdb::PinnableSlice parts[3];
  ASSERT_TRUE(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "b", parts,
                                    &operands, &count).ok());
  ASSERT_EQ(count, 2);
  EXPECT_EQ(parts[0].ToString() + parts[1].ToString(), "23");
  std::string value;
  bool found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &value, &found));
  EXPECT_EQ(value, found ? "1" : "");
  std::vector<rocksdb::Iterator*> iterators;
  ASSERT_TRUE(db_->NewIterators(ReadOptions(), {db_->DefaultColumnFamily()}, &iterators).ok());
  std::unique_ptr<rocksdb::Iterator> it(iterators[0]);
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "2,3");
  EXPECT_EQ(it->columns(), (rocksdb::WideColumns{{"", "2,3"}}));
  rocksdb::PinnableWideColumns entity;
  ASSERT_TRUE(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "a", &entity).ok());
  EXPECT_EQ(entity.columns(), (rocksdb::WideColumns{{"", "1"}}));
  it->Prev();
  EXPECT_EQ(it->value(), "1");
  it->SeekForPrev("aa");
  EXPECT_EQ(it->value(), "1");
}

TEST_F(TtlTest, ValuesWithoutATimeAreCorruption) {
  rocksdb::DB* plain = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options_, "/db", &plain).ok());
  ASSERT_TRUE(plain->Put(WriteOptions(), "long", "no time in here").ok());
  ASSERT_TRUE(plain->Put(WriteOptions(), "low", std::string("x\x01\x02\x03\x04", 5)).ok());
  ASSERT_TRUE(plain->Put(WriteOptions(), "short", "abc").ok());
  delete plain;
  Open(0);
  EXPECT_NE(Get("low").find("Timestamp < ttl feature"), std::string::npos) << Get("low");
  EXPECT_NE(Get("short").find("length less"), std::string::npos) << Get("short");
  EXPECT_EQ(Get("long"), "no time in ");  // text is a late enough time
  EXPECT_EQ(Scan(), "long=no time in ;Corruption: Error: Timestamp < ttl feature release time!\n");
  std::vector<std::string> values;
  EXPECT_TRUE(db_->MultiGet(ReadOptions(), {"short"}, &values)[0].IsCorruption());
  Compact();  // must not trip over them
  EXPECT_NE(Get("short").find("length less"), std::string::npos);
}

TEST_F(TtlTest, FiltersOfTheApplicationSeeValuesWithoutTheTime) {
  const WordFilter filter;
  for (bool with_factory : {false, true}) {
    options_.compaction_filter = with_factory ? nullptr : &filter;
    options_.compaction_filter_factory =
        with_factory ? std::make_shared<WordFilterFactory>() : nullptr;
    Open(100);
    ASSERT_TRUE(db_->Put(WriteOptions(), "a", "drop").ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), "b", "change").ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), "c", "keep").ok());
    Compact();
    EXPECT_EQ(Scan(), "b=changed;c=keep;");
    env_.now += 101;
    Compact();
    EXPECT_EQ(Scan(), "");
    // A plain filter is fixed at open, as in RocksDB.
    ASSERT_TRUE(db_->Put(WriteOptions(), "d", "keep").ok());
    db_->SetTtl(10);
    env_.now += 50;
    Compact();
    EXPECT_EQ(Scan(), with_factory ? "" : "d=keep;");
    env_.now += 51;
    Compact();
    EXPECT_EQ(Scan(), "");
  }
}

TEST_F(TtlTest, ColumnFamiliesHaveTheirOwn) {
  Open(0);
  ColumnFamilyHandle* short_lived = nullptr;
  ColumnFamilyHandle* plain = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamilyWithTtl(options_, "short", &short_lived, 10).ok());
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "plain", &plain).ok());
  for (ColumnFamilyHandle* family : {short_lived, plain}) {
    ASSERT_TRUE(db_->Put(WriteOptions(), family, "k", "v").ok());
  }
  env_.now += 11;
  std::string value;
  for (ColumnFamilyHandle* family : {short_lived, plain}) {
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr).ok());
    EXPECT_EQ(db_->Get(ReadOptions(), family, "k", &value).ok(), family == plain);
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
  }
  db_.reset();
  std::vector<ColumnFamilyDescriptor> families{{"default", options_}, {"short", options_},
                                               {"plain", options_}};
  std::vector<ColumnFamilyHandle*> handles;
  DBWithTTL* db = nullptr;
  EXPECT_TRUE(DBWithTTL::Open(options_, "/db", families, &handles, &db, {1, 2}).IsInvalidArgument());
  ASSERT_TRUE(DBWithTTL::Open(options_, "/db", families, &handles, &db, {0, 0, 5}).ok());
  db_.reset(db);
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), handles[2], nullptr, nullptr).ok());
  db_->SetTtl(handles[2], 20);
  for (ColumnFamilyHandle* handle : handles) ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

TEST_F(TtlTest, AnImportedFamilyKeepsItsTimes) {
  Open(100);
  ASSERT_TRUE(db_->Merge(WriteOptions(), "k", "a").ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "old", "x").ok());
  const auto exported = ExportDefaultFamily(db_.get(), "/exported");
  ASSERT_NE(exported, nullptr);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamilyWithImport(options_, "imported", rocksdb::ImportColumnFamilyOptions(), *exported, &family).ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), family, "k", "b").ok());
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), family, "k", &value).ok());
  EXPECT_EQ(value, "a,b");
  EXPECT_TRUE(db_->Get(ReadOptions(), family, "old", &value).ok());
  EXPECT_EQ(value, "x");
  // It may be given a time to live.
  env_.now += 1000;
  db_->SetTtl(family, 100);
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(compact, family, nullptr, nullptr).ok());
  EXPECT_TRUE(db_->Get(ReadOptions(), family, "old", &value).IsNotFound());
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
}

TEST_F(TtlTest, ReadOnly) {
  Open(10);
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  Open(10, /*read_only=*/true);
  EXPECT_EQ(Get("k"), "v");
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "w").IsNotSupported());
}

TEST_F(TtlTest, CloseReportsSnapshots) {
  Open(10);
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(snapshot);
  EXPECT_TRUE(db_->Close().ok());
  EXPECT_TRUE(db_->Close().ok());
}

TEST_F(TtlTest, NoEnvIsTheDefaultOne) {
  const std::string name = NewTestPath();
  options_.env = nullptr;
  DBWithTTL* db = nullptr;
  const Status s = DBWithTTL::Open(options_, name, &db, 10);
  ASSERT_TRUE(s.ok()) << s.ToString();
  db_.reset(db);
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  EXPECT_EQ(Get("k"), "v");
  ASSERT_TRUE(db_->Close().ok());
  std::vector<std::string> families;
  EXPECT_TRUE(rocksdb::DB::ListColumnFamilies(options_, name, &families).ok());
  EXPECT_EQ(families.size(), 1u);
  options_.env = rocksdb::Env::Default();
  db_.reset();
  EXPECT_TRUE(rocksdb::DestroyDB(name, options_).ok());
}

}  // namespace
}  // namespace compassdb
