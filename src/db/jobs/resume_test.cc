// SPDX-License-Identifier: Apache-2.0
// What happens concurrently with DB::Resume, and after a failed one.
#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <latch>
#include <thread>

#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

bool Contains(const std::string& path, const char* part) { return path.find(part) != std::string::npos; }

class ResumeTest : public DbTest {
 protected:
  ResumeTest() {
    options_.create_missing_column_families = true;
    options_.max_bgerror_resume_count = 0;
    options_.bgerror_resume_retry_interval = 1000;
  }
  Status Write(int family, const std::string& key) {
    return db_->Put(rocksdb::WriteOptions(), handles_[family], key, "v");
  }
};

// The pool was busy, so the job that is to take the first family begins only while Resume makes a new log.
TEST_F(ResumeTest, AFlushThatWasQueuedBeforeTheErrorSplitsNoBatch) {
  families_ = {"default", "two"};
  options_.max_background_flushes = options_.max_background_compactions = 1;
  OpenDb();
  std::latch free(1), moved(1);
  std::atomic<bool> making{false}, went_on{false}, committed{false}, cut{false};
  struct Job {
    std::function<void()> run;
    static void Call(void* job) { static_cast<Job*>(job)->run(); }
  };
  const auto go_on = [&] {
    if (!went_on.exchange(true)) moved.count_down();
  };
  Job busy{[&] { free.wait(); }}, behind{go_on};
  env_->SetBackgroundThreads(1, rocksdb::Env::HIGH);
  env_->Schedule(Job::Call, &busy, rocksdb::Env::HIGH);
  rocksdb::WriteBatch batch;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) ASSERT_TRUE(batch.Put(handle, "k", "v").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  rocksdb::FlushOptions flush;
  flush.wait = false;
  ASSERT_TRUE(db_->Flush(flush, handles_).ok());
  env_->Schedule(Job::Call, &behind, rocksdb::Env::HIGH);
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("b", "1").IsIOError());
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op == FaultOp::kWrite && Contains(path, ".ph")) go_on();
    if (op == FaultOp::kWrite && Contains(path, ".log") && !making.exchange(true)) {
      free.count_down();
      moved.wait();
    }
    if (op == FaultOp::kSync && Contains(path, "MANIFEST")) committed = true;
    if (op == FaultOp::kSync && Contains(path, ".ph") && committed && !cut.exchange(true)) {
      fs_->PowerCut(1, CutMode::kDropUnsynced);
    }
  });
  const Status resumed = db_->Resume();
  EXPECT_TRUE(resumed.ok() || cut) << resumed.ToString();
  fs_->SetHook(nullptr);
  Crash();
  OpenDb();
  EXPECT_EQ(GetIn(0, "k"), GetIn(1, "k"));
  EXPECT_TRUE(GetIn(0, "k") == "v" || !resumed.ok());
}

// What was not synced when its log was given up is in memory alone.
TEST_F(ResumeTest, NoSyncIsAcknowledgedAfterAResumeThatFailed) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("b", "1").IsIOError());
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(db_->Resume().IsIOError());
  EXPECT_TRUE(db_->SyncWAL().IsIOError());
  EXPECT_TRUE(db_->FlushWAL(/*sync=*/false).IsIOError());
  EXPECT_TRUE(db_->LockWAL().IsIOError());
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(db_->SyncWAL().ok());
  Crash();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

class RecoveryCounts : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, Status, bool*) override { ++begun; }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo&) override {
    ++ended;
    ended.notify_all();
  }
  std::atomic<int> begun{0}, ended{0};
};

// Called during the notification of the end, which must not wait for the thread that tried.
class ResumesAtTheEnd final : public RecoveryCounts {
 public:
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    if (info.new_bg_error.IsAborted() && ended == 0) own = db->Resume();
    RecoveryCounts::OnErrorRecoveryEnd(info);
  }
  rocksdb::DB* db = nullptr;
  Status own;
};

TEST_F(ResumeTest, AListenerResumesWhenTheAttemptsAreOver) {
  const auto listener = std::make_shared<ResumesAtTheEnd>();
  options_.listeners.push_back(listener);
  options_.max_bgerror_resume_count = 1;
  OpenDb();
  listener->db = db_.get();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).IsNoSpace());
  listener->ended.wait(0);
  listener->ended.wait(1);  // as its own attempt failed, there are others
  EXPECT_TRUE(listener->own.IsNoSpace());
  EXPECT_EQ(listener->begun, 2);
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(Put("b", "1").ok());
}

// A compaction has no room, and writers wait for it.
TEST_F(ResumeTest, WritersThatWaitForACompactionDoNotHoldUpResume) {
  options_.level0_file_num_compaction_trigger = options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 4;
  options_.disable_auto_compactions = true;
  options_.statistics = rocksdb::CreateDBStatistics();
  OpenDb();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Put("a", std::to_string(i)).ok());
    Flush();
  }
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  while (IntProperty("rocksdb.background-errors") == 0) std::this_thread::yield();
  ASSERT_EQ(IntProperty("rocksdb.is-write-stopped"), 1u);
  auto written = std::async(std::launch::async, [&] { return Put("b", "1"); });
  rocksdb::WriteOptions at_once;
  at_once.no_slowdown = true;
  // Refused by another one, which is at the front.
  while (options_.statistics->getTickerCount(rocksdb::WRITE_DONE_BY_OTHER) == 0) {
    EXPECT_TRUE(db_->Put(at_once, "c", "1").IsIncomplete());
  }
  fs_->ClearFaults();
  EXPECT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(written.get().ok());
}

