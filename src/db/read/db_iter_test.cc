// SPDX-License-Identifier: Apache-2.0
#include "db/read/db_iter.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/wide_column_codec.h"
#include "iter/merging_iterator.h"
#include "iter/test_support.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::BytewiseComparator;
using test::AppendOperator;
using test::TestRecord;
using test::VectorIterator;

const InternalKeyComparator& Cmp() {
  static const InternalKeyComparator cmp(BytewiseComparator());
  return cmp;
}

DBIterSource SourceOf(const std::vector<std::vector<TestRecord>>& parts,
                      const std::vector<RangeTombstone>& tombstones, SequenceNumber snapshot) {
  DBIterSource source(BytewiseComparator());
  std::vector<InternalIteratorPtr> children;
  for (const auto& part : parts) children.push_back(std::make_unique<VectorIterator>(part, Cmp()));
  source.iter = NewMergingIterator(&Cmp(), std::move(children));
  for (const RangeTombstone& t : tombstones) {
    source.tombstones.Add(std::make_shared<RangeTombstoneList>(std::vector<RangeTombstone>{t},
                                                               BytewiseComparator()));
  }
  source.snapshot = snapshot;
  source.super_version_number = 42;
  return source;
}

class DBIterTest : public ::testing::Test {
 protected:
  DBIterTest() {
    options_.comparator = BytewiseComparator();
    options_.merge.op = &op_;
  }
  std::unique_ptr<rocksdb::Iterator> Open(const std::vector<TestRecord>& records,
                                          const std::vector<RangeTombstone>& tombstones = {},
                                          SequenceNumber snapshot = 1000) {
    return std::unique_ptr<rocksdb::Iterator>(
        NewDBIterator(options_, SourceOf({records}, tombstones, snapshot)));
  }
  // Everything, forward and then backward.
  static std::string Walk(rocksdb::Iterator* it) {
    std::string s;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      s += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    s += "| ";
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      s += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    return it->status().ok() ? s : s + it->status().ToString();
  }

  AppendOperator op_;
  DBIterOptions options_;
};

TEST_F(DBIterTest, AFailedMergeEndsTheWalkWithAnError) {
  auto it = Open({{"a", 1, kTypeValue, "1"}, {"b", 5, kTypeMerge, "fail"}});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption());
  it->SeekToLast();
  EXPECT_TRUE(it->status().IsCorruption());
  it->Seek("a");
  EXPECT_TRUE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST_F(DBIterTest, WithoutAMergeOperatorOperandsAreRefused) {
  options_.merge.op = nullptr;
  auto it = Open({{"b", 5, kTypeMerge, "x"}});
  it->SeekToFirst();
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->SeekToLast();
  EXPECT_TRUE(it->status().IsInvalidArgument());
}

TEST_F(DBIterTest, PinnedKeysOutliveTheStep) {
  options_.pin_data = true;
  auto it = Open({{"a", 1, kTypeValue, "1"}, {"b", 2, kTypeValue, "2"}});
  it->SeekToFirst();
  const Slice a = it->key();
  std::string pinned;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", &pinned).ok());
  EXPECT_EQ(pinned, "1");
  it->Next();
  it->Next();
  EXPECT_EQ(a.ToString(), "a");
}

TEST_F(DBIterTest, Properties) {
  auto it = Open({{"a", 1, kTypeValue, "1"}});
  std::string p;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.super-version-number", &p).ok());
  EXPECT_EQ(p, "42");
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", &p).ok());
  EXPECT_EQ(p, "Iterator is not valid.");
  it->SeekToFirst();
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", &p).ok());
  EXPECT_EQ(p, "0");
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.internal-key", &p).ok());
  EXPECT_EQ(p, "a");
  EXPECT_TRUE(it->GetProperty("nonsense", &p).IsInvalidArgument());
}

