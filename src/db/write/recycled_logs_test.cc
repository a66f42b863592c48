// SPDX-License-Identifier: Apache-2.0
// DBOptions::recycle_log_file_num: logs that overwrite obsolete ones, and their readers.
#include <map>
#include <set>

#include "db/testing/db_test_util.h"
#include "env/env_test_util.h"
#include "format/file_names.h"
#include "rocksdb/transaction_log.h"
#include "util/random.h"

namespace compassdb {
namespace {

using Mode = rocksdb::WALRecoveryMode;

class RecycledLogsTest : public DbTest {
 protected:
  RecycledLogsTest() {
    options_.recycle_log_file_num = 2;
    options_.wal_recovery_mode = Mode::kSkipAnyCorruptedRecords;
    options_.avoid_flush_during_shutdown = true;
    options_.write_buffer_size = 8 << 20;
    fs_->SetHook([this](FaultOp op, const std::string& path) {
      if (op == FaultOp::kRename && path.ends_with(".log")) ++reused_;
    });
  }
  ~RecycledLogsTest() override {
    second_.reset();
    CloseDb();
  }
  // A log's worth of keys, and a flush that makes it obsolete.
  void Round(int round, int keys = 20) {
    for (int i = 0; i < keys; ++i) {
      ASSERT_TRUE(Put(Key(i), "v" + std::to_string(round) + std::string(100 + 37 * (round % 5), 'x')).ok());
    }
    Flush();
  }
  void Kill() {
    for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
      fs_->FailAll(static_cast<FaultOp>(op), "", Status::IOError("killed"));
    }
    CloseDb();
    fs_->ClearFaults();
  }
  size_t ListedLogs() {
    rocksdb::VectorLogPtr files;
    EXPECT_TRUE(db_->GetSortedWalFiles(files).ok());
    return files.size();
  }
  std::unique_ptr<rocksdb::TransactionLogIterator> Follow(uint64_t since) {
    std::unique_ptr<rocksdb::TransactionLogIterator> iterator;
    Status s = db_->GetUpdatesSince(since, &iterator);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return iterator;
  }

