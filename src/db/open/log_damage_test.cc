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

TEST_F(LogDamageTest, LogsThatAreKeptAreDurableBeforeAnythingIsBuiltOnThem) {
  options_.avoid_flush_during_recovery = true;
  OpenDb();
  ASSERT_TRUE(Put("a", "1", /*sync=*/true).ok());
  ASSERT_TRUE(Put("b", "2").ok());
  Kill();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2");
  ASSERT_TRUE(Put("c", "3", /*sync=*/true).ok());
  Crash();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2,c=3");
}

// Not even the log's name is durable when the process dies.
TEST_F(LogDamageTest, SoAreTheirNames) {
  options_.avoid_flush_during_recovery = true;
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Kill();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
  Crash();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

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
    path_ = NewestIn(options_.wal_dir.empty() ? name_ : options_.wal_dir);
    whole_ = ReadFile(path_);
    mark_ = ReadFile(MarkPath());
    ASSERT_EQ(mark_.size(), 40u);
    synced_ = DecodeFixed64(mark_.data() + 24);
    ASSERT_LE(synced_, whole_.size());
  }
  std::string NewestIn(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir, &names).ok());
    std::string newest;
    for (const std::string& name : names) {
      uint64_t number = 0, bytes = 0;
      FileType type;
      if (!ParseFileName(name, &number, &type) || type != FileType::kWal) continue;
      EXPECT_TRUE(fs_->GetFileSize(JoinPath(dir, name), &bytes).ok());
      if (bytes > 0) newest = std::max(newest, JoinPath(dir, name));
    }
    return newest;
  }
  std::string MarkPath() const {
    return SyncedMarkFileName(options_.wal_dir.empty() ? name_ : options_.wal_dir);
  }
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

TEST_F(KilledLogTest, ItIsNextToTheLogs) {
  options_.wal_dir = "/logs";
  Fill();
  SetFile(path_, Cut());
  EXPECT_TRUE(TryOpen().IsCorruption());
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_TRUE(fs_->FileExists(MarkPath()).IsNotFound());
}

// A later log must not have its number, because the mark would be wrong for it.
TEST_F(KilledLogTest, RepairContinuesWithoutWhatIsLost) {
  Fill();
  for (int round = 0; round < 2; ++round) {
    SetFile(path_, Cut());
    if (round == 1) {
      ASSERT_TRUE(fs_->DeleteFile(path_).ok());
    }
    ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
    SetFile(MarkPath(), mark_);  // a power cut may bring it back
    OpenDb();
    EXPECT_EQ(Get(Key(3)) + Get(Key(4)), "valueNOT_FOUND");
    ASSERT_TRUE(Put("after", "1").ok());
    EXPECT_GT(NewestLog(), path_);
    Kill();
    OpenDb();
    EXPECT_EQ(Get("after"), "1");
    path_ = NewestLog();
    CloseDb();
  }
}

// Of logs that are not needed it says nothing that matters, and to others it does not belong.
TEST_F(KilledLogTest, AMarkOfThePastOrOfAnotherDatabase) {
  Fill();
  OpenDb();
  EXPECT_EQ(Scan(), "key000000=value,key000001=value,key000002=value,key000003=value,key000004=value");
  ASSERT_TRUE(Put("a", "1").ok());
  Kill();
  SetFile(MarkPath(), mark_);
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  OpenDb();
  ASSERT_TRUE(Put("b", "2").ok());
  Kill();
  SetFile(MarkPath(), mark_);
  OpenDb();
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(LogDamageTest, WithoutSyncsThereIsNoMark) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  EXPECT_TRUE(fs_->FileExists(SyncedMarkFileName(name_)).IsNotFound());
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

// With a second family, whose flush writes the synced offset of the log into the manifest.
class MarkedLogTest : public LogDamageTest {
 protected:
  void Fill() {
    OpenDb();
    rocksdb::ColumnFamilyHandle* second = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options_, "second", &second).ok());
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), second, "b", "2").ok());
    ASSERT_TRUE(db_->SyncWAL().ok());
    path_ = NewestLog();
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), second).ok());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(second).ok());
    families_ = {"default", "second"};
    Kill();
  }
  std::string path_;
};

TEST_F(MarkedLogTest, ALogThatIsGoneIsMissed) {
  Fill();
  // Also those that followed it, which would miss it themselves.
  while (!NewestLog().empty()) ASSERT_TRUE(fs_->DeleteFile(NewestLog()).ok());
  for (Mode mode : kModes) {
    if (mode == Mode::kSkipAnyCorruptedRecords) continue;
    options_.wal_recovery_mode = mode;
    const Status s = TryOpen();
    ASSERT_TRUE(s.IsCorruption());
    ASSERT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
  }
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  EXPECT_EQ(GetIn(0, "a"), "NOT_FOUND");
  EXPECT_EQ(GetIn(1, "b"), "2");
}

TEST_F(MarkedLogTest, ACopyMayBeMadeWithoutLogs) {
  Fill();
  while (!NewestLog().empty()) ASSERT_TRUE(fs_->DeleteFile(NewestLog()).ok());
  ASSERT_TRUE(fs_->DeleteFile(IdentityFileName(name_)).ok());
  rocksdb::DB* reader = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok());
  delete reader;
  OpenDb();
  EXPECT_EQ(GetIn(1, "b"), "2");
}

TEST_F(MarkedLogTest, ALogThatWasCutShortIsMissed) {
  Fill();
  const std::string whole = ReadFile(path_);
  SetFile(path_, whole.substr(0, whole.size() - 1));
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find(path_ + " at offset "), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace compassdb
