// SPDX-License-Identifier: Apache-2.0
// The bound on what separated values take (docs/design/values.md).
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "db/testing/value_test_util.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class ValueBoundTest : public ValueStoreTest {
 protected:
  // A settled database of that many live values.
  void Load(int keys, size_t write_buffer_size, uint64_t group_bytes = 1 << 20, size_t value_size = 500) {
    options_.write_buffer_size = write_buffer_size;
    piece_.value_group_bytes = group_bytes;
    UsePieces();
    OpenDb();
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, value_size)).ok());
    Flush();
    Settle();
  }

  // During its lifetime, records the most bytes that values take, with bytes that are written and not committed, and
  // the most that they take over their bound.
  class Watch {
   public:
    explicit Watch(ValueBoundTest* test) : thread_([this, test] { Look(test); }) {}
    ~Watch() { Stop(); }
    void Stop() {
      done_ = true;
      if (thread_.joinable()) thread_.join();
    }
    uint64_t most() const { return most_; }
    uint64_t most_copying() const { return most_copying_; }
    double most_of_bound() const { return most_of_bound_; }
    const std::string& then() const { return then_; }  // the figures of that moment

   private:
    void Look(ValueBoundTest* test) {
      for (bool last = false; !last;) {
        last = done_;  // one more after that
        const uint64_t committed = test->IntProperty("compassdb.value-bytes");
        const uint64_t copying = test->IntProperty("compassdb.value-bytes-copying");
        const uint64_t bound = test->IntProperty("compassdb.value-bytes-bound");
        // All of one moment; later writes are seen the next time.
        if (committed == test->IntProperty("compassdb.value-bytes")) {
          const uint64_t bytes = committed + copying;
          most_ = std::max(most_, bytes);
          most_copying_ = std::max(most_copying_, copying);
          const double of_bound = bound == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(bound);
          if (of_bound > most_of_bound_) {
            most_of_bound_ = of_bound;
            then_ = "committed " + std::to_string(committed) + ", copying " + std::to_string(copying) + ", bound " +
                    std::to_string(bound);
          }
        }
        std::this_thread::yield();
      }
    }
    std::atomic<bool> done_{false};
    uint64_t most_ = 0, most_copying_ = 0;
    double most_of_bound_ = 0;
    std::string then_;
    std::thread thread_;  // destroyed first
  };
};

struct AlwaysCase {
  const char* name;
  ValueGcPolicy policy;
  int keys;
  size_t value_size;
  uint64_t group_bytes;
};

class ValueBoundAlwaysTest : public ValueBoundTest, public ::testing::WithParamInterface<AlwaysCase> {};

// Writers wait for collections rather than break it: the reserve of 30 per cent, copies included.
TEST_P(ValueBoundAlwaysTest, HoldsAtEveryMoment) {
  const AlwaysCase& is = GetParam();
  options_.max_background_jobs = 4;
  piece_.value_gc_policy = is.policy;
  piece_.value_hot_cold = is.policy != ValueGcPolicy::kOldestFirst;
  Load(is.keys, 512 << 10, is.group_bytes, is.value_size);
  const uint64_t live = ValueBytes();
  const uint64_t bound = live * 130 / 100 + (256 << 10);
  Watch watch(this);
  Random rnd(301);
  std::vector<int> last(static_cast<size_t>(is.keys), 0);
  const auto keys = static_cast<uint64_t>(is.keys);
  for (int n = 1; n <= 3 * is.keys; ++n) {
    // Half of the updates go to a tenth of the keys.
    const int key = static_cast<int>(rnd.Uniform(2) == 0 ? rnd.Uniform(keys / 10) : rnd.Uniform(keys));
    ASSERT_TRUE(Put(Key(key), Value(key + n, is.value_size)).ok());
    last[static_cast<size_t>(key)] = n;
  }
  Settle();
  watch.Stop();
  EXPECT_GT(watch.most(), live);
  EXPECT_GT(watch.most_copying(), 0u);
  EXPECT_EQ(IntProperty("compassdb.value-bytes-copying"), 0u);
  // Runs have headers and key tables of their own, which grow with their number.
  EXPECT_LE(watch.most(), bound + bound / 30);
  EXPECT_LE(watch.most_of_bound(), 1.02) << watch.then();
  EXPECT_GT(IntProperty("compassdb.value-bytes-bound"), live);
  for (int i = 0; i < is.keys; ++i) {
    ASSERT_EQ(Get(Key(i)), Value(i + last[static_cast<size_t>(i)], is.value_size)) << i;
  }
}