TEST_F(DBIterTest, RefreshTakesANewSourceAndReleasesTheOld) {
  struct Pins : DBIterPins {
    explicit Pins(std::shared_ptr<int> p) : pin(std::move(p)) {}
    const std::shared_ptr<int> pin;
  };
  struct Renewer : DBIterRenewer {
    Status Renew(DBIterSource* s) override {
      *s = SourceOf({{{"b", 2, kTypeValue, "2"}}}, {}, 10);
      return Status::OK();
    }
    bool IsOutdated(const DBIterSource&) const override { return true; }
  };
  auto pin = std::make_shared<int>(0);
  DBIterSource source = SourceOf({{{"a", 1, kTypeValue, "1"}}}, {}, 10);
  source.pins = std::make_unique<Pins>(pin);
  std::unique_ptr<rocksdb::Iterator> it(
      NewDBIterator(options_, std::move(source), std::make_unique<Renewer>()));
  EXPECT_EQ(Walk(it.get()), "a=1 | a=1 ");
  EXPECT_EQ(pin.use_count(), 2);
  ASSERT_TRUE(it->Refresh().ok());
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_EQ(Walk(it.get()), "b=2 | b=2 ");
  EXPECT_TRUE(Open({})->Refresh().IsNotSupported());
}

TEST_F(DBIterTest, SourceErrorsSurface) {
  for (int steps = 0; steps < 6; ++steps) {
    DBIterSource source(BytewiseComparator());
    auto input = std::make_unique<VectorIterator>(
        std::vector<TestRecord>{{"a", 1, kTypeValue, "1"}, {"b", 2, kTypeMerge, "2"},
                                {"b", 1, kTypeValue, "2"}, {"c", 3, kTypeValue, "3"}},
        Cmp());
    input->FailAfter(steps);
    source.iter = std::move(input);
    std::unique_ptr<rocksdb::Iterator> it(NewDBIterator(options_, std::move(source)));
    const std::string walk = Walk(it.get());
    EXPECT_NE(walk.find("IO error"), std::string::npos) << steps << ": " << walk;
  }
}

TEST_F(DBIterTest, LongCoveredStretchesAreJumpedOver) {
  class Counting : public VectorIterator {
   public:
    Counting(const std::vector<TestRecord>& r, int* steps) : VectorIterator(r, Cmp()), steps_(steps) {}
    void Next() override {
      ++*steps_;
      VectorIterator::Next();
    }

   private:
    int* steps_;
  };
  std::vector<TestRecord> old;
  for (int i = 10000; i < 20000; ++i) old.push_back({std::to_string(i), 1, kTypeValue, ""});
  int steps = 0;
  DBIterSource source = SourceOf({}, {{"10001", "19999", 5}}, 10);
  std::vector<InternalIteratorPtr> children;
  children.push_back(std::make_unique<Counting>(old, &steps));
  children.push_back(std::make_unique<VectorIterator>(
      std::vector<TestRecord>{{"15000", 7, kTypeValue, "new"}, {"16000", 4, kTypeValue, ""}},
      Cmp()));
  source.iter = NewMergingIterator(&Cmp(), std::move(children));
  std::unique_ptr<rocksdb::Iterator> it(NewDBIterator(options_, std::move(source)));
  std::string seen;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->key().ToString() + " ";
  EXPECT_EQ(seen, "10000 15000 19999 ");
  EXPECT_LT(steps, 100);
}

// Of a store that changes in place: the value has the operands above its record in it.
TEST_F(DBIterTest, AnEntityThatHasItsOperandsIsShownWhereTheKeyHasManyVersions) {
  struct Values : ValueResolver {
    explicit Values(std::string v) : value(std::move(v)) {}
    Status Resolve(const Slice&, const Slice&, rocksdb::PinnableSlice*) const override {
      return Status::Corruption("the version is asked for");
    }
    Status ResolveVersion(const Slice&, const Slice&, rocksdb::PinnableSlice* to, Version* version) const override {
      to->PinSelf(value);
      version->entity = true;
      version->sequence = 100;
      return Status::OK();
    }
    const std::string value;
  };
  const rocksdb::WideColumns columns = {{"", "v"}, {"name", "n"}};
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns(columns, &stored).ok());
  std::vector<TestRecord> records = {{"k", 1, kTypeBlobIndex, "ref"}};
  for (SequenceNumber sequence = 2; sequence <= 20; ++sequence) records.push_back({"k", sequence, kTypeMerge, "o"});
  DBIterSource source = SourceOf({records}, {}, 1000);
  source.values = std::make_unique<Values>(stored);
  std::unique_ptr<rocksdb::Iterator> it(NewDBIterator(options_, std::move(source)));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->columns(), columns);
  it->SeekToLast();
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->columns(), columns);
}

