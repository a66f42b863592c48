// SPDX-License-Identifier: Apache-2.0
#include "manifest/unfinished.h"
#include "rocksdb/utilities/checkpoint.h"

#include <atomic>

#include "copies/copies_test_util.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/options_util.h"
#include "util/random.h"

namespace compassdb {
namespace {

class CheckpointTest : public DbTest {
 protected:
  void Fill(int first, int count, const std::string& value) {
    for (int i = first; i < first + count; ++i) ASSERT_TRUE(Put(Key(i), value).ok());
  }
  Status Take(const std::string& dir, uint64_t log_size = 0, uint64_t* sequence = nullptr) {
    rocksdb::Checkpoint* checkpoint = nullptr;
    Status s = rocksdb::Checkpoint::Create(db_.get(), &checkpoint);
    std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
    return s.ok() ? checkpoint->CreateCheckpoint(dir, log_size, sequence) : s;
  }
  std::unique_ptr<rocksdb::DB> OpenAt(const std::string& dir) {
    rocksdb::Options options = options_;
    options.create_if_missing = false;
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options, dir, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<rocksdb::DB>(db);
  }
  std::string ScanAt(const std::string& dir) {
    std::unique_ptr<rocksdb::DB> db = OpenAt(dir);
    if (db == nullptr) return "";
    EXPECT_TRUE(db->VerifyChecksum().ok());
    std::swap(db, db_);
    std::string all = Scan();
    std::swap(db, db_);
    return all;
  }
  uint64_t Links(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir, &names).ok());
    uint64_t most = 0;
    for (const std::string& name : names) {
      if (name.find(".ph") == std::string::npos) continue;
      uint64_t links = 0;
      EXPECT_TRUE(fs_->GetLinkCount(JoinPath(dir, name), &links).ok());
      most = std::max(most, links);
    }
    return most;
  }
};

