// SPDX-License-Identifier: Apache-2.0
// User-defined timestamps: versions by time against a model, and what becomes of history.
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "api/comparator_u64ts.h"
#include "db/testing/db_test_util.h"
#include "db/testing/timed_test_util.h"
#include "format/internal_key.h"
#include "rocksdb/write_batch.h"
#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;
using rocksdb::WriteOptions;

class TimestampsTest : public DbTest {
 protected:
  // Per key its versions by time, null for a deletion.
  using Versions = std::map<uint64_t, std::optional<std::string>>;
  using Model = std::map<std::string, Versions>;

  TimestampsTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }

  static const std::optional<std::string>* ValueAt(const Versions& versions, uint64_t time) {
    const auto above = versions.upper_bound(time);
    return above == versions.begin() ? nullptr : &std::prev(above)->second;
  }

  void Check(const Model& model, uint64_t time, const rocksdb::Snapshot* snapshot) {
    const At at(time, snapshot);
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.read));
    std::vector<std::string> seen;
    it->SeekToFirst();
    for (const auto& [key, versions] : model) {
      const std::optional<std::string>* const want = ValueAt(versions, time);
      std::string value, found_at;
      const Status s = db_->Get(at.read, db_->DefaultColumnFamily(), key, &value, &found_at);
      if (want == nullptr || !want->has_value()) {
        ASSERT_TRUE(s.IsNotFound()) << key << " at " << time << " " << s.ToString();
        continue;
      }
      ASSERT_TRUE(s.ok()) << key << " at " << time << " " << s.ToString();
      ASSERT_EQ(value, **want);
      ASSERT_LE(DecodeFixed64(found_at.data()), time);
      ASSERT_TRUE(it->Valid()) << key << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), key);
      ASSERT_EQ(it->value().ToString(), **want);
      ASSERT_EQ(it->timestamp().ToString(), found_at);
      seen.push_back(key);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto key = seen.rbegin(); key != seen.rend(); ++key, it->Prev()) {
      ASSERT_TRUE(it->Valid()) << *key;
      ASSERT_EQ(it->key().ToString(), *key);
      ASSERT_EQ(it->value().ToString(), **ValueAt(model.at(*key), time));
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_TRUE(it->status().ok());
  }

  void CheckHistory(const Model& model, uint64_t from, uint64_t to) {
    const At at(from, to);
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.read));
    std::vector<std::string> all;
    it->SeekToFirst();
    for (const auto& [key, versions] : model) {
      for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
        if (version->first < from || version->first > to) continue;
        ASSERT_TRUE(it->Valid()) << key << "@" << version->first;
        const std::string shown = it->key().ToString();
        ASSERT_EQ(shown.substr(0, shown.size() - 8), key + Time(version->first));
        const auto type = static_cast<uint8_t>(shown[shown.size() - 8]);
        ASSERT_EQ(type == kTypeValue, version->second.has_value());
        ASSERT_EQ(it->value().ToString(), version->second.value_or(""));
        all.push_back(shown + it->value().ToString());
        it->Next();
      }
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry, it->Prev()) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key().ToString() + it->value().ToString(), *entry);
    }
    ASSERT_FALSE(it->Valid());
  }
};

// Calls back where times are compared.
class ComparesTimes : public rocksdb::Comparator {
 public:
  ComparesTimes() : Comparator(8) {}
  const char* Name() const override { return base_->Name(); }
  int Compare(const Slice& a, const Slice& b) const override { return base_->Compare(a, b); }
  int CompareWithoutTimestamp(const Slice& a, bool a_has, const Slice& b, bool b_has) const override {
    return base_->CompareWithoutTimestamp(a, a_has, b, b_has);
  }
  int CompareTimestamp(const Slice& a, const Slice& b) const override {
    const int order = base_->CompareTimestamp(a, b);
    if (hook) std::exchange(hook, nullptr)();
    return order;
  }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    base_->FindShortestSeparator(start, limit);
  }
  void FindShortSuccessor(std::string* key) const override { base_->FindShortSuccessor(key); }
  mutable std::function<void()> hook;

 private:
  const rocksdb::Comparator* const base_ = BytewiseComparatorWithU64Ts();
};

// A read asks how far back history reaches, then pins a state. History that is dropped between the two is not
// returned, nor is what an iterator finds after Refresh.
TEST_F(TimestampsTest, NoReadOfHistoryThatIsDropped) {
  const ComparesTimes comparator;
  options_.comparator = &comparator;
  OpenDb();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  for (uint64_t time : {10, 20, 30, 40, 50, 60}) {
    ASSERT_TRUE(db_->Put(WriteOptions(), "k", Time(time), std::to_string(time)).ok());
  }
  const auto raise = [&](uint64_t low) {
    EXPECT_TRUE(db_->IncreaseFullHistoryTsLow(family, Time(low)).ok());
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
  };
  raise(1);
  std::string value;
  const At at15(15);
  ASSERT_TRUE(db_->Get(at15.read, "k", &value).ok());
  EXPECT_EQ(value, "10");
  comparator.hook = [&] { raise(25); };
  Status s = db_->Get(at15.read, "k", &value);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();

  const At at26(26);
  comparator.hook = [&] { raise(35); };
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at26.read));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument()) << it->status().ToString();

  const At at36(36);
  std::vector<std::string> values;
  comparator.hook = [&] { raise(45); };
  s = db_->MultiGet(at36.read, std::vector<Slice>{"k"}, &values)[0];
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();

  const At at46(46);
  comparator.hook = [&] { raise(55); };
  EXPECT_TRUE(db_->KeyMayExist(at46.read, family, "k", &value));

  it.reset(db_->NewIterator(At(56).read));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->value().ToString(), "50");
  raise(60);
  s = it->Refresh();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  it->SeekToFirst();  // it still has what it had
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->value().ToString(), "50");
}

