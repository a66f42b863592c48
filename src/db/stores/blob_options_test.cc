// SPDX-License-Identifier: Apache-2.0
// What RocksDB's options of separated values drive here.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "db/testing/value_test_util.h"
#include "rocksdb/compaction_filter.h"

namespace compassdb {
namespace {

class BlobOptionsTest : public ValueTest {
 protected:
  BlobOptionsTest() {
    options_.write_buffer_size = 8 << 20;  // flushes when the test says so
    piece_.value_reserve_percent = 500;    // nothing is collected by itself
    UsePieces();
  }
  // One file of values.
  void Fill(int from, int to, int version = 0, size_t size = 500) {
    for (int i = from; i < to; ++i) ASSERT_TRUE(Put(Key(i), Value(i + version, size)).ok());
    Flush();
  }
  void Force(double cutoff) {
    rocksdb::CompactRangeOptions options;
    options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    options.blob_garbage_collection_age_cutoff = cutoff;
    const Status s = db_->CompactRange(options, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CleanUp() {
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
};

TEST_F(BlobOptionsTest, ValuesFrom192BytesOnAreSeparatedUnlessASizeIsSet) {
  for (const bool later : {false, true}) {
    options_.min_blob_size = later ? 1 : 0;
    OpenDb();
    if (later) {
      ASSERT_TRUE(db_->SetOptions({{"min_blob_size", "0"}}).ok());
    }
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 191)).ok());
    Flush();
    EXPECT_EQ(ValueBytes(), 0u);
    for (int i = 100; i < 200; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 192)).ok());
    Flush();
    EXPECT_GT(ValueBytes(), 100u * 192);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(Get(Key(i)), Value(i, i < 100 ? 191 : 192));
    CleanUp();
  }
  options_.min_blob_size = 1;  // all
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "x").ok());
  Flush();
  EXPECT_GT(ValueBytes(), 100u);
}

TEST_F(BlobOptionsTest, FileSizeBoundsTheGroups) {
  options_.write_buffer_size = 64 << 10;
  const auto groups = [&] {
    Fill(0, 8000);  // 4 MB
    return IntProperty("compassdb.value-groups");
  };
  OpenDb();
  groups();
  EXPECT_EQ(groups(), 16u);
  options_.blob_file_size = 64 << 10;
  OpenDb();
  const uint64_t finer = groups();
  EXPECT_GE(finer, 64u);
  ASSERT_TRUE(db_->SetOptions({{"blob_file_size", "8192"}}).ok());
  EXPECT_GE(groups(), 4 * finer);
  // The smaller of the two counts.
  CleanUp();
  options_.blob_file_size = 1 << 30;
  piece_.value_group_bytes = 64 << 10;
  UsePieces();
  OpenDb();
  groups();
  EXPECT_GE(groups(), 64u);
  for (int i = 0; i < 8000; i += 7) ASSERT_EQ(Get(Key(i)), Value(i));
}

TEST_F(BlobOptionsTest, ReadaheadIsWhatACollectionReadsAtATime) {
  uint64_t reads[2] = {};
  for (const bool far : {false, true}) {
    options_.blob_compaction_readahead_size = far ? 0 : 1 << 10;
    OpenDb();
    Fill(0, 4000, 0, 2000);
    for (int i = 0; i < 4000; i += 20) ASSERT_TRUE(Put(Key(i), Value(i + 1, 2000)).ok());
    Flush();
    Settle();
    std::atomic<uint64_t> count{0};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kRead && path.ends_with(".ph")) ++count;
    });
    Force(1);
    fs_->SetHook(nullptr);
    reads[far] = count;
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), Value(i % 20 == 0 ? i + 1 : i, 2000)) << i;
    CleanUp();
  }
  // 3,800 values one by one and by up to 62 of a group.
  EXPECT_GT(reads[0], 1500u);
  EXPECT_LT(reads[1], reads[0] / 3);
}

