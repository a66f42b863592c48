// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class IoErrorTest : public DbTest {};

TEST_F(IoErrorTest, FailedLogWriteRefusesWritesUntilResume) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1", true).ok());
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("b", "2", true).IsIOError());
  EXPECT_FALSE(Put("c", "3").ok());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(IntProperty("rocksdb.background-errors"), 1u);
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  ASSERT_TRUE(Put("d", "4", true).ok());
  Crash();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("d"), "4");
  EXPECT_EQ(Get("c"), "NOT_FOUND");
}

TEST_F(IoErrorTest, FullDiskInAFlush) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1", true).ok());
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  Status s = db_->Flush(rocksdb::FlushOptions());
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_FALSE(Put("b", "2").ok());
  EXPECT_FALSE(db_->Resume().ok());
  fs_->ClearFaults();
  s = db_->Resume();
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(Put("b", "2").ok());
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(IoErrorTest, FailedManifestWriteLosesNothing) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1", true).ok());
  fs_->FailNth(FaultOp::kSync, 1, "MANIFEST", Status::IOError("injected"));
  Status s = db_->Flush(rocksdb::FlushOptions());
  EXPECT_FALSE(s.ok());
  fs_->ClearFaults();
  s = db_->Resume();
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(Put("b", "2", true).ok());
  Crash();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

// What was begun of manifests that did not come to be takes no room.
TEST_F(IoErrorTest, ManifestsThatFailedAreDeleted) {
  options_.max_manifest_file_size = 1;  // each commit needs a new one
  options_.disable_auto_compactions = true;  // a compaction would make manifests, too
  OpenDb();
  fs_->FailAll(FaultOp::kRename, "CURRENT", Status::IOError("injected"));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Put(Key(i), "v").ok());
    Flush();
  }
  EXPECT_EQ(FilesOf(FileType::kManifest).size(), 1u);
  EXPECT_EQ(FilesOf(FileType::kManifestMirror).size(), 1u);
  fs_->ClearFaults();
  ASSERT_TRUE(Put(Key(4), "v").ok());
  // In doubt: CURRENT may name the one or the other.
  fs_->FailNth(FaultOp::kDirSync, 1, name_, Status::IOError("injected"));
  db_->Flush(rocksdb::FlushOptions()).PermitUncheckedError();
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  ASSERT_TRUE(Put(Key(5), "v").ok());
  Flush();
  ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  EXPECT_EQ(FilesOf(FileType::kManifest).size(), 1u);
  EXPECT_EQ(FilesOf(FileType::kManifestMirror).size(), 1u);
  OpenDb();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Get(Key(i)), "v");
}

TEST_F(IoErrorTest, ManifestThatCannotBeReplacedEither) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1", true).ok());
  fs_->FailAll(FaultOp::kSync, "MANIFEST", Status::IOError("injected"));
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
  Crash();
  fs_->ClearFaults();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(IoErrorTest, EveryFailingWriteIsReportedAndNothingSyncedIsLost) {
  options_.write_buffer_size = 8 << 10;
  for (uint64_t n = 1; n < 40; n += 3) {
    for (const FaultOp op : {FaultOp::kSync, FaultOp::kWrite, FaultOp::kCreate}) {
      OpenDb();
      fs_->FailNth(op, n, name_, Status::IOError("injected"));
      int acknowledged = 0;
      for (int i = 0; i < 40; ++i) {
        if (!Put(Key(i), std::string(400, 'v'), true).ok()) break;
        ++acknowledged;
      }
      Crash(CutMode::kDropUnsynced, n);
      fs_->ClearFaults();
      OpenDb();
      for (int i = 0; i < acknowledged; ++i) {
        ASSERT_EQ(Get(Key(i)), std::string(400, 'v')) << "n " << n << " i " << i;
      }
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    }
  }
}