// 8 MB each; the last in 256 groups.
INSTANTIATE_TEST_SUITE_P(
    Policies, ValueBoundAlwaysTest,
    ::testing::Values(AlwaysCase{"Greedy", ValueGcPolicy::kGreedy, 16000, 500, 1 << 20},
                      AlwaysCase{"OldestFirst", ValueGcPolicy::kOldestFirst, 16000, 500, 1 << 20},
                      AlwaysCase{"SmallGroups", ValueGcPolicy::kGreedy, 32000, 200, 32 << 10}),
    [](const auto& is) { return is.param.name; });

// A collection has one commit, so small groups share one.
TEST_F(ValueBoundTest, SyncsDependOnTheVolume) {
  constexpr int kKeys = 16000;  // 8 MB
  uint64_t syncs[2];
  for (const bool small : {false, true}) {
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    Load(kKeys, 1 << 20, small ? 16 << 10 : 64 << 20);
    EXPECT_EQ(IntProperty("compassdb.value-groups"), small ? 512u : 64u);
    const uint64_t before = fs_->Count(FaultOp::kSync);
    Random rnd(305);
    for (int n = 1; n <= 3 * kKeys; ++n) {
      const int key = static_cast<int>(rnd.Uniform(kKeys));
      ASSERT_TRUE(Put(Key(key), Value(key)).ok());
    }
    Flush();
    Settle();
    syncs[small] = fs_->Count(FaultOp::kSync) - before;
  }
  EXPECT_LE(syncs[1], syncs[0] * 3 / 2);
}

struct Sizes {
  int keys;
  size_t value;
  uint64_t most;  // of the live bytes, in percent
};

class StoreBoundTest : public ValueBoundTest, public ::testing::WithParamInterface<Sizes> {};

// Values, tables and logs together, with 30 per cent reserved.
TEST_P(StoreBoundTest, HoldsAtEveryMoment) {
  const int kKeys = GetParam().keys;
  const size_t kSize = GetParam().value;
  std::vector<std::string> values;  // made in advance: their random bytes take longer than the writes
  for (int i = 0; i < 16; ++i) values.push_back(Value(i, kSize));
  options_.write_buffer_size = 64 << 20;
  piece_.value_group_bytes = 64 << 20;
  UsePieces();
  OpenDb();
  const auto put = [&](uint64_t key, uint64_t n) {
    ASSERT_TRUE(Put(Key(static_cast<int>(key)), values[n % values.size()]).ok());
  };
  const auto bytes = [&] {
    uint64_t sum = IntProperty("compassdb.value-bytes") + IntProperty("compassdb.value-bytes-copying") +
                   IntProperty("rocksdb.live-sst-files-size");
    for (const FileType type : {FileType::kWal, FileType::kManifest}) {
      for (const std::string& name : FilesOf(type)) {
        uint64_t size = 0;
        if (fs_->GetFileSize(JoinPath(name_, name), &size).ok()) sum += size;
      }
    }
    return sum;
  };
  const auto keys = static_cast<uint64_t>(kKeys);
  for (uint64_t i = 0; i < keys; ++i) put(i, i);
  Flush();
  Settle();
  const uint64_t live = keys * (kSize + Key(0).size());
  EXPECT_LT(bytes(), live * 115 / 100);
  Random rnd(308);
  uint64_t most = 0;
  for (uint64_t n = 0; n < 2 * keys; ++n) {
    put(rnd.Uniform(keys), n);
    if (n % 64 == 0) most = std::max(most, bytes());
  }
  EXPECT_GT(most, live * 120 / 100);
  EXPECT_LE(most, live * GetParam().most / 100) << static_cast<double>(most) / static_cast<double>(live);
}