// Two files of values that are half dead, and a third that is not.
TEST_F(BlobOptionsTest, ForcedCollectionsAreOfTheOldestShare) {
  for (const bool by_family : {false, true}) {
    OpenDb();
    const auto force = [&](double share) {
      if (by_family) {
        ASSERT_TRUE(db_->SetOptions({{"blob_garbage_collection_age_cutoff", std::to_string(share)}}).ok());
      }
      Force(by_family ? -1 : share);
    };
    Fill(0, 2000);
    Fill(2000, 4000);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
    Fill(2000, 3000, 1);
    Compact();
    Settle();
    const uint64_t all = ValueBytes(), half = all / 6;  // of one of the three
    force(0);
    EXPECT_EQ(ValueBytes(), all);
    force(0.2);
    EXPECT_LT(ValueBytes(), all - half * 9 / 10);
    EXPECT_GT(ValueBytes(), all - half * 11 / 10);
    force(0.2);  // of the second, which is the oldest now
    EXPECT_LT(ValueBytes(), all - half * 19 / 10);
    Fill(0, 2000, 1);
    force(1);
    EXPECT_LT(IntProperty("rocksdb.live-blob-file-garbage-size"), all / 50);
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), Value(i < 3000 ? i + 1 : i)) << i;
    OpenDb();
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), Value(i < 3000 ? i + 1 : i)) << i;
    EXPECT_TRUE(db_->VerifyChecksum().ok());
    CleanUp();
  }
}

// Holds a compaction in its middle.
class Gate : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "Gate"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice&, std::string*, bool*) const override {
    std::unique_lock<std::mutex> lock(mu_);
    if (!shut_) return false;
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !shut_; });
    return false;
  }
  void Shut() {
    std::lock_guard<std::mutex> lock(mu_);
    shut_ = true;
    reached_ = false;
  }
  void AwaitArrival() {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [this] { return reached_; });
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mu_);
    shut_ = false;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  mutable bool reached_ = false;
  bool shut_ = false;
};

TEST_F(BlobOptionsTest, NoCollectionIsBegunWhileACompactRangeWantsNone) {
  using Policy = rocksdb::BlobGarbageCollectionPolicy;
  for (const Policy policy : {Policy::kDisable, Policy::kUseDefault}) {
    Gate gate;
    options_.compaction_filter = &gate;
    OpenDb();
    Fill(0, 2000);
    Fill(0, 2000, 1);
    Settle();
    // Of the newest version: older ones, which readers hold for a moment, count deleted files.
    const auto live = [&] { return IntProperty("rocksdb.live-blob-file-size"); };
    const uint64_t all = live();
    const auto collected = [&] { return live() < all * 3 / 4; };
    gate.Shut();
    std::thread compaction([&] {
      rocksdb::CompactRangeOptions options;
      options.exclusive_manual_compaction = false;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      options.blob_garbage_collection_policy = policy;
      const Status s = db_->CompactRange(options, nullptr, nullptr);
      EXPECT_TRUE(s.ok()) << s.ToString();
    });
    gate.AwaitArrival();
    EXPECT_TRUE(db_->SetOptions({{"table_factory", "{value_reserve_percent=0}"}}).ok());
    const auto deadline = std::chrono::steady_clock::now() +
                          (policy == Policy::kDisable ? std::chrono::milliseconds(500) : std::chrono::seconds(60));
    while (!collected() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(collected(), policy == Policy::kUseDefault);
    // The bound on space holds nevertheless: a flush that waits for space gets it.
    Fill(0, 2000, 2);
    EXPECT_LT(ValueBytes(), all * 5 / 4);
    gate.Open();
    compaction.join();
    Settle();
    EXPECT_TRUE(collected());  // what was held off came afterwards
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 2)) << i;
    CleanUp();
    options_.compaction_filter = nullptr;
  }
}

}  // namespace
}  // namespace compassdb