// A random history, cut into random parts, walked at random and compared with
// the map that a naive reader makes of it.
TEST_F(DBIterTest, RandomWalksMatchTheModel) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random rnd(seed);
    const uint64_t key_space = rnd.Between(1, 89);
    const auto random_key = [&] { return std::to_string(10 + rnd.Uniform(key_space)); };
    std::vector<TestRecord> records;
    std::vector<RangeTombstone> tombstones;
    const SequenceNumber end = rnd.Between(1, 250);
    const uint64_t tombstone_rate = rnd.Between(5, 60);
    for (SequenceNumber seq = 1; seq <= end; ++seq) {
      if (rnd.OneIn(tombstone_rate)) {
        tombstones.push_back({random_key(), random_key(), seq});
        continue;
      }
      const uint64_t kind = rnd.Uniform(10);
      const ValueType type = kind < 5 ? kTypeValue : kind < 7 ? kTypeDeletion : kTypeMerge;
      records.push_back({random_key(), seq, type,
                         type == kTypeDeletion ? "" : std::to_string(seq)});
    }
    std::vector<std::vector<TestRecord>> parts(rnd.Between(1, 4));
    const bool by_age = rnd.OneIn(2);
    for (const TestRecord& r : records) {
      parts[by_age ? r.sequence * parts.size() / (end + 1) : rnd.Uniform(parts.size())]
          .push_back(r);
    }

    const SequenceNumber snapshot = rnd.OneIn(2) ? end : rnd.Uniform(end + 1);
    auto view = test::ViewOf(records, tombstones, snapshot);
    const std::string low = random_key(), high = random_key();
    const Slice lower(low), upper(high);
    options_.lower_bound = rnd.OneIn(3) ? &lower : nullptr;
    options_.upper_bound = rnd.OneIn(3) ? &upper : nullptr;
    options_.max_sequential_skip = rnd.Uniform(10);
    options_.pin_data = rnd.OneIn(4);
    std::erase_if(view, [&](const auto& e) {
      return (options_.lower_bound != nullptr && e.first < low) ||
             (options_.upper_bound != nullptr && e.first >= high);
    });

    std::unique_ptr<rocksdb::Iterator> it(
        NewDBIterator(options_, SourceOf(parts, tombstones, snapshot)));
    auto model = view.end();
    const auto model_prev = [&] { model = model == view.begin() ? view.end() : std::prev(model); };
    std::string trace;
    for (int step = 0; step < 150; ++step) {
      const uint64_t op = rnd.Uniform(model == view.end() ? 4 : 14);
      const std::string target = random_key();
      trace += " " + std::to_string(op) + ":" + target;
      if (op == 0) {
        it->SeekToFirst();
        model = view.begin();
      } else if (op == 1) {
        it->SeekToLast();
        model = view.end();
        model_prev();
      } else if (op == 2) {
        it->Seek(target);
        model = view.lower_bound(target);
      } else if (op == 3) {
        it->SeekForPrev(target);
        model = view.upper_bound(target);
        model_prev();
      } else if (op < 9) {
        it->Next();
        ++model;
      } else {
        it->Prev();
        model_prev();
      }
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      ASSERT_EQ(it->Valid(), model != view.end()) << trace;
      if (it->Valid()) {
        ASSERT_EQ(it->key().ToString(), model->first) << trace;
        ASSERT_EQ(it->value().ToString(), model->second) << trace;
      }
    }
  }
}

}  // namespace
}  // namespace compassdb