INSTANTIATE_TEST_SUITE_P(Sizes, StoreBoundTest,
                         ::testing::Values(Sizes{16000, 4000, 145}, Sizes{64000, 1000, 152}, Sizes{40000, 4000, 145}),
                         [](const auto& is) {
                           return std::to_string(is.param.keys) + "Of" + std::to_string(is.param.value);
                         });

// Few large values among many small ones. Only the large ones are updated.
TEST_F(ValueBoundTest, HoldsForMixedSizes) {
  options_.write_buffer_size = 1 << 20;
  piece_.value_group_bytes = 64 << 20;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 250)).ok());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put("L" + Key(i), Value(i, 100000)).ok());
  Flush();
  Settle();
  const uint64_t live = ValueBytes();
  for (int round = 1; round < 12; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put("L" + Key(i), Value(i + round, 100000)).ok());
  }
  Flush();
  Settle();
  EXPECT_LT(ValueBytes(), live * 130 / 100 + (512 << 10));
  EXPECT_LT(IntProperty("compassdb.value-bytes-bound"), live * 140 / 100 + (512 << 10));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Get("L" + Key(i)), Value(i + 11, 100000));
}

// All sizes are drawn again each time.
TEST_F(ValueBoundTest, HoldsForSizesThatChange) {
  options_.write_buffer_size = 1 << 20;
  OpenDb();
  Random rnd(17);
  std::map<int, std::string> last;
  uint64_t live = 0;
  for (int n = 0; n < 30000; ++n) {
    const int key = static_cast<int>(rnd.Uniform(3000));
    const uint64_t kind = rnd.Uniform(8);
    const std::string value = Value(n, kind == 0 ? 8000 : kind < 4 ? 50 : 100 + rnd.Uniform(900));
    ASSERT_TRUE(Put(Key(key), value).ok());
    last[key] = value;
  }
  Flush();
  Settle();
  for (const auto& [key, value] : last) {
    if (value.size() >= 100) live += value.size() + 50;
    ASSERT_EQ(Get(Key(key)), value);
  }
  EXPECT_LT(ValueBytes(), live * 135 / 100 + (256 << 10));
}

// A flush of one would double what there is.
TEST_F(ValueBoundTest, HoldsWhereMemtablesAreLargerThanTheReserve) {
  constexpr int kKeys = 16000;  // 8 MB
  Load(kKeys, 64 << 20);
  const uint64_t live = ValueBytes();
  Watch watch(this);
  Random rnd(302);
  for (int n = 1; n <= 3 * kKeys; ++n) {
    const int key = static_cast<int>(rnd.Uniform(kKeys));
    ASSERT_TRUE(Put(Key(key), Value(key)).ok());
  }
  Flush();
  watch.Stop();
  EXPECT_GT(watch.most(), live + live / 20);
  EXPECT_LE(watch.most(), (live * 130 / 100 + (256 << 10)) * 103 / 100);
  EXPECT_LE(watch.most_of_bound(), 1.01);
  for (int i = 0; i < kKeys; i += 3) ASSERT_EQ(Get(Key(i)), Value(i)) << i;
}

// Each key that is deleted makes garbage of a value and takes its part of the reserve away.
TEST_F(ValueBoundTest, HoldsForDeletions) {
  constexpr int kKeys = 16000;  // 8 MB
  Load(kKeys, 64 << 20);
  Watch watch(this);
  for (int i = 0; i < kKeys; ++i) {
    if (i % 16 == 0) continue;
    ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  }
  Flush();
  watch.Stop();
  EXPECT_LE(watch.most_of_bound(), 1.02);
  Settle();
  EXPECT_LT(ValueBytes(), kKeys / 16 * 550 * 130 / 100 + (256 << 10));
  for (int i = 0; i < kKeys; i += 3) ASSERT_EQ(Get(Key(i)), i % 16 == 0 ? Value(i) : "NOT_FOUND") << i;
}

enum class Punching { kWorks, kFails, kWaits };