TEST_F(TimestampsTest, AgreesWithAModelThroughEverything) {
  options_.level0_file_num_compaction_trigger = 2;
  OpenDb();
  Random random(11);
  Model model;
  uint64_t now = 0;
  for (int round = 0; round < 6; ++round) {
    const Model before = model;
    const uint64_t then = now;
    const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
    for (int i = 0; i < 700; ++i) {
      const std::string key = Key(static_cast<int>(random.Uniform(120)));
      now += random.Uniform(3);
      if (random.OneIn(4)) {
        ASSERT_TRUE(db_->Delete(WriteOptions(), key, Time(now)).ok());
        model[key][now] = std::nullopt;
      } else {
        const std::string value = random.Bytes(random.Uniform(400));
        ASSERT_TRUE(db_->Put(WriteOptions(), key, Time(now), value).ok());
        model[key][now] = value;
      }
    }
    const auto check = [&] {
      for (uint64_t time : {uint64_t{0}, now / 3, now / 2, now, now + 10}) Check(model, time, nullptr);
      Check(before, then, snapshot);
      Check(before, now, snapshot);
      CheckHistory(model, now / 4, now / 2);
    };
    check();
    if (round % 2 == 0) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    if (round % 3 == 2) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    check();
    db_->ReleaseSnapshot(snapshot);
    OpenDb();
    for (uint64_t time : {now / 2, now}) Check(model, time, nullptr);
  }
}

TEST_F(TimestampsTest, HistoryBelowTheLowIsDroppedAndReadsStay) {
  OpenDb();
  Random random(5);
  Model model;
  uint64_t now = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1500; ++i) {
      const std::string key = Key(static_cast<int>(random.Uniform(60)));
      ++now;
      if (random.OneIn(3)) {
        const bool single = random.OneIn(2) && model[key].empty();
        ASSERT_TRUE((single ? db_->SingleDelete(WriteOptions(), key, Time(now))
                            : db_->Delete(WriteOptions(), key, Time(now)))
                        .ok());
        model[key][now] = std::nullopt;
      } else {
        const std::string value = random.Bytes(random.Uniform(200));
        ASSERT_TRUE(db_->Put(WriteOptions(), key, Time(now), value).ok());
        model[key][now] = value;
      }
    }
    const uint64_t low = now - 300;
    const std::string bytes = Time(low);
    const Slice slice(bytes);
    rocksdb::CompactRangeOptions compact;
    compact.full_history_ts_low = &slice;
    ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
    for (uint64_t time : {low, low + 100, now}) Check(model, time, nullptr);
    OpenDb();
    std::string stored;
    ASSERT_TRUE(db_->GetFullHistoryTsLow(nullptr, &stored).ok());
    EXPECT_EQ(stored, bytes);
    for (uint64_t time : {low, now}) Check(model, time, nullptr);
  }
  // One version of a key below the low, and those above it: far less than was written.
  EXPECT_LT(IntProperty("rocksdb.estimate-num-keys"), 60u + 300u + 1u);
}

TEST_F(TimestampsTest, BatchesWithoutTheirTimestampsAreRefused) {
  OpenDb();
  rocksdb::WriteBatch late(0, 0, 0, 8);
  ASSERT_TRUE(late.Put("k", "v").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &late).IsInvalidArgument());
  ASSERT_TRUE(late.UpdateTimestamps(Time(5), [](uint32_t) { return size_t{8}; }).ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &late).ok());
  rocksdb::WriteBatch none;
  ASSERT_TRUE(none.Put("k", "v").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &none).IsInvalidArgument());
  Check({{"k", {{5, "v"}}}}, 7, nullptr);
}

TEST_F(TimestampsTest, BoundsAndRangesHaveNoTimestamps) {
  OpenDb();
  for (uint64_t time : {3, 5}) {
    for (const char* key : {"a", "b", "c", "d"}) {
      ASSERT_TRUE(db_->Put(WriteOptions(), key, Time(time), std::to_string(time)).ok());
    }
  }
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  At at(4);
  const Slice lower("b"), upper("d");
  at.read.iterate_lower_bound = &lower;
  at.read.iterate_upper_bound = &upper;
  uint64_t size = 0;
  const rocksdb::Range range("a", "z");
  ASSERT_TRUE(db_->GetApproximateSizes(rocksdb::SizeApproximationOptions(),
                                       db_->DefaultColumnFamily(), &range, 1, &size)
                  .ok());
  EXPECT_GT(size, 0u);
  const Slice begin("b"), end("c");
  EXPECT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), &begin, &end).ok());
  EXPECT_EQ(Scan(at.read), "b=3,c=3");
}

}  // namespace
}  // namespace compassdb