  std::atomic<int> reused_{0};
  std::unique_ptr<rocksdb::DB> second_;
};

TEST_F(RecycledLogsTest, ObsoleteLogsAreWrittenOver) {
  OpenDb();
  EXPECT_EQ(db_->GetDBOptions().recycle_log_file_num, 2u);
  for (int round = 0; round < 20; ++round) {
    Round(round);
    EXPECT_LE(FilesOf(FileType::kWal).size(), 3u);
  }
  EXPECT_GE(reused_, 17);
  ASSERT_TRUE(Put("last", "1").ok());
  EXPECT_EQ(ListedLogs(), 1u);
  const std::string all = Scan();
  CloseDb();
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 1u) << "the others are of no use any more";
  for (Mode mode : {Mode::kAbsoluteConsistency, Mode::kPointInTimeRecovery,
                    Mode::kTolerateCorruptedTailRecords, Mode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    OpenDb();
    EXPECT_EQ(Scan(), all);
    CloseDb();
  }
}

TEST_F(RecycledLogsTest, OnlyWhereRocksDBDoesIt) {
  for (int i = 0; i < 5; ++i) {
    options_.wal_recovery_mode = i < 4 ? static_cast<Mode>(i) : Mode::kSkipAnyCorruptedRecords;
    options_.WAL_ttl_seconds = i == 4 ? 1000 : 0;
    const bool recycles = i < 4 && options_.wal_recovery_mode == Mode::kSkipAnyCorruptedRecords;
    OpenDb();
    EXPECT_EQ(db_->GetDBOptions().recycle_log_file_num, recycles ? 2u : 0u);
    const int before = reused_;
    for (int round = 0; round < 4; ++round) Round(round);
    if (i < 4) {
      EXPECT_EQ(reused_ - before, recycles ? 3 : 0) << i;
    }
    CloseDb();
  }
}

TEST_F(RecycledLogsTest, AKilledProcessLosesNothing) {
  Random random(1);
  for (int life = 0; life < 12; ++life) {
    options_.wal_recovery_mode = Mode::kSkipAnyCorruptedRecords;
    OpenDb();
    for (int round = 0; round < 4; ++round) Round(life + round, 5 + static_cast<int>(random.Uniform(30)));
    const int unflushed = static_cast<int>(random.Uniform(20));
    for (int i = 0; i < unflushed; ++i) ASSERT_TRUE(Put(Key(i), "u" + std::to_string(life)).ok());
    const std::string all = Scan();
    Kill();
    options_.wal_recovery_mode = static_cast<Mode>(life % 4);
    options_.avoid_flush_during_recovery = life % 3 == 0;
    OpenDb();
    EXPECT_EQ(Scan(), all) << life;
    EXPECT_EQ(FilesOf(FileType::kWal).size(), options_.avoid_flush_during_recovery ? 2u : 1u);
    CloseDb();
  }
  EXPECT_GT(reused_, 20);
}

TEST_F(RecycledLogsTest, WhatWasSyncedSurvivesAPowerCut) {
  options_.avoid_flush_during_recovery = true;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    options_.wal_recovery_mode = Mode::kSkipAnyCorruptedRecords;
    OpenDb();
    for (int round = 0; round < 4; ++round) Round(round, 5);
    ASSERT_TRUE(Put("synced", std::to_string(seed), /*sync=*/true).ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put("counter", std::to_string(i)).ok());
    Crash(CutMode::kRandom, seed);
    options_.wal_recovery_mode =
        seed % 2 == 0 ? Mode::kPointInTimeRecovery : Mode::kTolerateCorruptedTailRecords;
    OpenDb();
    EXPECT_EQ(Get("synced"), std::to_string(seed));
    ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "counter").ok());
    Flush();
    CloseDb();
  }
}

TEST_F(RecycledLogsTest, DamageToWhatWasSyncedIsReported) {
  OpenDb();
  for (int round = 0; round < 5; ++round) Round(round);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put("k" + std::to_string(i), "v", /*sync=*/true).ok());
  CloseDb();  // the manifest says how far it was synced
  const std::string log = NewestLog();
  const std::string data = ReadFile(log);
  const size_t end = data.find("k4") + 3;
  ASSERT_LT(end, data.size()) << "nothing of the older log";
  options_.wal_recovery_mode = Mode::kPointInTimeRecovery;
  for (size_t at = 0; at < end; at += 3) {
    FlipBit(log, at);
    EXPECT_TRUE(TryOpen().IsCorruption()) << at;
    SetFile(log, data);
  }
  EXPECT_TRUE(TryOpen().ok());
}

TEST_F(RecycledLogsTest, FileDeletionsThatAreDisabledKeepLogs) {
  OpenDb();
  for (int round = 0; round < 4; ++round) Round(round);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put(Key(i), "here").ok());
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  rocksdb::LiveFilesStorageInfoOptions wanted;
  wanted.wal_size_for_flush = UINT64_MAX;
  std::vector<rocksdb::LiveFileStorageInfo> files;
  ASSERT_TRUE(db_->GetLiveFilesStorageInfo(wanted, &files).ok());
  std::map<std::string, std::string> logs;
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (file.file_type != rocksdb::kWalFile) continue;
    const std::string path = JoinPath(file.directory, file.relative_filename);
    EXPECT_TRUE(file.trim_to_size);
    EXPECT_LT(file.size, ReadFile(path).size()) << "what an older log left belongs to no copy";
    logs[path] = ReadFile(path).substr(0, file.size);
  }
  ASSERT_EQ(logs.size(), 1u);
  for (int round = 0; round < 6; ++round) Round(round, 40);
  for (const auto& [path, data] : logs) {
    EXPECT_EQ(ReadFile(path).compare(0, data.size(), data), 0) << path;
  }
  ASSERT_TRUE(db_->EnableFileDeletions(/*force=*/false).ok());
  EXPECT_LE(FilesOf(FileType::kWal).size(), 3u);
}

