// SPDX-License-Identifier: Apache-2.0
// Walks over separated values, which are read ahead (HashKV 3.6).
#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "db/testing/value_test_util.h"
#include "env/read_batch.h"

namespace compassdb {
namespace {

// Knows of reads of large records which were begun together and are not waited for yet, and which were not.
class CountedReads final : public FaultInjectionFileSystem {
 public:
  static constexpr size_t kLarge = 10000;  // and little more; no block and no section is of that size

  struct Counts {
    std::atomic<uint64_t> alone{0};
    std::atomic<uint64_t> begun{0};
    std::atomic<uint64_t> finished{0};
    std::atomic<uint64_t> small_alone{0};
    uint64_t in_flight() const { return begun - finished; }
  };

  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    Status s = FaultInjectionFileSystem::NewRandomAccessFile(path, options, file);
    if (s.ok()) *file = std::make_unique<CountedFile>(this, std::move(*file));
    return s;
  }

  Counts counts;
  std::atomic<bool> at_once{false};  // as from the page cache

 private:
  class Finished final : public ReadBatch::Part {
   public:
    Finished(Counts* counts, uint64_t n) : counts_(counts), n_(n) {}
    void Finish() override { counts_->finished += n_; }

   private:
    Counts* const counts_;
    const uint64_t n_;
  };

  class CountedFile final : public RandomAccessFile {
   public:
    CountedFile(CountedReads* fs, std::unique_ptr<RandomAccessFile> file)
        : fs_(fs), counts_(&fs->counts), file_(std::move(file)) {}
    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      ++(IsLarge(n) ? counts_->alone : counts_->small_alone);
      return file_->Read(offset, n, result, scratch);
    }
    void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
      const auto large = static_cast<uint64_t>(
          std::count_if(requests, requests + n, [](const ReadRequest& r) { return IsLarge(r.length); }));
      counts_->begun += large;
      if (fs_->at_once) {
        file_->MultiRead(requests, n);
        counts_->finished += large;
        return;
      }
      file_->AddReads(requests, n, batch);
      batch->Add(std::make_unique<Finished>(counts_, large));
    }

   private:
    static bool IsLarge(size_t n) { return n >= kLarge && n < kLarge + 100; }
    const CountedReads* const fs_;
    Counts* const counts_;
    const std::unique_ptr<RandomAccessFile> file_;
  };
};

class ValueReadAheadTest : public ValueStoreTest {
 protected:
  static constexpr int kKeys = 1000;
  static constexpr uint64_t kLargestWindow = 64;

  void OpenCounted() {
    counted_ = std::make_shared<CountedReads>();
    UseDisk(counted_);
    options_.write_buffer_size = 16 << 20;
    piece_.value_group_bytes = 1 << 20;
    UsePieces();
    OpenDb();
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, CountedReads::kLarge)).ok());
    Flush();
    Settle();
    options_.disable_auto_compactions = true;
    OpenDb();
  }
  std::unique_ptr<rocksdb::Iterator> NewIterator() {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options));
  }
  // The iterator is at the first key of a walk in that direction: walks `steps` keys. From the fourth value on
  // a window is under way, and none is read alone from the third on.
  void Walk(rocksdb::Iterator* it, int from, int direction, int steps) {
    CountedReads::Counts& counts = counted_->counts;
    uint64_t alone = 0;
    for (int step = 1, at = from; step <= steps; ++step, at += direction) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), Key(at));
      ASSERT_EQ(it->value().ToString(), Value(at, CountedReads::kLarge));
      if (step == 2) alone = counts.alone;
      if (step > 2) {
        ASSERT_EQ(counts.alone, alone) << "value " << step << " was read by itself";
      }
      const auto left = static_cast<uint64_t>(direction > 0 ? kKeys - 1 - at : at);
      if (step > 3 && left > 2 * kLargestWindow) {
        const auto walked = static_cast<uint64_t>(step);
        const uint64_t expected = std::clamp<uint64_t>(walked / 8, 4, kLargestWindow);
        ASSERT_GE(counts.in_flight(), expected) << "at value " << step;
        ASSERT_LE(counts.in_flight(), 2 * kLargestWindow) << "at value " << step;
      }
      direction > 0 ? it->Next() : it->Prev();
    }
  }

  std::shared_ptr<CountedReads> counted_;
};

TEST_F(ValueReadAheadTest, AWindowIsUnderWayForward) {
  OpenCounted();
  auto it = NewIterator();
  const uint64_t small_alone = counted_->counts.small_alone;
  it->SeekToFirst();
  Walk(it.get(), 0, 1, kKeys);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(counted_->counts.begun + counted_->counts.alone, uint64_t{kKeys});  // none twice
  // Places are loaded together, too: nearly each run has one value here. (The rest is tables and the heads of files.)
  EXPECT_LT(counted_->counts.small_alone - small_alone, uint64_t{kKeys} / 4);
  EXPECT_EQ(counted_->counts.in_flight(), 0u);
}