// RocksDB refuses databases with db_paths; here a copy has everything in one directory.
TEST_F(CheckpointTest, OfTablesInAnotherDirectory) {
  options_.db_paths = {rocksdb::DbPath("/tables", 1)};
  OpenDb();
  Fill(0, 1000, std::string(200, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string then = Scan();
  ASSERT_TRUE(Take("/cp").ok());
  EXPECT_EQ(Links("/tables"), 2u);
  options_.db_paths.clear();
  EXPECT_EQ(ScanAt("/cp"), then);
}

// Stored options of a database with logs in its own directory must not lead a copy there.
TEST_F(CheckpointTest, ACopyOpenedByStoredOptionsLeavesTheOriginalAlone) {
  for (const std::string& given : {std::string(), name_, name_ + "/", name_.substr(1), "/x/.." + name_}) {
    SCOPED_TRACE(given);
    options_.wal_dir = given;
    OpenDb();
    EXPECT_EQ(db_->GetDBOptions().wal_dir, "");
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(Put("b", "2").ok());
    const std::string copy = "/copy";
    ASSERT_TRUE(Take(copy, 1 << 20).ok());
    CloseDb();

    rocksdb::ConfigOptions config;
    config.env = env_.get();
    rocksdb::DBOptions stored;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    Status s = rocksdb::LoadLatestOptions(config, copy, &stored, &families);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(stored.wal_dir, "");
    rocksdb::DB* opened = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    s = rocksdb::DB::Open(stored, copy, families, &handles, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> db(opened);
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "c", "3").ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
    ASSERT_TRUE(opened->Close().ok());
    OpenDb();
    EXPECT_EQ(Scan(), "a=1,b=2");
    CloseDb();
    options_.wal_dir.clear();
    ASSERT_TRUE(rocksdb::DestroyDB(copy, options_).ok());
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(CheckpointTest, StaysAsItWasWhenItsLogsAreRecycled) {
  options_.recycle_log_file_num = 4;
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  options_.write_buffer_size = 1 << 20;
  OpenDb();
  for (int round = 0; round < 8; ++round) {
    Fill(0, 500, std::string(100, static_cast<char>('a' + round)));
    Flush();
  }
  Fill(0, 50, "in the log");
  const std::string then = Scan();
  ASSERT_TRUE(Take("/cp", UINT64_MAX).ok());
  ASSERT_EQ(FilesOf(FileType::kWal, "/cp").size(), 1u);
  const std::string log = JoinPath("/cp", FilesOf(FileType::kWal, "/cp")[0]);
  const std::string contents = ReadFile(log);
  EXPECT_EQ(contents.find(std::string(50, 'b')), std::string::npos) << "of an older log";
  for (int round = 0; round < 10; ++round) {
    Fill(0, 500, std::string(100, static_cast<char>('A' + round)));
    Flush();
  }
  EXPECT_EQ(ReadFile(log), contents);
  EXPECT_EQ(ScanAt("/cp"), then);
}

TEST_F(CheckpointTest, OfTablesInSeveralDirectories) {
  options_.db_paths = {rocksdb::DbPath("/fast", 300 << 10), rocksdb::DbPath("/slow", 1 << 30)};
  OpenDb();
  for (int i = 0; i < 10; ++i) Fill(i * 1000, 1000, std::string(300, 'a'));
  rocksdb::WaitForCompactOptions wait;
  wait.flush = true;
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  Fill(0, 10, "b");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string then = Scan();
  ASSERT_TRUE(Take("/cp").ok());
  EXPECT_EQ(Links("/fast"), 2u);
  EXPECT_EQ(Links("/slow"), 2u);
  options_.db_paths.clear();
  EXPECT_EQ(ScanAt("/cp"), then);
}

TEST_F(CheckpointTest, SurvivesWhatTheSourceDoesNext) {
  OpenDb();
  Fill(0, 1000, std::string(200, 'a'));
  Fill(300, 100, "b");
  const std::string then = Scan();
  ASSERT_TRUE(Take("/cp").ok());
  EXPECT_EQ(Links("/cp"), 2u);
  for (int round = 0; round < 6; ++round) {
    Fill(round * 100, 400, std::string(200, static_cast<char>('c' + round)));
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
  const std::string now = Scan();
  EXPECT_EQ(ScanAt("/cp"), then);
  // The copy compacts on its own, too, and the source does not feel it.
  {
    std::unique_ptr<rocksdb::DB> copy = OpenAt("/cp");
    for (int i = 0; i < 1000; i += 2) {
      ASSERT_TRUE(copy->Put(rocksdb::WriteOptions(), Key(i), "x").ok());
    }
    ASSERT_TRUE(copy->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
  EXPECT_EQ(Scan(), now);
  CloseDb();
  EXPECT_EQ(ScanAt(name_), now);
}

TEST_F(CheckpointTest, HasOneEmptyLogAfterAFlush) {
  OpenDb();
  Fill(0, 10, "flushed");
  Flush();
  Fill(10, 10, "in the log");
  ASSERT_TRUE(Take("/copy").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren("/copy", &names).ok());
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  ASSERT_EQ(names.size(), 1u);
  uint64_t size = 1;
  ASSERT_TRUE(fs_->GetFileSize("/copy/" + names[0], &size).ok());
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(ScanAt("/copy"), Scan());
}

TEST_F(CheckpointTest, LogsAreCopiedWhenTheyAreSmall) {
  OpenDb();
  Fill(0, 100, "a");
  uint64_t sequence = 0;
  ASSERT_TRUE(Take("/cp", UINT64_MAX, &sequence).ok());
  EXPECT_EQ(sequence, 100u);
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 100u);  // not flushed
  Fill(0, 100, "b");
  EXPECT_NE(ScanAt("/cp").find(Key(99) + "=a"), std::string::npos);
}

TEST_F(CheckpointTest, LogWithUnsyncedAndBufferedWrites) {
  options_.manual_wal_flush = true;
  OpenDb();
  Fill(0, 100, "a");
  const std::string then = Scan();
  ASSERT_TRUE(Take("/cp", UINT64_MAX).ok());
  Crash();  // the checkpoint is durable
  EXPECT_EQ(ScanAt("/cp"), then);
}

TEST_F(CheckpointTest, IsAnotherDatabase) {
  OpenDb();
  Fill(0, 10, "a");
  ASSERT_TRUE(Take("/cp", UINT64_MAX).ok());
  std::string id, other, again;
  ASSERT_TRUE(db_->GetDbIdentity(id).ok());
  ASSERT_TRUE(OpenAt("/cp")->GetDbIdentity(other).ok());
  EXPECT_NE(id, other);
  ASSERT_TRUE(OpenAt("/cp")->GetDbIdentity(again).ok());
  EXPECT_EQ(other, again);
}

TEST_F(CheckpointTest, FirstOpenMayCrashAnywhere) {
  OpenDb();
  Fill(0, 50, "a");
  ASSERT_TRUE(db_->SyncWAL().ok());
  const std::string then = Scan();
  options_.avoid_flush_during_recovery = true;
  for (uint64_t n = 1; n < 60; ++n) {
    const std::string dir = "/cp" + std::to_string(n);
    ASSERT_TRUE(Take(dir, UINT64_MAX).ok());
    std::atomic<uint64_t> left{n};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      const bool changes = op == FaultOp::kCreate || op == FaultOp::kSync || op == FaultOp::kRename ||
                           op == FaultOp::kWrite || op == FaultOp::kDirSync;
      if (changes && path.rfind(dir, 0) == 0 && --left == 0) fs_->PowerCut(n, CutMode::kRandom);
    });
    rocksdb::DB* db = nullptr;
    const bool opened = rocksdb::DB::Open(options_, dir, &db).ok();
    if (opened) {
      ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "zz", "z").ok() || fs_->IsDown());
    }
    delete db;
    fs_->SetHook(nullptr);
    if (!fs_->IsDown()) break;
    CloseDb();
    fs_->Restart();
    const std::string after = ScanAt(dir);
    EXPECT_TRUE(after == then || after == then + ",zz=z") << n << ": " << after.substr(0, 100);
    OpenDb();
  }
}

TEST_F(CheckpointTest, BadDirectories) {
  OpenDb();
  EXPECT_TRUE(Take("").IsInvalidArgument());
  EXPECT_TRUE(Take(name_).IsInvalidArgument());
  EXPECT_TRUE(Take("/no/such/parent").IsIOError());
  ASSERT_TRUE(Take("/cp///").ok());
  EXPECT_TRUE(Take("/cp").IsInvalidArgument());
}

TEST_F(CheckpointTest, FailureLeavesNothing) {
  OpenDb();
  Fill(0, 100, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const Status full = Status::NoSpace("injected");
  const FaultOp ops[] = {FaultOp::kWrite, FaultOp::kSync, FaultOp::kCreate, FaultOp::kDirSync,
                         FaultOp::kRename, FaultOp::kLink};
  for (FaultOp op : ops) {
    fs_->FailNth(op, 1, "/cp", full);
    Status s = Take("/cp", UINT64_MAX);
    EXPECT_EQ(s.subcode(), Status::SubCode::kNoSpace) << FaultOpName(op) << s.ToString();
    fs_->ClearFaults();
    EXPECT_TRUE(fs_->FileExists("/cp.tmp").IsNotFound());
    EXPECT_TRUE(fs_->FileExists("/cp").IsNotFound());
  }
  // The files of a crash are removed, and deletions are enabled again.
  ASSERT_TRUE(fs_->CreateDir("/cp.tmp").ok());
  ASSERT_TRUE(Take("/cp").ok());
  Fill(0, 100, "b");
  fs_->ResetCounts();
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_GT(fs_->Count(FaultOp::kDelete), 0u);
}

TEST_F(CheckpointTest, TakesUpWhatAKillLeftAndNothingElse) {
  OpenDb();
  Fill(0, 100, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string then = Scan();
  // A directory of the user that has the name.
  ASSERT_TRUE(fs_->CreateDir("/cp.tmp").ok());
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/cp.tmp/CURRENT", "mine").ok());
  const Status s = Take("/cp");
  EXPECT_TRUE(s.IsInvalidArgument() && s.ToString().find("/cp.tmp") != std::string::npos) << s.ToString();
  EXPECT_TRUE(fs_->FileExists("/cp.tmp/CURRENT").ok());
  ASSERT_TRUE(fs_->DeleteFile("/cp.tmp/CURRENT").ok());
  // Before and behind the renaming, which only permanent failures leave so.
  for (const char* left : {"/cp.tmp", "/cp"}) {
    ASSERT_TRUE(fs_->CreateDir(left).ok());
    ASSERT_TRUE(MarkUnfinished(fs_.get(), left, "checkpoint").ok());
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), std::string(left) + "/OPTIONS-000007", "half").ok());
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(options_, left, &db).IsIncomplete());
    ASSERT_TRUE(Take("/cp").ok()) << left;
    EXPECT_TRUE(fs_->FileExists("/cp.tmp").IsNotFound());
    EXPECT_TRUE(ScanAt("/cp") == then);  // too long to be printed
    ASSERT_TRUE(rocksdb::DestroyDB("/cp", options_).ok());
  }
}

