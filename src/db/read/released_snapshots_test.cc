// SPDX-License-Identifier: Apache-2.0
// Records that only a snapshot keeps are dropped after its release: in background, or by CompactRange.
#include <atomic>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class Compactions : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    ++all;
    if (info.compaction_reason == rocksdb::CompactionReason::kBottommostFiles) ++of_snapshots;
  }
  std::atomic<int> all{0};
  std::atomic<int> of_snapshots{0};
};

class ReleasedSnapshotsTest : public DbTest {
 protected:
  static constexpr int kKeys = 3000;

  ReleasedSnapshotsTest() { options_.listeners.push_back(jobs_); }
  void Apply(Preset preset) {
    ASSERT_TRUE(ApplyPreset(preset, &options_).ok());
    if (preset == Preset::kTableless) return;
    piece_ = *options_.table_factory->GetOptions<PieceTableOptions>();
    piece_.scan_bytes_per_read = 0;
    options_.table_factory.reset(NewPieceTableFactory(piece_));
  }
  static std::string Value(int i, int round) {
    std::string value = std::to_string(i * 31 + round) + "-";
    while (value.size() < 300) value.push_back(static_cast<char>('a' + (i * 7 + value.size() * round) % 26));
    return value;
  }
  // Every `step`th key.
  void Write(int round, int step = 1) {
    for (int i = 0; i < kKeys; i += step) ASSERT_TRUE(Put(Key(i), Value(i, round)).ok());
    Flush();
    Compact();
    Settle();
  }
  void Settle() { ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok()); }
  uint64_t Bytes() {
    return IntProperty("rocksdb.live-sst-files-size") + IntProperty("compassdb.value-bytes");
  }
  void ExpectRound(int round, const rocksdb::Snapshot* snapshot = nullptr) {
    for (int i = 0; i < kKeys; i += 7) ASSERT_EQ(Get(Key(i), snapshot), Value(i, round)) << i;
  }
  // Two full overwrites, each under a snapshot of its own.
  void WriteUnderSnapshots(uint64_t* clean) {
    Write(1);
    *clean = Bytes();
    for (int round = 2; round <= 3; ++round) {
      snapshots_.push_back(db_->GetSnapshot());
      Write(round);
    }
    for (int round = 1; round <= 2; ++round) ExpectRound(round, snapshots_[static_cast<size_t>(round) - 1]);
  }
  void ReleaseAll() {
    for (const rocksdb::Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }

  PieceTableOptions piece_;
  const std::shared_ptr<Compactions> jobs_ = std::make_shared<Compactions>();
  std::vector<const rocksdb::Snapshot*> snapshots_;
};

class ReleasedSnapshotsPresetTest : public ReleasedSnapshotsTest,
                                    public ::testing::WithParamInterface<Preset> {
 protected:
  // The allowed bytes in addition to live ones: dead ones in any case; more for pages, which grew since.
  uint64_t Allowed(uint64_t clean) const {
    return (GetParam() == Preset::kTableless ? clean * 5 / 2 : clean * 3 / 2) + (64 << 10);
  }
};

TEST_P(ReleasedSnapshotsPresetTest, SpaceComesBackByItself) {
  Apply(GetParam());
  OpenDb();
  uint64_t clean = 0;
  WriteUnderSnapshots(&clean);
  const uint64_t pinned = Bytes();
  EXPECT_GT(pinned, clean + clean / 2);
  ReleaseAll();
  Settle();
  EXPECT_LT(Bytes(), Allowed(clean)) << "clean " << clean << ", pinned " << pinned;
  ExpectRound(3);
  const int jobs = jobs_->all;
  Settle();
  EXPECT_EQ(jobs_->all, jobs);
  CloseDb();
  OpenDb();
  Settle();
  ExpectRound(3);
  if (GetParam() == Preset::kHashKv) {
    // Of garbage among separated values only what the manifest says is known now, which may be worth a look.
    EXPECT_LE(jobs_->all, jobs + 2);
  } else {
    EXPECT_EQ(jobs_->all, jobs);
  }
  EXPECT_LT(Bytes(), Allowed(clean));
  ASSERT_TRUE(db_->VerifyChecksum().ok());
}

