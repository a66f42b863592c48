// SPDX-License-Identifier: Apache-2.0
#include "db/space/space_reclaimer.h"

#include <gtest/gtest.h>

#include "db/testing/family_test_util.h"
#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "rocksdb/sst_file_manager.h"

namespace compassdb {
namespace {

constexpr uint64_t kPage = 4096;

// Notes the compaction files that were deleted, and after which job.
class DeletionListener final : public rocksdb::EventListener {
 public:
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    deleted.emplace_back(info.file_path, info.job_id);
  }
  std::vector<std::pair<std::string, int>> deleted;
};

class SpaceReclaimerTest : public ::testing::Test, protected BackgroundWork {
 protected:
  explicit SpaceReclaimerTest(bool read_only = false)
      : space_(config_, read_only, {tables_, ledger_, commits_, logs_}, &mu_, scheduler_, *this,
               {event_log_, listeners_}) {
    EXPECT_TRUE(fs_->CreateDir("/db").ok());
  }
  ~SpaceReclaimerTest() override { scheduler_.Shutdown(); }
  void MaybeSchedule() override { ++looks_; }
  void AwaitBackground(std::chrono::milliseconds) override {}
  int FlushesRunning() const override { return 0; }
  int CompactionsRunning() const override { return 0; }

  static DbConfig MakeConfig(const std::shared_ptr<FileSystem>& fs,
                             const std::shared_ptr<rocksdb::EventListener>& listener) {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.owned_fs = fs;
    config.fs = fs.get();
    config.clock = SystemClock();
    config.options.listeners = {listener};
    config.options.sst_file_manager.reset(rocksdb::NewSstFileManager(rocksdb::Env::Default()));
    config.options.WAL_ttl_seconds = 3600;
    return config;
  }
  std::string Path(uint64_t number) { return tables_.PathOf(number); }
  bool Exists(const std::string& path) { return fs_->FileExists(path).ok(); }
  // A compaction file of `pages`. Each is an extent in use.
  void MakeFile(uint64_t number, uint64_t pages) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(Path(number), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(pages * kPage, 'x')).ok());
    ASSERT_TRUE(file->Close().ok());
    for (uint64_t page = 0; page < pages; ++page) ledger_.Add({number, page * kPage, kPage});
  }
  void Release(uint64_t number, uint64_t page) { ledger_.Release({number, page * kPage, kPage}); }

  const std::shared_ptr<FaultInjectionFileSystem> fs_ = std::make_shared<FaultInjectionFileSystem>();
  const std::shared_ptr<DeletionListener> listener_ = std::make_shared<DeletionListener>();
  const DbConfig config_ = MakeConfig(fs_, listener_);
  FileCache tables_{fs_.get(), "/db", FileOptions(), 0};
  ExtentLedger ledger_{fs_.get(), &tables_, /*min_punch_bytes=*/kPage, /*large_punch_bytes=*/10 * kPage};
  Mutex mu_;
  const EmptyManifest manifest_;
  CommitQueue commits_{fs_.get(), "/db", UINT64_MAX, &mu_, manifest_};
  WalSet logs_{fs_.get(), "/db", {}, [this] { return commits_.NewNumber(); }, nullptr};
  Scheduler scheduler_;
  const Listeners listeners_{config_.options.listeners};
  const EventLog event_log_{nullptr, config_.clock};
  std::atomic<int> looks_{0};
  SpaceReclaimer space_;
};

class ReadOnlySpaceTest : public SpaceReclaimerTest {
 protected:
  ReadOnlySpaceTest() : SpaceReclaimerTest(/*read_only=*/true) {}
};

TEST_F(SpaceReclaimerTest, AFileIsDeletedWithItsLastExtent) {
  MakeFile(7, 2);
  Release(7, 0);
  space_.Purge();
  EXPECT_TRUE(Exists(Path(7)));
  Release(7, 1);
  space_.Purge(/*job_id=*/3);
  EXPECT_FALSE(Exists(Path(7)));
  ASSERT_EQ(listener_->deleted.size(), 1u);
  EXPECT_EQ(listener_->deleted[0], std::pair(Path(7), 3));
}

TEST_F(ReadOnlySpaceTest, NothingIsDeleted) {
  MakeFile(7, 1);
  Release(7, 0);
  space_.Purge();
  EXPECT_TRUE(Exists(Path(7)));
}

