// SPDX-License-Identifier: Apache-2.0
// Damage to write-ahead logs: what was synced is never given up in silence.
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "util/coding.h"

namespace compassdb {
namespace {

using Mode = rocksdb::WALRecoveryMode;
constexpr Mode kModes[] = {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                           Mode::kPointInTimeRecovery, Mode::kSkipAnyCorruptedRecords};

class LogDamageTest : public DbTest {
 protected:
  LogDamageTest() { options_.avoid_flush_during_shutdown = true; }

  // As `kill -9`: nothing more reaches the files, and the kernel keeps what it has.
  void Kill() {
    for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
      fs_->FailAll(static_cast<FaultOp>(op), "", Status::IOError("killed"));
    }
    CloseDb();
    fs_->ClearFaults();
  }
};

TEST_F(LogDamageTest, AFlippedBitInAClosedLogIsReportedAndRepaired) {
  OpenDb();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put(Key(i), "value").ok());
  CloseDb();
  const std::string path = NewestLog();
  const std::string whole = ReadFile(path);
  for (size_t at = 0; at < whole.size() - 13; at += 3) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    SetFile(path, damaged);
    for (Mode mode : kModes) {
      if (mode == Mode::kSkipAnyCorruptedRecords) continue;
      options_.wal_recovery_mode = mode;
      const Status s = TryOpen();
      ASSERT_TRUE(s.IsCorruption()) << at << " " << s.ToString();
      ASSERT_NE(s.ToString().find(path + " at offset "), std::string::npos) << s.ToString();
      ASSERT_EQ(ReadFile(path), damaged) << "what was refused stays as it is";
    }
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x10;
  SetFile(path, damaged);
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  int found = 0;
  for (int i = 0; i < 5; ++i) found += Get(Key(i)) == "value" ? 1 : 0;
  EXPECT_EQ(found, 4);
}

TEST_F(LogDamageTest, AClosedLogThatIsCutShortOrGoneIsMissed) {
  OpenDb();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put(Key(i), "value").ok());
  CloseDb();
  const std::string path = NewestLog();
  const std::string whole = ReadFile(path);
  for (size_t size = 0; size < whole.size(); size += 7) {
    SetFile(path, whole.substr(0, size));
    const Status s = TryOpen();
    ASSERT_TRUE(s.IsCorruption()) << size << " " << s.ToString();
    ASSERT_NE(s.ToString().find(path + " at offset "), std::string::npos) << s.ToString();
  }
  ASSERT_TRUE(fs_->DeleteFile(path).ok());
  EXPECT_TRUE(TryOpen().IsCorruption());
  SetFile(path, whole);
  OpenDb();
  EXPECT_EQ(Get(Key(4)), "value");
}

// The synced mark shows it (docs/formats/synced.md).
class KilledLogTest : public LogDamageTest {
 protected:
  void Fill() {
    OpenDb();
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put(Key(i), "value", /*sync=*/true).ok());
    Kill();
    path_ = NewestLog();
    whole_ = ReadFile(path_);
    mark_ = ReadFile(MarkPath());
    ASSERT_EQ(mark_.size(), 40u);
    synced_ = DecodeFixed64(mark_.data() + 24);
    ASSERT_LE(synced_, whole_.size());
  }
  std::string MarkPath() const { return SyncedMarkFileName(name_); }
  // Without the last synced bytes.
  std::string Cut() const { return whole_.substr(0, synced_ - 3); }
  std::string path_, whole_, mark_;
  uint64_t synced_ = 0;
};

TEST_F(KilledLogTest, WhatWasSyncedIsMissed) {
  Fill();
  for (size_t size = 0; size < synced_; size += 7) {
    SetFile(path_, whole_.substr(0, size));
    for (Mode mode : kModes) {
      if (mode == Mode::kSkipAnyCorruptedRecords) continue;
      options_.wal_recovery_mode = mode;
      const Status s = TryOpen();
      ASSERT_TRUE(s.IsCorruption()) << size << " " << s.ToString();
      ASSERT_NE(s.ToString().find(path_ + " at offset "), std::string::npos) << s.ToString();
    }
    rocksdb::DB* reader = nullptr;
    ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).IsCorruption());
  }
  for (size_t at = 0; at < synced_; ++at) {
    std::string damaged = whole_;
    damaged[at] ^= 4;
    SetFile(path_, damaged);
    ASSERT_TRUE(TryOpen().IsCorruption()) << at;
  }
  ASSERT_TRUE(fs_->DeleteFile(path_).ok());
  EXPECT_TRUE(TryOpen().IsCorruption());
  SetFile(path_, whole_);
  OpenDb();
  EXPECT_EQ(Get(Key(4)), "value");
}

TEST_F(KilledLogTest, AMarkThatIsDamagedOrGoneKnowsLess) {
  Fill();
  SetFile(path_, Cut());
  for (size_t bit = 0; bit < mark_.size() * 8; ++bit) {
    std::string damaged = mark_;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    SetFile(MarkPath(), damaged);
    rocksdb::DB* reader = nullptr;
    ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok()) << bit;
    delete reader;
  }
  SetFile(MarkPath(), mark_.substr(0, mark_.size() - 1));
  OpenDb();
  EXPECT_EQ(Get(Key(3)) + Get(Key(4)), "valueNOT_FOUND");
}

TEST_F(LogDamageTest, ATornTailOfUnsyncedWritesIsNormal) {
  for (uint64_t seed = 1; seed < 60; ++seed) {
    options_.wal_recovery_mode =
        seed % 2 == 0 ? Mode::kPointInTimeRecovery : Mode::kTolerateCorruptedTailRecords;
    OpenDb();
    ASSERT_TRUE(Put("synced", std::to_string(seed), /*sync=*/true).ok());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'x')).ok());
    Crash(CutMode::kTornBytes, seed);
    OpenDb();
    EXPECT_EQ(Get("synced"), std::to_string(seed));
  }
}

}  // namespace
}  // namespace compassdb