// The dead bytes of all value files are bounded, whether they are to be punched or not.
class DeadSpaceTest : public ValueBoundTest, public ::testing::WithParamInterface<Punching> {
 protected:
  static constexpr int kKeys = 2500;
  static std::string Large(int i) { return Value(i, 8000); }  // 20 MB
  void Open(uint64_t group_bytes) {
    if (GetParam() == Punching::kFails) fs_->FailAll(FaultOp::kPunch, "", Status::NotSupported("no holes"));
    if (GetParam() == Punching::kWaits) piece_.punch_bytes_per_second = 1;
    options_.write_buffer_size = 1 << 20;
    piece_.value_group_bytes = group_bytes;
    UsePieces();
    OpenDb();
  }
  void Write(int key, int version) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    ASSERT_TRUE(db_->Put(write, Key(key), Large(key + version)).ok());
    last_[key] = version;
  }
  uint64_t Live() { return IntProperty("compassdb.value-bytes") + IntProperty("rocksdb.live-sst-files-size"); }
  // And every key has the value that was written last.
  void ExpectBounded() {
    // Nothing waits for the jobs that punch holes, and a job may begin between two reads.
    uint64_t dead = 0, allowed = 0;
    for (int i = 0; i < 200; ++i) {
      Settle();
      dead = IntProperty("compassdb.dead-bytes");
      allowed = std::max<uint64_t>(1 << 20, Live() / 10);
      if (dead <= allowed) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_LE(dead, allowed);
    EXPECT_LE(IntProperty("compassdb.dead-bytes-punchable"), IntProperty("compassdb.dead-bytes"));
    for (const auto& [key, version] : last_) ASSERT_EQ(Get(Key(key)), Large(key + version)) << key;
    EXPECT_TRUE(db_->VerifyChecksum().ok());
  }

 private:
  std::map<int, int> last_;  // versions
};

TEST_P(DeadSpaceTest, IsBounded) {
  Open(64 << 20);
  for (int i = 0; i < kKeys; ++i) Write(i, 0);
  Random rnd(303);
  for (int n = 1; n <= 3 * kKeys; ++n) Write(static_cast<int>(rnd.Uniform(kKeys)), n);
  Flush();
  EXPECT_GT(Live(), uint64_t{kKeys} * 8000);
  ExpectBounded();
}

TEST_P(DeadSpaceTest, IsBoundedWhereTablesWaitOnLevel0) {
  piece_.leveled = true;  // flushes merge nothing
  options_.level0_file_num_compaction_trigger = 1000;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 2000;
  Open(64 << 20);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < kKeys / 5; ++i) Write(i, round);
  }
  Flush();
  ExpectBounded();
}

// After the iterator's end no other event would cause a search for work. Groups are small, so the dead bytes of
// collected ones are between live bytes.
TEST_P(DeadSpaceTest, IsBoundedOnceNoIteratorHoldsIt) {
  // Of files with a checksum nothing is punched: they can only be vacated.
  options_.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  Open(16 << 10);
  for (int i = 0; i < kKeys / 2; ++i) Write(i, 0);
  Flush();
  Settle();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  for (int i = 0; i < kKeys / 4; ++i) Write(i * 2, 1);
  Flush();
  Settle();
  const uint64_t live = Live();
  EXPECT_LE(IntProperty("compassdb.dead-bytes"), live / 10);
  EXPECT_GT(TableBytes(), live / 10 * 13);
  it.reset();
  // Without asking the database, which might see to it then.
  for (int i = 0; i < 1000 && TableBytes() > live / 100 * 115; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(TableBytes(), live / 100 * 115);
  ExpectBounded();
}

INSTANTIATE_TEST_SUITE_P(Punching, DeadSpaceTest,
                         ::testing::Values(Punching::kWorks, Punching::kFails, Punching::kWaits));

// Counts compactions of tables; collections are none.
class TableCompactions : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    if (info.compaction_reason != rocksdb::CompactionReason::kForcedBlobGC) ++count;
  }
  std::atomic<int> count{0};
};