TEST_F(SpaceReclaimerTest, NothingIsDeletedWhileDeletionsAreDisabled) {
  MakeFile(7, 1);
  Release(7, 0);
  ledger_.DisableDeletions();
  space_.Purge();
  EXPECT_TRUE(Exists(Path(7)));
  ledger_.EnableDeletions(/*force=*/false);
  space_.Purge();
  EXPECT_FALSE(Exists(Path(7)));
}

TEST_F(SpaceReclaimerTest, NothingIsDeletedWhileTheManifestIsInDoubt) {
  MakeFile(7, 1);
  Release(7, 0);
  {
    MutexLock lock(&mu_);
    ASSERT_TRUE(commits_.Rotate().ok());
    fs_->FailAll(FaultOp::kSync, "MANIFEST", Status::IOError("injected"));
    std::vector<CommitItem> items(1);
    std::vector<ReadState*> garbage;
    EXPECT_FALSE(commits_.Commit(&items, &garbage).ok());
  }
  ASSERT_TRUE(commits_.in_doubt());
  space_.Purge();
  EXPECT_TRUE(Exists(Path(7)));
}

TEST_F(SpaceReclaimerTest, NothingIsDeletedAfterClose) {
  MakeFile(7, 1);
  MakeFile(8, 1);
  Release(7, 0);
  space_.Close();
  EXPECT_FALSE(Exists(Path(7)));
  Release(8, 0);
  space_.Purge();
  EXPECT_TRUE(Exists(Path(8)));
}

TEST_F(SpaceReclaimerTest, WhatAReaderReleasesIsDeletedByAJob) {
  MakeFile(7, 1);
  MakeFile(8, 1);
  Release(7, 0);
  space_.StatesReleased();
  scheduler_.WaitForIdle();
  EXPECT_TRUE(Exists(Path(7)));  // the database is not open yet
  space_.Start(ColumnFamilySet());
  Release(8, 0);
  space_.StatesReleased();
  scheduler_.WaitForIdle();
  EXPECT_FALSE(Exists(Path(7)));
  EXPECT_FALSE(Exists(Path(8)));
  EXPECT_EQ(looks_, 1);
  // Jobs have looked for work since, and nothing was released.
  space_.JobsLook();
  space_.StatesReleased();
  scheduler_.WaitForIdle();
  EXPECT_EQ(looks_, 1);
}

TEST_F(SpaceReclaimerTest, LogsThatTheManifestDoesNotNeedAreArchived) {
  ASSERT_TRUE(space_.obsolete().OpenArchive().ok());
  ASSERT_TRUE(logs_.StartFirst(WalHeader(), "id").ok());
  const uint64_t first = logs_.current_number();
  ASSERT_TRUE(logs_.Start(/*give_up_failed=*/false).ok());
  space_.Purge();
  EXPECT_TRUE(Exists(WalFileName("/db", first)));
  commits_.set_min_log_number(logs_.current_number());
  space_.Purge();
  EXPECT_FALSE(Exists(WalFileName("/db", first)));
  EXPECT_TRUE(Exists(WalFileName(WalArchiveName("/db"), first)));
  EXPECT_TRUE(logs_.Close().ok());
}

TEST_F(SpaceReclaimerTest, FilesCountAgainstTheAllowedSpaceUntilTheyAreDeleted) {
  config_.options.sst_file_manager->SetMaxAllowedSpaceUsage(3 * kPage);
  MakeFile(7, 2);
  MakeFile(8, 1);
  JobReport report;
  report.output_paths = {Path(7)};
  EXPECT_TRUE(space_.Track(report).ok());
  EXPECT_EQ(space_.TrackAll().subcode(), Status::kSpaceLimit);
  Release(8, 0);
  space_.Purge();
  EXPECT_TRUE(space_.Track(report).ok());
  space_.UntrackAll();
  EXPECT_EQ(config_.options.sst_file_manager->GetTotalSize(), 0u);
}

TEST_F(SpaceReclaimerTest, SmallHolesWaitUntilSpaceIsNeeded) {
  space_.Start(ColumnFamilySet());
  MakeFile(7, 20);
  Release(7, 1);
  space_.Schedule();
  scheduler_.WaitForIdle();
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 0u);
  space_.Press();
  scheduler_.WaitForIdle();
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 1u);
  EXPECT_GE(looks_, 1);  // what could not be punched may be worth a job
  for (uint64_t page = 5; page < 15; ++page) Release(7, page);
  space_.Schedule();
  scheduler_.WaitForIdle();
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 2u);
}

}  // namespace
}  // namespace compassdb