TEST_F(ValueReadAheadTest, AWindowIsUnderWayBackward) {
  OpenCounted();
  auto it = NewIterator();
  it->SeekToLast();
  Walk(it.get(), kKeys - 1, -1, kKeys);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(counted_->counts.begun + counted_->counts.alone, uint64_t{kKeys});
  EXPECT_EQ(counted_->counts.in_flight(), 0u);
}

TEST_F(ValueReadAheadTest, AWalkThatTurnsBeginsAgain) {
  OpenCounted();
  auto it = NewIterator();
  it->Seek(Key(300));
  Walk(it.get(), 300, 1, 100);
  it->Prev();
  Walk(it.get(), 399, -1, 200);
  it->Next();
  Walk(it.get(), 200, 1, 500);
}

TEST_F(ValueReadAheadTest, WithoutWaitsOnlyOneWindowIsReadAhead) {
  OpenCounted();
  counted_->at_once = true;
  for (const bool forward : {true, false}) {
    const uint64_t before = counted_->counts.begun + counted_->counts.alone;
    auto it = NewIterator();
    uint64_t walked = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
      const int at = static_cast<int>(forward ? walked : kKeys - 1 - walked);
      ASSERT_EQ(it->value().ToString(), Value(at, CountedReads::kLarge));
      ++walked;
      const uint64_t read = counted_->counts.begun + counted_->counts.alone - before;
      // The value at hand is of the window.
      ASSERT_LE(read, walked + std::clamp<uint64_t>(walked / 6, 4, kLargestWindow) - 1) << "at value " << walked;
    }
    EXPECT_EQ(walked, uint64_t{kKeys});
    EXPECT_EQ(counted_->counts.begun + counted_->counts.alone - before, uint64_t{kKeys});
  }
}

TEST_F(ValueReadAheadTest, NothingIsReadBehindABound) {
  OpenCounted();
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::string low = Key(100), high = Key(200);
  const Slice lower(low), upper(high);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  for (const bool forward : {true, false}) {
    const uint64_t before = counted_->counts.begun + counted_->counts.alone;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
    int walked = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) ++walked;
    EXPECT_EQ(walked, 100);
    EXPECT_EQ(counted_->counts.begun + counted_->counts.alone - before, 100u);
  }
}

// Windows of values are read ahead: walks that turn, jump, end or meet other records in between.
TEST_F(ValueReadAheadTest, WalksMeetTheirKeys) {
  OpenDb();
  constexpr int kNumbers = 3000;
  std::map<std::string, std::string> model;
  Random rnd(5);
  const auto put = [&](const std::string& key, std::string value) {
    ASSERT_TRUE(Put(key, value).ok());
    model[key] = std::move(value);
  };
  for (int i = 0; i < kNumbers; ++i) {
    // Short keys, too, and values of all sizes.
    put(i % 10 == 0 ? std::to_string(i) : Key(i), Value(i, rnd.Uniform(4) == 0 ? 20 : 100 + rnd.Uniform(3000)));
  }
  Flush();
  // Old versions stay in the tables, of the same kind as the new ones or not.
  const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 2; i < kNumbers; i += 5) put(Key(i), Value(i + 2, i % 2 == 0 ? 20 : 600));
  for (int i = 3; i < kNumbers; i += 13) {
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(i), "more").ok());
    std::string& value = model[Key(i)];
    value += value.empty() ? "more" : ",more";
  }
  for (int i = 0; i < kNumbers; i += 7) {
    model.erase(Key(i));
    ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  }
  Flush();
  Compact();
  for (int i = 1; i < kNumbers; i += 11) put(Key(i), Value(i + 1, 700));
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  for (int walk = 0; walk < 120; ++walk) {
    if (walk % 3 == 0) it.reset(db_->NewIterator(rocksdb::ReadOptions()));  // with reads under way, perhaps
    ASSERT_TRUE(walk % 7 != 0 || it->Refresh().ok());
    auto at = model.lower_bound(Key(static_cast<int>(rnd.Uniform(kNumbers))));
    if (at == model.end()) continue;
    bool forward = walk % 2 == 0;
    forward ? it->Seek(at->first) : it->SeekForPrev(at->first);
    bool inside = true;
    for (uint64_t steps = rnd.Uniform(walk % 5 == 0 ? 3000 : 60); inside && steps > 0; --steps) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key().ToString(), at->first);
      ASSERT_EQ(it->value().ToString(), at->second);
      if (rnd.Uniform(40) == 0) forward = !forward;
      if (forward) {
        it->Next();
        inside = ++at != model.end();
      } else {
        it->Prev();
        inside = at != model.begin();
        if (inside) --at;
      }
    }
    ASSERT_TRUE(it->status().ok());
    EXPECT_EQ(it->Valid(), inside);
  }
  it.reset();
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace compassdb