// A group does not know what a range deletion covers: compactions add the deaths by themselves.
class RangeDeletionTest : public ValueBoundTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr int kKeys = 16000;  // 8 MB

  // Tables on several levels.
  void LoadTree() {
    const std::string tree = GetParam();
    piece_.one_level = tree == "one level";
    piece_.leveled = tree == "leveled";
    if (tree == "filter") piece_.point_index = PointIndex::kFilter;
    if (tree == "hash range") piece_.partition = Partition::kHashRange;
    piece_.target_table_bytes = 32 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
    options_.max_bytes_for_level_multiplier = 2;
    options_.listeners.push_back(compactions_);
    Load(kKeys, 256 << 10);
  }
  void DeleteRange(int begin, int end) {
    ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), Key(begin), Key(end)).ok());
  }
  // 256 KiB of garbage are tolerated, and as much under range deletions. There whole blocks of records
  // are counted (covered_data.cc). A block has those of 100 values, about, so two are 100 KiB.
  static uint64_t BoundOf(int keys) {
    return (static_cast<uint64_t>(keys) * 550 + (612 << 10)) * 130 / 100 + (256 << 10);
  }
  void ExpectFrom(int first, const rocksdb::Snapshot* snapshot = nullptr) {
    for (int i = 0; i < kKeys; i += 7) ASSERT_EQ(Get(Key(i), snapshot), i < first ? "NOT_FOUND" : Value(i)) << i;
  }

  const std::shared_ptr<TableCompactions> compactions_ = std::make_shared<TableCompactions>();
};

TEST_P(RangeDeletionTest, LeavesNothingBehind) {
  LoadTree();
  DeleteRange(0, kKeys / 16 * 15);
  Flush();
  Settle();
  EXPECT_LT(ValueBytes(), BoundOf(kKeys / 16));
  EXPECT_LT(IntProperty("compassdb.value-bytes-bound"), BoundOf(kKeys / 16) + (128 << 10));
  ExpectFrom(kKeys / 16 * 15);
}

TEST_P(RangeDeletionTest, LeavesNothingBehindAfterAReopening) {
  LoadTree();
  options_.disable_auto_compactions = true;
  OpenDb();
  DeleteRange(0, kKeys / 16 * 15);
  Flush();
  Settle();
  EXPECT_GT(ValueBytes(), kKeys * 500u);
  options_.disable_auto_compactions = false;
  OpenDb();
  Settle();
  EXPECT_LT(ValueBytes(), BoundOf(kKeys / 16));
  ExpectFrom(kKeys / 16 * 15);
}

// While the snapshot is held, nothing is compacted in vain; when it is gone, no write is needed.
TEST_P(RangeDeletionTest, LeavesNothingBehindOnceNoSnapshotSeesIt) {
  LoadTree();
  const rocksdb::Snapshot* const before = db_->GetSnapshot();
  DeleteRange(0, kKeys / 16 * 15);
  Flush();
  Settle();
  const rocksdb::Snapshot* const after = db_->GetSnapshot();
  const int compactions = compactions_->count;
  ASSERT_TRUE(Put(Key(kKeys - 1), Value(kKeys - 1)).ok());
  Flush();
  Settle();
  EXPECT_LE(compactions_->count, compactions + 2);
  EXPECT_GT(ValueBytes(), kKeys * 500u);
  ExpectFrom(0, before);
  ExpectFrom(kKeys / 16 * 15, after);
  db_->ReleaseSnapshot(before);
  Settle();
  EXPECT_LT(ValueBytes(), BoundOf(kKeys / 16));
  ExpectFrom(kKeys / 16 * 15, after);
  ExpectFrom(kKeys / 16 * 15);
  db_->ReleaseSnapshot(after);
}

// Many that cover a few keys each, a flush for every 16 of them.
TEST_P(RangeDeletionTest, LeavesNothingBehindOfManyShortOnes) {
  LoadTree();
  for (int i = 0; i < kKeys / 16; ++i) {
    DeleteRange(i * 16, i * 16 + 15);
    if (i % 16 == 15) Flush();
  }
  Flush();
  Settle();
  EXPECT_LT(ValueBytes(), BoundOf(kKeys / 16));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), i % 16 == 15 ? Value(i) : "NOT_FOUND") << i;
}

