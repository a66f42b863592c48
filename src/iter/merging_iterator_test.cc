// SPDX-License-Identifier: Apache-2.0
#include "iter/merging_iterator.h"

#include <gtest/gtest.h>

#include "api/comparator_u64ts.h"
#include "env/read_batch.h"
#include "iter/range_tombstone_set.h"
#include "iter/test_support.h"
#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::BytewiseComparator;
using test::InternalKeyOf;
using test::TestRecord;
using test::VectorIterator;

class MergingIteratorTest : public ::testing::Test {
 protected:
  InternalIteratorPtr Merge(const std::vector<std::vector<TestRecord>>& parts) {
    std::vector<InternalIteratorPtr> children;
    for (const auto& part : parts) children.push_back(std::make_unique<VectorIterator>(part, cmp_));
    return NewMergingIterator(&cmp_, std::move(children));
  }
  InternalKeyComparator cmp_{BytewiseComparator()};
};

TEST_F(MergingIteratorTest, NoChildrenIsEmpty) {
  auto it = Merge({});
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST_F(MergingIteratorTest, NewerVersionsComeFirst) {
  auto it = Merge({{{"a", 1, kTypeValue, "old"}}, {{"a", 5, kTypeValue, "new"}}});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "new");
  it->Next();
  EXPECT_EQ(it->value().ToString(), "old");
  it->Prev();
  EXPECT_EQ(it->value().ToString(), "new");
}

// Wants a read before each Seek, and counts how many went on together.
class ReadingIterator final : public InternalIterator {
 public:
  struct Reads {
    int begun = 0, batches = 0, prefetched = 0;
    ReadBatch* batch = nullptr;
  };
  ReadingIterator(InternalIteratorPtr base, Reads* reads) : base_(std::move(base)), reads_(reads) {}
  void PrefetchSeek(const Slice* target) override {
    EXPECT_EQ(reads_->begun, 0) << "all prefetch before the first reads";
    target_ = target != nullptr ? target->ToString() : "";
    ++reads_->prefetched;
  }
  void PrepareSeek(const Slice* target, ReadBatch* batch) override {
    EXPECT_EQ(target_, target != nullptr ? target->ToString() : "");
    EXPECT_TRUE(reads_->batch == nullptr || reads_->batch == batch);
    reads_->batch = batch;
    ++reads_->begun;
    class Part final : public ReadBatch::Part {
     public:
      explicit Part(ReadingIterator* owner) : owner_(owner) {}
      void Finish() override {
        owner_->done_ = true;
        if (--owner_->reads_->begun == 0) ++owner_->reads_->batches;
        owner_->reads_->batch = nullptr;
      }

     private:
      ReadingIterator* const owner_;
    };
    batch->Add(std::make_unique<Part>(this));
  }
  void Seek(const Slice& target) override {
    EXPECT_EQ(target_, target.ToString());
    Begin();
    base_->Seek(target);
  }
  void SeekToFirst() override {
    EXPECT_EQ(target_, "");
    Begin();
    base_->SeekToFirst();
  }
  bool Valid() const override { return base_->Valid(); }
  void SeekToLast() override { base_->SeekToLast(); }
  void SeekForPrev(const Slice& target) override { base_->SeekForPrev(target); }
  void Next() override { base_->Next(); }
  void Prev() override { base_->Prev(); }
  Slice key() const override { return base_->key(); }
  Slice value() const override { return base_->value(); }
  Status status() const override { return base_->status(); }

 private:
  void Begin() {
    EXPECT_TRUE(done_);
    done_ = false;
  }
  InternalIteratorPtr base_;
  Reads* const reads_;
  std::string target_;
  bool done_ = false;
};