// In the middle of an attempt of the database itself, which has the front of the queue.
class PausedInResumeTest : public ResumeTest {
 protected:
  // While the hook's data exists.
  ~PausedInResumeTest() override {
    if (db_) CloseDb();
  }
  void PauseInResume() {
    options_.max_bgerror_resume_count = 1000000;
    options_.listeners.push_back(counts_);
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    fs_->SetHook([this](FaultOp op, const std::string& path) {
      if (op != FaultOp::kWrite || !Contains(path, ".log") || counts_->begun == 0 || paused_.try_wait()) return;
      EXPECT_TRUE(db_->PauseBackgroundWork().ok());
      paused_.count_down();
    });
    fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
    EXPECT_TRUE(Put("b", "1").IsNoSpace());
    paused_.wait();
  }
  const std::shared_ptr<RecoveryCounts> counts_ = std::make_shared<RecoveryCounts>();
  std::latch paused_{1};
};

TEST_F(PausedInResumeTest, WritesAreAnswered) {
  PauseInResume();
  const Status refused = Put("b", "1");
  EXPECT_TRUE(refused.IsNoSpace()) << refused.ToString();
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  counts_->ended.wait(0);
  EXPECT_TRUE(Put("b", "1").ok());
}

TEST_F(PausedInResumeTest, CloseEnds) {
  PauseInResume();
  CloseDb();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(ResumeTest, ErrorsAndResumptionsAreCounted) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.max_bgerror_resume_count = 1000;
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).IsNoSpace());
  fs_->ClearFaults();
  const auto count = [&](uint32_t ticker) { return options_.statistics->getTickerCount(ticker); };
  for (int i = 0; i < 3000 && count(rocksdb::ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(count(rocksdb::ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  EXPECT_EQ(count(rocksdb::ERROR_HANDLER_AUTORESUME_COUNT), 1u);
  EXPECT_GE(count(rocksdb::ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u);
  EXPECT_GE(count(rocksdb::ERROR_HANDLER_BG_ERROR_COUNT), 1u);
  EXPECT_EQ(count(rocksdb::ERROR_HANDLER_BG_IO_ERROR_COUNT), count(rocksdb::ERROR_HANDLER_BG_ERROR_COUNT));
}

// Files of jobs that the manifest did not get go once it is known not to have them.
TEST_F(ResumeTest, FilesOfFailedCommitsGo) {
  options_.disable_auto_compactions = true;
  OpenDb();
  const auto files_kept = [this] {
    size_t kept = 0;
    for (const std::string& name : FilesOf(FileType::kPieceFile)) {
      uint64_t bytes = 0;  // 0: a spare file
      if (fs_->GetFileSize(JoinPath(name_, name), &bytes).ok() && bytes > 0) ++kept;
    }
    return kept;
  };
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailAll(FaultOp::kWrite, "MANIFEST", Status::NoSpace("injected"));
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).IsNoSpace());
  EXPECT_TRUE(db_->Resume().IsNoSpace());
  EXPECT_EQ(files_kept(), 1u);  // a manifest may have it, for all that is known
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_EQ(files_kept(), 1u);
  for (size_t i = 2; i < 5; ++i) {
    ASSERT_TRUE(Put("a", std::to_string(i)).ok());
    fs_->FailNth(FaultOp::kSync, 1, "MANIFEST", Status::IOError("injected"));  // the next manifest is whole
    EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).IsIOError());
    ASSERT_TRUE(db_->Resume().ok());
    EXPECT_EQ(files_kept(), i);
    EXPECT_EQ(Get("a"), std::to_string(i));
  }
}

// A family's memtables that wait for another's flush, as both are to be committed together.
TEST_F(ResumeTest, NoThreadSpinsWhileAnAtomicFlushWaits) {
  families_ = {"default", "two"};
  options_.atomic_flush = true;
  options_.max_background_flushes = 2;
  options_.max_background_compactions = 1;
  OpenDb();
  std::latch begun(1), free(1);
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kSync || !Contains(path, ".ph") || begun.try_wait()) return;
    begun.count_down();
    free.wait();
  });
  rocksdb::FlushOptions flush;
  flush.wait = false;
  ASSERT_TRUE(Write(0, "a").ok());
  ASSERT_TRUE(db_->Flush(flush, handles_[0]).ok());
  begun.wait();
  ASSERT_TRUE(Write(1, "b").ok());
  ASSERT_TRUE(db_->Flush(flush, handles_[1]).ok());
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20);
  free.count_down();
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_).ok());
  EXPECT_EQ(GetIn(0, "a") + GetIn(1, "b"), "vv");
}

class TakesErrors final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, Status* error) override { *error = Status::OK(); }
};

// It takes no more writes, even if a listener clears the error.
TEST_F(ResumeTest, AListenerTakesTheErrorOfALogUponItself) {
  options_.listeners.push_back(std::make_shared<TakesErrors>());
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("b", "1").IsIOError());
  EXPECT_TRUE(Put("b", "1").IsIOError());
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(Put("b", "1").ok());
  EXPECT_EQ(Get("a") + Get("b"), "11");
}

}  // namespace
}  // namespace compassdb