TEST_F(CheckpointTest, CopiesWhereLinksDoNotWork) {
  OpenDb();
  Fill(0, 500, std::string(200, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string then = Scan();
  fs_->FailAll(FaultOp::kLink, "/cp", Status::NotSupported("another device"));
  ASSERT_TRUE(Take("/cp").ok());
  EXPECT_EQ(Links("/cp"), 1u);
  EXPECT_EQ(ScanAt("/cp"), then);
}

// Logs do not have an ingestion, or a new family. What was written behind one must not be in a copy without it.
TEST_F(CheckpointTest, IsOfOneMomentWhenAnIngestionAndANewFamilyArePassedBetween) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/file.sst").ok());
  ASSERT_TRUE(writer.Put("b", "2").ok());
  ASSERT_TRUE(writer.Finish().ok());
  std::atomic<bool> done{false};
  rocksdb::ColumnFamilyHandle* family = nullptr;
  // The OPTIONS file is read after the manifest's state was taken.
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kOpen || path.find("OPTIONS") == std::string::npos || done.exchange(true)) return;
    std::thread([&] {
      EXPECT_TRUE(db_->IngestExternalFile({"/file.sst"}, rocksdb::IngestExternalFileOptions()).ok());
      EXPECT_TRUE(db_->CreateColumnFamily(options_, "new", &family).ok());
      rocksdb::WriteBatch batch;
      EXPECT_TRUE(batch.Put("c", "3").ok());
      EXPECT_TRUE(batch.Put(family, "c", "3").ok());
      EXPECT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
    }).join();
  });
  ASSERT_TRUE(Take("/cp", 1 << 20).ok());
  fs_->SetHook(nullptr);
  ASSERT_TRUE(done);
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
  EXPECT_EQ(ScanAt("/cp"), "a=1");
}

// Its application has locked the WAL: nothing is to be awaited.
TEST_F(CheckpointTest, WhileTheLogIsLocked) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->LockWAL().ok());
  EXPECT_TRUE(Take("/cp", UINT64_MAX).ok());
  ASSERT_TRUE(db_->UnlockWAL().ok());
  ASSERT_TRUE(Put("b", "2").ok());
  EXPECT_EQ(ScanAt("/cp"), "a=1");
}

TEST_F(CheckpointTest, UnderLoadEveryOneIsAPrefix) {
  OpenDb();
  const NumberedWriter writer(db_.get());
  for (int n = 0; n < 12; ++n) {
    const int at_least = writer.WrittenSomeMore();
    const std::string dir = "/cp" + std::to_string(n);
    const uint64_t limits[] = {0, UINT64_MAX, 50 << 10};
    Status s = Take(dir, limits[n % 3]);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const int at_most = writer.written() + 1;
    std::unique_ptr<rocksdb::DB> copy = OpenAt(dir);
    ASSERT_NE(copy, nullptr);
    const int last = NumberedWriter::LastIn(copy.get());
    EXPECT_GE(last, at_least);
    EXPECT_LE(last, at_most);
  }
}

}  // namespace
}  // namespace compassdb