TEST_F(MergingIteratorTest, ChildrenOfNestedMergesWaitForTheirReadsTogether) {
  ReadingIterator::Reads reads;
  std::vector<InternalIteratorPtr> outer;
  for (int i = 0; i < 3; ++i) {
    std::vector<InternalIteratorPtr> inner;
    for (int j = 0; j < 4; ++j) {
      inner.push_back(std::make_unique<ReadingIterator>(
          Merge({{{"k" + std::to_string(i * 4 + j), 1, kTypeValue, ""}}}), &reads));
    }
    outer.push_back(NewMergingIterator(&cmp_, std::move(inner)));
  }
  auto it = NewMergingIterator(&cmp_, std::move(outer));
  const auto count = [&] {
    int n = 0;
    for (; it->Valid(); it->Next()) ++n;
    return n;
  };
  it->SeekToFirst();
  EXPECT_EQ(count(), 12);
  EXPECT_EQ(reads.batches, 1);
  EXPECT_EQ(reads.prefetched, 12);
  it->Seek(InternalKeyOf({"k3", 9, kTypeValue, ""}));
  EXPECT_EQ(reads.batches, 2);
  EXPECT_EQ(count(), 7);  // 3 to 9
  it->SeekToLast();
  EXPECT_TRUE(it->Valid());
  it->Seek(InternalKeyOf({"k1", 9, kTypeValue, ""}));
  EXPECT_EQ(reads.batches, 3);
  EXPECT_EQ(count(), 11);
}

TEST_F(MergingIteratorTest, AFailedChildHidesWhatIsBehindIt) {
  std::vector<InternalIteratorPtr> children;
  auto bad = std::make_unique<VectorIterator>(
      std::vector<TestRecord>{{"a", 1, kTypeValue, ""}, {"c", 1, kTypeValue, ""}}, cmp_);
  bad->FailAfter(1);
  children.push_back(std::move(bad));
  children.push_back(std::make_unique<VectorIterator>(
      std::vector<TestRecord>{{"b", 1, kTypeValue, ""}, {"d", 1, kTypeValue, ""}}, cmp_));
  auto it = NewMergingIterator(&cmp_, std::move(children));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIOError());
}

TEST_F(MergingIteratorTest, EqualEntriesComeOutOncePerChildInBothDirections) {
  const TestRecord same{"k", 7, kTypeValue, "v"};
  auto it = Merge({{same}, {same, {"l", 1, kTypeValue, ""}}, {same}});
  int n = 0;
  for (it->SeekToFirst(); it->Valid() && ExtractUserKey(it->key()) == Slice("k"); it->Next()) ++n;
  EXPECT_EQ(n, 3);
  for (n = 0, it->Prev(); it->Valid(); it->Prev()) ++n;
  EXPECT_EQ(n, 3);
}

TEST_F(MergingIteratorTest, RandomWalksMatchASortedVector) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random rnd(seed);
    std::vector<std::vector<TestRecord>> parts(rnd.Between(1, 9));
    std::vector<std::string> sorted;
    for (uint64_t i = rnd.Uniform(200); i > 0; --i) {
      TestRecord r{std::to_string(rnd.Uniform(40)), i, kTypeValue, std::to_string(i)};
      sorted.push_back(InternalKeyOf(r));
      parts[rnd.Uniform(parts.size())].push_back(r);
    }
    const auto less = [&](const std::string& a, const std::string& b) {
      return cmp_.Compare(a, b) < 0;
    };
    std::sort(sorted.begin(), sorted.end(), less);
    auto it = Merge(parts);
    size_t pos = sorted.size();  // the model's position
    for (int step = 0; step < 400; ++step) {
      const uint64_t op = rnd.Uniform(pos < sorted.size() ? 12 : 4);
      const std::string target = InternalKeyOf(
          {std::to_string(rnd.Uniform(42)), rnd.Uniform(210), kValueTypeForSeek, ""});
      if (op == 0) {
        it->SeekToFirst();
        pos = 0;
      } else if (op == 1) {
        it->SeekToLast();
        pos = sorted.empty() ? 0 : sorted.size() - 1;
      } else if (op == 2) {
        it->Seek(target);
        pos = std::lower_bound(sorted.begin(), sorted.end(), target, less) - sorted.begin();
      } else if (op == 3) {
        it->SeekForPrev(target);
        pos = std::upper_bound(sorted.begin(), sorted.end(), target, less) - sorted.begin();
        pos = pos == 0 ? sorted.size() : pos - 1;
      } else if (op < 8) {
        it->Next();
        ++pos;
      } else {
        it->Prev();
        pos = pos == 0 ? sorted.size() : pos - 1;
      }
      ASSERT_EQ(it->Valid(), pos < sorted.size()) << "step " << step;
      if (it->Valid()) {
        ASSERT_EQ(it->key().ToString(), sorted[pos]) << "step " << step;
      }
      ASSERT_TRUE(it->status().ok());
    }
  }
}