TEST_F(RecycledLogsTest, AFileThatCannotBeReusedIsReplaced) {
  OpenDb();
  for (int round = 0; round < 4; ++round) Round(round);
  for (FaultOp op : {FaultOp::kRename, FaultOp::kCreate, FaultOp::kWrite}) {
    fs_->SetHook([&](FaultOp at, const std::string& path) {
      if (at != FaultOp::kRename || !path.ends_with(".log")) return;
      fs_->SetHook(nullptr);
      fs_->FailNth(op, 1, ".log", Status::IOError("injected"));
    });
    const uint64_t before = fs_->faults_injected();
    Round(5);
    EXPECT_EQ(fs_->faults_injected(), before + 1) << FaultOpName(op);
    ASSERT_TRUE(Put("a", FaultOpName(op)).ok()) << FaultOpName(op);
    Round(6);
    EXPECT_LE(FilesOf(FileType::kWal).size(), 3u) << FaultOpName(op);
    EXPECT_EQ(Get("a"), FaultOpName(op));
  }
  const std::string all = Scan();
  Kill();
  options_.wal_recovery_mode = Mode::kAbsoluteConsistency;
  OpenDb();
  EXPECT_EQ(Scan(), all);
}

// Neither the older log's file nor a new one can be begun: nothing of it stays between other logs.
TEST_F(RecycledLogsTest, ALogThatCouldNotBeBegunIsNoGap) {
  options_.max_bgerror_resume_count = 0;
  for (size_t recycle : {0, 2}) {
    options_.recycle_log_file_num = recycle;
    options_.wal_recovery_mode = Mode::kSkipAnyCorruptedRecords;
    OpenDb();
    for (int round = 0; round < 3; ++round) Round(round);
    ASSERT_TRUE(Put("a", "1").ok());
    const std::string before = NewestLog();
    fs_->SetHook([&](FaultOp at, const std::string& path) {
      if (at == FaultOp::kCreate && path.ends_with(".log")) {
        fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
      }
    });
    EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
    fs_->SetHook(nullptr);
    fs_->ClearFaults();
    EXPECT_EQ(NewestLog(), before);
    ASSERT_TRUE(db_->Resume().ok());
    ASSERT_TRUE(Put("b", "2").ok());
    const std::string all = Scan();
    Kill();
    options_.wal_recovery_mode = Mode::kPointInTimeRecovery;
    OpenDb();
    EXPECT_EQ(Scan(), all);
    CloseDb();
  }
}

TEST_F(RecycledLogsTest, ALogThatFailedIsNotReused) {
  OpenDb();
  for (int round = 0; round < 3; ++round) Round(round);
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_FALSE(Put("a", "1", /*sync=*/true).ok());
  const std::string failed = NewestLog();
  std::set<std::string> renamed;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op == FaultOp::kRename) renamed.insert(path);
  });
  ASSERT_TRUE(db_->Resume().ok());
  for (int round = 0; round < 6; ++round) Round(round);
  EXPECT_EQ(renamed.count(failed), 0u);
  EXPECT_FALSE(renamed.empty());
  fs_->SetHook(nullptr);
}

TEST_F(RecycledLogsTest, WhatACrashLeavesIsDeleted) {
  OpenDb();
  for (int round = 0; round < 4; ++round) Round(round);
  ASSERT_TRUE(db_->SyncWAL().ok());
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 2u);
  Crash(CutMode::kKeepUnsynced);
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 2u);
  OpenDb();
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 1u);
  for (int round = 0; round < 4; ++round) Round(round);
  Crash(CutMode::kKeepUnsynced);
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_TRUE(FilesOf(FileType::kWal).empty());
}