TEST_P(RangeDeletionTest, OfFewValuesIsNoReasonToCompact) {
  LoadTree();
  options_.level0_file_num_compaction_trigger = 100;
  OpenDb();
  Settle();
  const int compactions = compactions_->count;
  for (int i = 0; i < 10; ++i) {
    DeleteRange(i * 100, i * 100 + 5);
    Flush();
    Settle();
  }
  EXPECT_EQ(compactions_->count, compactions);
}

INSTANTIATE_TEST_SUITE_P(Trees, RangeDeletionTest,
                         ::testing::Values("pieces", "one level", "leveled", "filter", "hash range"));

// Keeps the first compaction after Arm waiting. It would pin what collections replace in that time.
class WaitingFilter : public rocksdb::CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    if (armed_.exchange(false)) {
      waits_ = true;
      while (!released_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  const char* Name() const override { return "WaitingFilter"; }
  void Arm() { armed_ = true; }
  bool waits() const { return waits_; }
  void Release() { released_ = true; }

 private:
  mutable std::atomic<bool> armed_{false}, waits_{false};
  std::atomic<bool> released_{false};
};

// Only one compaction may run at a time, and it waits. While a flush waits for space, collections run at the
// same time, and the space that they free is freed on the disk, too.
TEST_F(ValueBoundTest, IsKeptDuringTheOnlyCompaction) {
  WaitingFilter filter;
  options_.compaction_filter = &filter;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1000;
  options_.max_background_jobs = 2;
  piece_.leveled = true;  // flushes merge nothing
  constexpr int kKeys = 8000;  // 4 MB
  Load(kKeys, 512 << 10);
  filter.Arm();
  std::atomic<bool> done{false}, hung{false};
  std::thread watchdog([&] {  // or writers would wait forever
    for (int i = 0; i < 1200 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    hung = !done;
    if (hung) filter.Release();
  });
  int round = 1;
  for (; round <= 20 && !filter.waits(); ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
  }
  EXPECT_TRUE(filter.waits());
  Watch watch(this);
  const int last = round + 6;
  for (; round <= last; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
  }
  watch.Stop();
  done = true;
  watchdog.join();
  EXPECT_FALSE(hung);
  EXPECT_LE(watch.most_of_bound(), 1.02);
  // Seven times as much became garbage since.
  for (int i = 0; i < 600 && IntProperty("compassdb.dead-bytes-punchable") > (1 << 20); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(IntProperty("compassdb.dead-bytes-punchable"), 1u << 20);
  filter.Release();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + last)) << i;
  CloseDb();
}

class ValueBoundDuringCompactionTest : public ValueBoundTest, public ::testing::WithParamInterface<bool> {};

// Other compactions wait for one that is exclusive, collections do not.
TEST_P(ValueBoundDuringCompactionTest, HoldsOnDisk) {
  WaitingFilter filter;
  options_.compaction_filter = &filter;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1000;
  options_.max_background_jobs = 4;
  constexpr int kKeys = 8000;  // 4 MB
  Load(kKeys, 512 << 10);
  filter.Arm();
  std::thread compaction([&] {
    rocksdb::CompactRangeOptions range;
    range.exclusive_manual_compaction = GetParam();
    range.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    EXPECT_TRUE(db_->CompactRange(range, nullptr, nullptr).ok());
  });
  while (!filter.waits()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Watch watch(this);
  // The property's reader holds values that are replaced before the answer, on a busy machine as many as a
  // compaction, but only for moments. So the least of a round counts, which replaces every value.
  uint64_t held = 0;
  for (int round = 1; round <= 6; ++round) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(Put(Key(i), Value(i + round)).ok());
      if (i % 500 == 0) least = std::min(least, IntProperty("compassdb.value-bytes-held"));
    }
    held = std::max(held, least);
  }
  watch.Stop();
  EXPECT_LT(held, uint64_t{kKeys} * 550 / 5);
  EXPECT_LE(watch.most_of_bound(), 1.02);
  filter.Release();
  compaction.join();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 6)) << i;
  CloseDb();
}

INSTANTIATE_TEST_SUITE_P(Exclusive, ValueBoundDuringCompactionTest, ::testing::Bool());

}  // namespace
}  // namespace compassdb
