// SPDX-License-Identifier: Apache-2.0
// Tests only: the environment of jobs, with families and without a database.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "db/jobs/background_jobs.h"
#include "db/testing/family_test_util.h"
#include "db/write/memtable_switcher.h"
#include "db/write/write_front.h"
#include "rocksdb/sst_file_manager.h"

namespace compassdb {

class JobsHarness : public BackgroundErrors, public MemTableSwitcher {
 public:
  JobsHarness() {
    commits.RaiseNextNumber(100);
    db.context.new_number = [this] { return commits.NewNumber(); };
    EXPECT_TRUE(front.logs.StartFirst(WalHeader(), "id").ok());
    MutexLock lock(&db.mu);
    EXPECT_TRUE(commits.Rotate().ok());
  }
  virtual ~JobsHarness() {
    shutting_down = true;
    jobs.Close();
    EXPECT_TRUE(front.logs.Close().ok());
    MutexLock lock(&db.mu);
    EXPECT_TRUE(commits.Close().ok());
  }

  void SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) override {
    reasons.push_back(reason);
    errors.Set(error, reason).PermitUncheckedError();
  }
  void WriteRefused() override {}
  // As the write path does it, without a new log.
  Status SwitchMemTables(const Families& families, rocksdb::FlushReason, ReadStateGarbage* garbage) override {
    for (const auto& family : families) {
      if (family->memtables().active()->empty()) continue;
      family->SealMemTable(/*log_number=*/0, db.last_sequence, garbage->list());
    }
    return Status::OK();
  }
  void LimitsChanged(const ColumnFamily*) override {}

  // Seals the memtables, and requests their flush.
  void Seal() {
    MutexLock lock(&db.mu);
    ReadStateGarbage garbage(&space);
    ASSERT_TRUE(SwitchMemTables(db.families.All(), rocksdb::FlushReason::kTest, &garbage).ok());
    db.family()->memtables().RequestFlush();
  }
  void Open() {
    MutexLock lock(&db.mu);
    jobs.Open();
  }
  uint64_t TablesAt(size_t level) {
    ReadStatePin state(db.family()->read_state());
    return state->view->Levels()[level].tables;
  }

  FamilyHarness db;
  DbConfig config = ConfigOf(&db.fs);
  const EmptyManifest manifest;
  CommitQueue commits{&db.fs, "/db", 1 << 20, &db.mu, manifest};
  WriteFront front{config, [this] { return commits.NewNumber(); }};
  const Listeners listeners{{}};
  const EventLog event_log{nullptr, SystemClock()};
  ErrorHandler errors;
  CondVar changed{&db.mu};
  std::atomic<int> next_job_id{1};
  std::atomic<bool> shutting_down{false};
  std::vector<rocksdb::BackgroundErrorReason> reasons;  // of the errors that were set
  Scheduler scheduler;
  const std::string db_id = "id";
  const JobEnvironment environment{db_id,        config,         listeners, event_log, &db.mu,
                                   &changed,     db.families,    &commits,  &stalls,   &snapshots,
                                   &next_job_id, &shutting_down, &space,    &errors,   this};
  const MemTableFlush::Deps deps{&front.logs, front.unlogged_data};
  BackgroundJobs jobs{environment, deps, scheduler};
  SpaceReclaimer space{config,    /*read_only=*/false, {db.files, db.ledger, commits, front.logs}, &db.mu,
                       scheduler, jobs,                {event_log, listeners}};
  SnapshotList snapshots{&db.last_sequence, &db.mu, &jobs};
  WriteStalls stalls{config, listeners, db.families, &db.mu, &changed};

 private:
  static DbConfig ConfigOf(FileSystem* fs) {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.owned_fs = std::shared_ptr<FileSystem>(std::shared_ptr<FileSystem>(), fs);  // not owned
    config.fs = fs;
    config.clock = SystemClock();
    config.options.bgerror_resume_retry_interval = 1000;  // microseconds
    config.options.sst_file_manager.reset(rocksdb::NewSstFileManager(rocksdb::Env::Default()));
    return config;
  }
};

}  // namespace compassdb