TEST_F(RecycledLogsTest, TheLiveLogCanBeTailed) {
  OpenDb();
  for (int round = 0; round < 4; ++round) Round(round, 2000);
  ASSERT_TRUE(Put("a", "first").ok());
  uint64_t sequence = db_->GetLatestSequenceNumber();
  auto iterator = Follow(sequence);
  ASSERT_TRUE(iterator->Valid());
  iterator->Next();
  const uint64_t reads = fs_->Count(FaultOp::kRead);
  for (size_t size : {1, 32700, 100, 32768 - 60, 70000, 11, 32740, 5}) {
    ASSERT_TRUE(Put("a", std::string(size, 'x')).ok());
    ++sequence;
    iterator->Next();
    ASSERT_TRUE(iterator->Valid()) << size << " " << iterator->status().ToString();
    EXPECT_EQ(iterator->GetBatch().sequence, sequence);
    iterator->Next();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().ok());
  }
  EXPECT_LT(fs_->Count(FaultOp::kRead) - reads, 40u) << "the older log's bytes are searched";
}

TEST_F(RecycledLogsTest, AnIteratorNeverGivesAnotherLogsBatches) {
  options_.write_buffer_size = 1 << 20;
  Random random(3);
  OpenDb();
  for (int trial = 0; trial < 60; ++trial) {
    const uint64_t before = db_->GetLatestSequenceNumber();
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put(Key(i), std::string(random.Uniform(4000), 'a')).ok());
    auto iterator = Follow(before + 1);
    uint64_t expected = before + 1;
    const auto step = [&] {
      if (!iterator->Valid()) return false;
      EXPECT_EQ(iterator->GetBatch().sequence, expected++);
      iterator->Next();
      return true;
    };
    for (uint64_t i = random.Uniform(40); i > 0; --i) ASSERT_TRUE(step());
    const int rounds = static_cast<int>(random.Uniform(5));
    for (int round = 0; round < rounds; ++round) Round(round, static_cast<int>(random.Uniform(60)));
    while (step()) {
    }
    EXPECT_FALSE(iterator->status().IsCorruption()) << iterator->status().ToString();
    // An iterator that ends early has an error.
    if (expected <= db_->GetLatestSequenceNumber()) {
      EXPECT_FALSE(iterator->status().ok()) << trial << ": " << expected << " of " << before + 40;
    }
  }
}

TEST_F(RecycledLogsTest, SecondariesFollow) {
  OpenDb();
  Round(0);
  rocksdb::Options options = options_;
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options, name_, "/second", &db).ok());
  second_.reset(db);
  Random random(5);
  for (int round = 1; round < 60; ++round) {
    const int logs = static_cast<int>(random.Uniform(4));
    for (int i = 0; i < logs; ++i) Round(round, static_cast<int>(random.Uniform(200)));
    for (int i = 0; i < round % 7; ++i) ASSERT_TRUE(Put("r" + std::to_string(i), std::to_string(round)).ok());
    Status s = second_->TryCatchUpWithPrimary();
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::swap(db_, second_);
    const std::string seen = Scan();
    std::swap(db_, second_);
    EXPECT_EQ(seen, Scan()) << round;
  }
  EXPECT_GT(reused_, 30);
}

// A block is read before its end is written, the next one after.
TEST_F(RecycledLogsTest, SecondariesReadWhileTheLogIsWritten) {
  OpenDb();
  for (int round = 0; round < 4; ++round) Round(round, 2000);
  rocksdb::Options options = options_;
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options, name_, "/second", &db).ok());
  second_.reset(db);
  for (int i = 0; i < 50; ++i) {
    const std::string value(1000, static_cast<char>('a' + i % 26));
    int reads = 0, writes = 0;
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kRead || !path.ends_with(".log") || ++reads % 2 != 0 || writes == 5) return;
      for (; writes < 5; ++writes) ASSERT_TRUE(Put(Key(writes), value).ok());
    });
    const Status s = second_->TryCatchUpWithPrimary();
    fs_->SetHook(nullptr);
    ASSERT_TRUE(s.ok()) << i << ": " << s.ToString();
    ASSERT_TRUE(second_->TryCatchUpWithPrimary().ok());
    std::string found;
    ASSERT_TRUE(second_->Get(rocksdb::ReadOptions(), Key(4), &found).ok());
    ASSERT_TRUE(writes == 0 || found == value) << i;
  }
}