TEST_P(ReleasedSnapshotsPresetTest, CompactRangeGivesItBack) {
  Apply(GetParam());
  options_.disable_auto_compactions = true;
  OpenDb();
  uint64_t clean = 0;
  WriteUnderSnapshots(&clean);
  const uint64_t pinned = Bytes();
  ReleaseAll();
  Settle();
  if (GetParam() != Preset::kTableless) {
    EXPECT_EQ(Bytes(), pinned);
  }
  rocksdb::CompactRangeOptions compact;
  compact.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;  // of values
  compact.blob_garbage_collection_age_cutoff = 1;
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  EXPECT_LT(Bytes(), Allowed(clean)) << "clean " << clean << ", pinned " << pinned;
  ExpectRound(3);
}

TEST_P(ReleasedSnapshotsPresetTest, SpaceComesBackAfterReopening) {
  Apply(GetParam());
  options_.disable_auto_compactions = true;
  OpenDb();
  uint64_t clean = 0;
  WriteUnderSnapshots(&clean);
  ReleaseAll();
  CloseDb();
  options_.disable_auto_compactions = false;
  OpenDb();
  Settle();
  EXPECT_LT(Bytes(), Allowed(clean)) << "clean " << clean;
  ExpectRound(3);
}

INSTANTIATE_TEST_SUITE_P(Presets, ReleasedSnapshotsPresetTest, ::testing::ValuesIn(AllPresets()),
                         [](const auto& info) {
                           std::string name = PresetName(info.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(ReleasedSnapshotsTest, DeletedRecordsGoToo) {
  Apply(Preset::kDefault);
  OpenDb();
  Write(1);
  const uint64_t clean = Bytes();
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  Flush();
  Compact();
  Settle();
  ExpectRound(1, snapshot);
  EXPECT_GT(Bytes(), clean * 9 / 10);
  db_->ReleaseSnapshot(snapshot);
  Settle();
  EXPECT_LT(Bytes(), clean / 10);
}

TEST_F(ReleasedSnapshotsTest, NothingIsRewrittenForLittleOrForWhatIsStillSeen) {
  Apply(Preset::kDefault);
  OpenDb();
  Write(1);
  const rocksdb::Snapshot* first = db_->GetSnapshot();
  Write(2);
  const rocksdb::Snapshot* second = db_->GetSnapshot();
  Write(3, 20);
  const int jobs = jobs_->all;
  db_->ReleaseSnapshot(second);  // the first one still sees everything that is old
  Settle();
  EXPECT_EQ(jobs_->all, jobs);
  ExpectRound(1, first);
  db_->ReleaseSnapshot(first);
  Settle();
  EXPECT_GT(jobs_->of_snapshots, 0);
  const int rewritten = jobs_->all;
  const uint64_t bytes = Bytes();
  // A twentieth is dead: that can wait.
  const rocksdb::Snapshot* third = db_->GetSnapshot();
  Write(4, 20);
  const int merged = jobs_->all;
  db_->ReleaseSnapshot(third);
  Settle();
  EXPECT_EQ(jobs_->all, merged);
  EXPECT_GT(merged, rewritten);
  EXPECT_LT(Bytes(), bytes + bytes / 8);
}

TEST_F(ReleasedSnapshotsTest, TheNewerOfTwoWaitsForTheOlder) {
  Apply(Preset::kDefault);
  OpenDb();
  Write(1);
  const uint64_t clean = Bytes();
  const rocksdb::Snapshot* old = db_->GetSnapshot();
  Write(2);
  const rocksdb::Snapshot* young = db_->GetSnapshot();
  db_->ReleaseSnapshot(old);
  Settle();
  EXPECT_LT(Bytes(), clean * 3 / 2);
  ExpectRound(2, young);
  db_->ReleaseSnapshot(young);
  EXPECT_EQ(Get(Key(7)), Value(7, 2));
}

}  // namespace
}  // namespace compassdb