TEST_F(IoErrorTest, LogThatCannotBeSyncedAfterItsEndDoesNotPreventResume) {
  OpenDb();
  rocksdb::ColumnFamilyHandle* two = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "two", &two).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(two).ok());
  families_ = {"default", "two"};
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "a", "1").ok());
  ASSERT_TRUE(Put("b", "1").ok());
  // The flush syncs the log that it ends.
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
  fs_->ClearFaults();
  Status s = db_->Resume();
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(Put("c", "1", true).ok());
  Crash();
  OpenDb();
  EXPECT_EQ(GetIn(1, "a"), "1");
  EXPECT_EQ(Get("b"), "1");
  EXPECT_EQ(Get("c"), "1");
}

TEST_F(IoErrorTest, BufferedLogThatCannotBeEndedStopsWrites) {
  options_.manual_wal_flush = true;
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());  // in the log's buffer
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  db_->Flush(rocksdb::FlushOptions()).PermitUncheckedError();
  fs_->ClearFaults();
  const bool synced = Put("b", "2", true).ok();
  Crash();
  OpenDb();
  if (synced) {
    EXPECT_EQ(Get("b"), "2");
  }
}

TEST_F(IoErrorTest, BufferedLogThatCannotBeWritten) {
  options_.manual_wal_flush = true;
  const auto copy = [this] {
    rocksdb::LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = UINT64_MAX;
    std::vector<rocksdb::LiveFileStorageInfo> files;
    return db_->GetLiveFilesStorageInfo(options, &files);
  };
  const auto write = [this] { return db_->FlushWAL(/*sync=*/false); };
  for (const std::function<Status()>& flush : {std::function<Status()>(copy), std::function<Status()>(write)}) {
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    fs_->FailNth(FaultOp::kFlush, 1, ".log", Status::IOError("injected"));
    for (int i = 0; i < 2; ++i) {
      const Status s = flush();
      EXPECT_NE(s.ToString().find("injected"), std::string::npos) << s.ToString();
    }
    EXPECT_FALSE(Put("b", "2").ok());
    fs_->ClearFaults();
    ASSERT_TRUE(db_->Resume().ok());
    EXPECT_TRUE(flush().ok());
    EXPECT_TRUE(Put("b", "2").ok());
    EXPECT_EQ(Get("a") + Get("b"), "12");
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(IoErrorTest, ManifestReplacedButCurrentNotDurable) {
  options_.max_manifest_file_size = 1;  // every commit starts a new one
  for (uint64_t n = 1; n <= 6; ++n) {
    OpenDb();
    ASSERT_TRUE(Put("a", "1", true).ok());
    fs_->FailNth(FaultOp::kSync, n, name_, Status::IOError("injected"));
    db_->Flush(rocksdb::FlushOptions()).PermitUncheckedError();
    fs_->ClearFaults();
    if (Put("b", "2", true).ok()) {
      db_->Flush(rocksdb::FlushOptions()).PermitUncheckedError();
    }
    CloseDb();
    OpenDb();
    EXPECT_EQ(Get("a"), "1") << n;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// Writes until one succeeds, or for a long time.
bool WritesContinue(rocksdb::DB* db) {
  for (int i = 0; i < 5000; ++i) {
    if (db->Put(rocksdb::WriteOptions(), "again", std::to_string(i)).ok()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

TEST_F(IoErrorTest, WritesGoOnByThemselvesAfterAFullDisk) {
  options_.bgerror_resume_retry_interval = 1000;
  for (const char* full : {".log", ".ph", "MANIFEST", "/db"}) {
    OpenDb();
    ASSERT_TRUE(Put("a", "1", true).ok());
    fs_->FailAll(FaultOp::kWrite, full, Status::NoSpace("injected"));
    fs_->FailAll(FaultOp::kCreate, full, Status::NoSpace("injected"));
    EXPECT_FALSE(Put("b", "2").ok() && db_->Flush(rocksdb::FlushOptions()).ok()) << full;
    EXPECT_EQ(Get("a"), "1");
    fs_->ClearFaults();
    ASSERT_TRUE(WritesContinue(db_.get())) << full;
    ASSERT_TRUE(Put("c", "3", true).ok());
    Crash();
    OpenDb();
    EXPECT_EQ(Get("a"), "1") << full;
    EXPECT_EQ(Get("c"), "3") << full;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(IoErrorTest, AListenerMayForbidToResumeUnasked) {
  class Veto : public rocksdb::EventListener {
   public:
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, Status, bool* automatic) override {
      *automatic = false;
      ++asked;
    }
    std::atomic<int> asked{0};
  };
  const auto veto = std::make_shared<Veto>();
  options_.listeners.push_back(veto);
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  EXPECT_EQ(veto->asked, 1);
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(Put("a", "1").ok());
}

class RecoveryEnds : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    std::lock_guard<std::mutex> lock(mu_);
    ended_ = info.new_bg_error;
    ++count_;
  }
  // What the n-th recovery ended with; waits for it.
  Status Await(int n) {
    for (int i = 0; i < 10000; ++i) {
      {
        std::lock_guard<std::mutex> lock(mu_);
        if (count_ >= n) return ended_;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Status::TimedOut("no recovery has ended");
  }

 private:
  std::mutex mu_;
  Status ended_;
  int count_ = 0;
};

TEST_F(IoErrorTest, AttemptsToResumeEndSomeTime) {
  const auto ends = std::make_shared<RecoveryEnds>();
  options_.listeners.push_back(ends);
  options_.max_bgerror_resume_count = 3;
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  fs_->FailAll(FaultOp::kCreate, ".log", Status::NoSpace("injected"));
  fs_->FailAll(FaultOp::kWrite, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  const Status ended = ends->Await(1);
  EXPECT_TRUE(ended.IsAborted()) << ended.ToString();
  fs_->ClearFaults();
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(Put("a", "1").ok());
}

// Nor does it resume while the user pauses background work. If the free space is unknown, an attempt finds it out.
TEST_F(IoErrorTest, NothingResumesWhileWorkIsPaused) {
  const auto ends = std::make_shared<RecoveryEnds>();
  options_.listeners.push_back(ends);
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(Put("a", "1").IsNoSpace());
  }
  fs_->FailAll(FaultOp::kStat, name_, Status::IOError("unknown"));
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  EXPECT_TRUE(ends->Await(1).ok());
  fs_->ClearFaults();
  EXPECT_TRUE(Put("a", "1").ok());
}

// File systems of their own under some directories.
class SmallDisks final : public FaultInjectionFileSystem {
 public:
  void SetFree(const std::string& dir, uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mu_);
    free_[dir] = bytes;
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    std::lock_guard<std::mutex> lock(mu_);
    const auto known = free_.find(path);
    if (known == free_.end()) return FaultInjectionFileSystem::GetFreeSpace(path, bytes);
    *bytes = known->second;
    return Status::OK();
  }

 private:
  std::mutex mu_;
  std::map<std::string, uint64_t> free_;
};

// The directories may be of several file systems. Here another one is full all the time.
TEST_F(IoErrorTest, SpaceCountsWhereItWasMissing) {
  const auto disks = std::make_shared<SmallDisks>();
  UseDisk(disks);
  options_.wal_dir = "/db/wal";
  options_.bgerror_resume_retry_interval = 500000;
  OpenDb();
  disks->SetFree(name_, 100 << 10);
  disks->SetFree("/db/wal", 100 << 10);
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  disks->SetFree("/db/wal", 1 << 20);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(WritesContinue(db_.get()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

// The reported free space may be wrong, so there is an attempt now and then.
TEST_F(IoErrorTest, ADiskThatIsSaidToBeFullIsTriedNowAndThen) {
  const auto disks = std::make_shared<SmallDisks>();
  UseDisk(disks);
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  disks->SetFree(name_, 100 << 10);
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  ASSERT_TRUE(WritesContinue(db_.get()));
}

// A compaction without room stops compactions, not writes, until there is some.
TEST_F(IoErrorTest, AFullDiskInACompactionEndsBySelf) {
  const auto ends = std::make_shared<RecoveryEnds>();
  options_.listeners.push_back(ends);
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Put("a", std::to_string(i)).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  EXPECT_TRUE(db_->CompactRange(force, nullptr, nullptr).IsNoSpace());
  EXPECT_TRUE(Put("b", "2").ok());
  fs_->ClearFaults();
  EXPECT_TRUE(ends->Await(1).ok());
  EXPECT_TRUE(db_->CompactRange(force, nullptr, nullptr).ok());
  EXPECT_EQ(Get("a") + Get("b"), "22");
}

TEST_F(IoErrorTest, ResumeOfWhatNeedsOrAllowsNone) {
  OpenDb();
  EXPECT_TRUE(db_->Resume().ok());  // there is no error
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Put("a", std::to_string(i)).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  CloseDb();
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &opened).ok());
  EXPECT_TRUE(opened->Resume().IsNotSupported());
  delete opened;
  // Damage does not go away.
  for (const std::string& name : FilesOf(FileType::kPieceFile)) {
    std::string data = ReadFile(JoinPath(name_, name));
    for (size_t i = 32; i < data.size(); i += 7) data[i] ^= 0x55;
    SetFile(JoinPath(name_, name), data);
  }
  OpenDb();
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  EXPECT_TRUE(db_->CompactRange(force, nullptr, nullptr).IsCorruption());
  const Status s = db_->Resume();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_TRUE(Put("b", "2").IsCorruption());
}

// Batches that only the log that failed holds, not synced: families that were flushed one by one would split them.
TEST_F(IoErrorTest, PowerCutsInResumeSplitNoBatch) {
  families_ = {"default", "second", "third"};
  options_.create_missing_column_families = true;
  options_.max_bgerror_resume_count = 0;
  int lost = 0;
  int kept = 0;
  bool cut = true;
  for (uint64_t at = 1; cut; ++at) {
    SCOPED_TRACE("cut at change " + std::to_string(at));
    CloseDb();
    options_.env = nullptr;
    UseDisk(std::make_shared<FaultInjectionFileSystem>());
    OpenDb();
    rocksdb::WriteBatch batch;
    for (rocksdb::ColumnFamilyHandle* handle : handles_) ASSERT_TRUE(batch.Put(handle, "k", "v").ok());
    ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
    fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
    ASSERT_TRUE(db_->SyncWAL().IsIOError());
    std::atomic<uint64_t> changes = 0;
    std::atomic<bool> down = false;
    fs_->SetHook([&](FaultOp op, const std::string&) {
      if (op != FaultOp::kSync && op != FaultOp::kDirSync && op != FaultOp::kWrite && op != FaultOp::kDelete) return;
      if (++changes != at) return;
      down = true;
      fs_->PowerCut(at, CutMode::kDropUnsynced);
    });
    const Status resumed = db_->Resume();
    cut = down;
    ASSERT_TRUE(cut || resumed.ok()) << resumed.ToString();
    fs_->PowerCut(at, CutMode::kDropUnsynced);
    CloseDb();
    fs_->SetHook(nullptr);
    fs_->Restart();
    OpenDb();
    const std::string first = GetIn(0, "k");
    EXPECT_EQ(GetIn(1, "k"), first);
    EXPECT_EQ(GetIn(2, "k"), first);
    EXPECT_TRUE(first == "v" || !resumed.ok());
    ++(first == "v" ? kept : lost);
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(kept, 1);
}

TEST_F(IoErrorTest, NoAttemptsToResumeWhereNoneAreWanted) {
  options_.max_bgerror_resume_count = 0;
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_TRUE(Put("a", "1").IsNoSpace());
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(Put("a", "1").IsNoSpace());
  }
  EXPECT_TRUE(db_->Resume().ok());
}

TEST_F(IoErrorTest, ReadErrorsAreReturned) {
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  OpenDb();
  fs_->FailAll(FaultOp::kRead, ".ph", Status::IOError("injected"));
  std::string value;
  Status s = db_->Get(rocksdb::ReadOptions(), Key(5), &value);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIOError()) << it->status().ToString();
  it.reset();
  fs_->ClearFaults();
  EXPECT_EQ(Get(Key(5)), std::string(100, 'v'));
}

}  // namespace
}  // namespace compassdb