TEST_F(RecycledLogsTest, ReadersOfTheDirectory) {
  OpenDb();
  for (int round = 0; round < 5; ++round) Round(round);
  ASSERT_TRUE(Put("last", "1", /*sync=*/true).ok());
  rocksdb::DB* db = nullptr;
  rocksdb::Options options = options_;
  options.wal_recovery_mode = Mode::kAbsoluteConsistency;
  // Files may go while it opens, but not afterwards.
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options, name_, &db).ok());
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  second_.reset(db);
  std::swap(db_, second_);
  const std::string seen = Scan();
  std::swap(db_, second_);
  EXPECT_EQ(seen, Scan());
}

TEST_F(RecycledLogsTest, ManualFlushesAndCompression) {
  options_.manual_wal_flush = true;
  options_.wal_compression = rocksdb::kZSTD;
  options_.db_write_buffer_size = 1 << 20;
  families_ = {"default"};
  OpenDb();
  for (int round = 0; round < 8; ++round) Round(round, 300);
  ASSERT_TRUE(Put("last", "1").ok());
  ASSERT_TRUE(db_->FlushWAL(/*sync=*/true).ok());
  EXPECT_GE(reused_, 4);
  const std::string all = Scan();
  Crash();
  OpenDb();
  EXPECT_EQ(Scan(), all);
}

// On a real file system the file stays the same one, with its length.
TEST(RecycledLogFiles, StayTheSameFiles) {
  const std::string dir = NewTestPath();
  rocksdb::Options options;
  options.create_if_missing = true;
  options.recycle_log_file_num = 1;
  options.wal_recovery_mode = Mode::kSkipAnyCorruptedRecords;
  options.avoid_flush_during_shutdown = true;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, dir, &db).ok());
  rocksdb::WriteOptions synced;
  synced.sync = true;
  std::vector<uint64_t> sizes;
  const auto link = [&](size_t i) { return dir + "/link" + std::to_string(i); };
  for (size_t i = 0; i < 6; ++i) {
    const int keys = i < 2 ? 200 : 20;
    for (int k = 0; k < keys; ++k) {
      ASSERT_TRUE(db->Put(k % 10 == 0 ? synced : rocksdb::WriteOptions(), std::to_string(k),
                          std::string(1000, static_cast<char>('a' + i))).ok());
    }
    std::unique_ptr<rocksdb::LogFile> file;
    ASSERT_TRUE(db->GetCurrentWalFile(&file).ok());
    const std::string path = WalFileName(dir, file->LogNumber());
    ASSERT_TRUE(PosixFileSystem()->LinkFile(path, link(i)).ok());
    ASSERT_TRUE(PosixFileSystem()->GetFileSize(path, &sizes.emplace_back()).ok());
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
    if (i < 2) continue;
    bool same = false;
    ASSERT_TRUE(options.env->AreFilesSame(link(i), link(i - 2), &same).ok());
    EXPECT_TRUE(same) << i;
    EXPECT_EQ(sizes[i], sizes[i - 2]) << i;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_TRUE(PosixFileSystem()->DeleteFile(link(i)).ok());
  }
  ASSERT_TRUE(db->Put(synced, "last", "1").ok());
  delete db;
  ASSERT_TRUE(rocksdb::DB::Open(options, dir, &db).ok());
  std::string value;
  ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "7", &value).ok());
  EXPECT_EQ(value, std::string(1000, 'f'));
  ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "last", &value).ok());
  delete db;
  ASSERT_TRUE(rocksdb::DestroyDB(dir, options).ok());
}

}  // namespace
}  // namespace compassdb