TEST(RangeTombstoneSet, RandomQuestionsMatchTheTombstones) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random rnd(seed);
    const auto key = [&] { return std::to_string(100 + rnd.Uniform(60)); };
    std::vector<RangeTombstone> all;
    RangeTombstoneSet set(BytewiseComparator());
    for (uint64_t list = rnd.Uniform(5); list > 0; --list) {
      std::vector<RangeTombstone> part;
      for (uint64_t i = rnd.Uniform(12); i > 0; --i) {
        part.push_back({key(), key(), rnd.Between(1, 50)});
      }
      all.insert(all.end(), part.begin(), part.end());
      set.Add(std::make_shared<RangeTombstoneList>(part, BytewiseComparator()));
    }
    int walk = 100;
    for (int i = 0; i < 300; ++i) {
      const std::string k = rnd.OneIn(3) ? key() : std::to_string(walk = walk >= 160 ? 99 : walk + 1);
      const SequenceNumber snapshot = rnd.Between(1, 60);
      SequenceNumber max = 0, min = 0;
      for (const RangeTombstone& t : all) {
        if (!(t.start <= k && k < t.end)) continue;
        if (t.sequence <= snapshot) max = std::max(max, t.sequence);
        min = min == 0 ? t.sequence : std::min(min, t.sequence);
      }
      ASSERT_EQ(set.MaxCovering(k, snapshot), max) << k << " at " << snapshot;
      ASSERT_EQ(set.MinCovering(k), min) << k;
    }
  }
}

TEST(RangeTombstoneSet, WithTimestampsTheTimeDecidesAsWell) {
  const Comparator* const cmp = BytewiseComparatorWithU64Ts();
  const auto time = [](uint64_t t) {
    std::string bytes;
    PutFixed64(&bytes, t);
    return bytes;
  };
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random rnd(seed);
    const auto key = [&] { return std::to_string(100 + rnd.Uniform(60)); };
    std::vector<RangeTombstone> all;
    RangeTombstoneSet set(cmp);
    const uint64_t limit = rnd.Between(1, 20);
    const uint64_t kind = rnd.Uniform(4);
    if (kind == 1) set.CountUpTo(time(limit));
    if (kind == 2) set.CountBelow(time(limit));
    if (kind == 3) set.CountBelow("");
    for (uint64_t list = rnd.Uniform(5); list > 0; --list) {
      std::vector<RangeTombstone> part;
      for (uint64_t i = rnd.Uniform(12); i > 0; --i) {
        const std::string at = time(rnd.Between(1, 20));
        part.push_back(FromStoredBounds(key() + at, key() + at, rnd.Between(1, 50), 8));
      }
      all.insert(all.end(), part.begin(), part.end());
      set.Add(std::make_shared<RangeTombstoneList>(part, cmp));
    }
    for (int i = 0; i < 300; ++i) {
      const uint64_t at = rnd.Between(1, 21);
      const std::string k = key(), stored = k + time(at);
      const SequenceNumber snapshot = rnd.Between(1, 60);
      SequenceNumber max = 0, min = 0;
      for (const RangeTombstone& t : all) {
        const std::string start = t.StoredStart().substr(0, 3), end = t.StoredEnd().substr(0, 3);
        const uint64_t of_tombstone = DecodeFixed64(t.timestamp.data());
        if (!(start <= k && k < end) || of_tombstone < at) continue;
        min = min == 0 ? t.sequence : std::min(min, t.sequence);
        const bool counts = kind == 0 || (kind == 1 && of_tombstone <= limit) ||
                            (kind == 2 && of_tombstone < limit);
        if (counts && t.sequence <= snapshot) max = std::max(max, t.sequence);
      }
      ASSERT_EQ(set.MaxCovering(stored, snapshot), max) << k << " at " << snapshot;
      ASSERT_EQ(set.MinCovering(stored), min) << k;
    }
  }
}

}  // namespace
}  // namespace compassdb
