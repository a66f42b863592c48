// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/job.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/jobs/memtable_flush.h"
#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

// What jobs work with, and nothing else of a database.
class JobTest : public ::testing::Test, protected JobHost {
 protected:
  JobTest() {
    db_.context.new_number = [this] { return commits_.NewNumber(); };
    MutexLock lock(&db_.mu);
    EXPECT_TRUE(commits_.Rotate().ok());
  }
  ~JobTest() override {
    scheduler_.Shutdown();
    MutexLock lock(&db_.mu);
    EXPECT_TRUE(commits_.Close().ok());
  }
  static DbConfig ConfigOf(FileSystem* fs) {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.owned_fs = std::shared_ptr<FileSystem>(std::shared_ptr<FileSystem>(), fs);  // not owned
    config.fs = fs;
    config.clock = SystemClock();
    return config;
  }
  void TrackFiles(const JobReport& report) override { steps_ += report.output_files.empty() ? "" : "tracked "; }
  void SetBackgroundError(const Status&, rocksdb::BackgroundErrorReason reason) override {
    steps_ += "error" + std::to_string(static_cast<int>(reason)) + " ";
  }
  void StartQueued() override { steps_ += "next "; }

  void Seal() {
    MutexLock lock(&db_.mu);
    ReadStateGarbage garbage(&space_);
    db_.family()->SealMemTable(/*log_number=*/0, garbage.list());
  }
  Status Flush() {
    MemTableFlush flush(environment_, {db_.families, &logs_, &errors_, unlogged_});
    {
      MutexLock lock(&db_.mu);
      flush.AddFamily(db_.families.ById(0), /*all=*/true, /*threads=*/1);
    }
    Status s = flush.Run();
    EXPECT_EQ(flush.failed(), !s.ok() && !s.IsColumnFamilyDropped());
    MutexLock lock(&db_.mu);
    flush.Announce();
    return s;
  }

  FamilyHarness db_;
  const DbConfig config_ = ConfigOf(&db_.fs);
  CountedWork work_;
  const EmptyManifest manifest_;
  CommitQueue commits_{&db_.fs, "/db", 1 << 20, &db_.mu, manifest_};
  WalSet logs_{&db_.fs, "/db", {}, [this] { return commits_.NewNumber(); }, nullptr};
  Scheduler scheduler_;
  const Listeners listeners_{{}};
  const EventLog event_log_{nullptr, SystemClock()};
  SpaceReclaimer space_{config_, /*read_only=*/false, {db_.files, db_.ledger, commits_, logs_}, &db_.mu,
                        scheduler_, work_, {event_log_, listeners_}};
  SnapshotList snapshots_{&db_.last_sequence, &db_.mu, &work_};
  ErrorHandler errors_;
  CondVar changed_{&db_.mu};
  WriteStalls stalls_{config_, listeners_, db_.families, &db_.mu, &changed_};
  std::atomic<int> next_job_id_{1};
  std::atomic<bool> shutting_down_{false}, unlogged_{false};
  const JobEnvironment environment_{nullptr,  config_,     listeners_,    event_log_,      &db_.mu,  &commits_,
                                    &stalls_, &snapshots_, &next_job_id_, &shutting_down_, &space_, this};
  std::string steps_;
};

TEST_F(JobTest, AFlushIsCommittedBeforeItIsReported) {
  db_.Put("k", "v");
  Seal();
  const Status s = Flush();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(steps_, "tracked next ");
  EXPECT_TRUE(commits_.committed());
  EXPECT_TRUE(db_.family()->immutables.empty());
  EXPECT_EQ(db_.family()->flushed_count, 1u);
  EXPECT_EQ(db_.family()->announced_count, 1u);
  EXPECT_EQ(db_.family()->counters.flushes, 1u);
}

TEST_F(JobTest, AJobThatFailsLeavesTheMemTables) {
  db_.Put("k", "v");
  Seal();
  db_.fs.FailNth(FaultOp::kSync, 1, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  EXPECT_EQ(steps_, "error5 ");  // kFlushNoWAL
  EXPECT_EQ(db_.family()->immutables.size(), 1u);
  EXPECT_TRUE(db_.family()->flush_requested);
  EXPECT_FALSE(commits_.committed());
  EXPECT_EQ(db_.family()->announced_count, 0u);
  steps_.clear();
  EXPECT_TRUE(Flush().ok());
  EXPECT_EQ(steps_, "tracked next ");
}

TEST_F(JobTest, AManifestThatFailsIsTheReason) {
  db_.Put("k", "v");
  Seal();
  db_.fs.FailNth(FaultOp::kSync, 1, "MANIFEST", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  EXPECT_EQ(steps_, "tracked error6 ");  // kManifestWriteNoWAL
  EXPECT_EQ(db_.family()->immutables.size(), 1u);
}

TEST_F(JobTest, AFamilyThatWasDroppedIsNoError) {
  db_.Put("k", "v");
  Seal();
  db_.family()->dropped = true;
  EXPECT_TRUE(Flush().IsColumnFamilyDropped());
  EXPECT_EQ(steps_, "tracked ");
}

}  // namespace
}  // namespace compassdb
