// SPDX-License-Identifier: Apache-2.0
// A flush and a compaction sync their one file, one more if they separate values, and the manifest. The number of
// tables, and of threads that share the job, does not matter.
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"
#include "util/random.h"

namespace compassdb {
namespace {

class JobCount : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { ++commits; }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    ++commits;
    if (info.stats.num_output_records > 0) ++compactions;
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override { Count(info.job_id, &tables); }
  void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override { Count(info.job_id, &values); }
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> compactions{0};  // that wrote something
  std::mutex mu;
  std::map<int, uint64_t> tables, values;  // files of each job

 private:
  void Count(int job, std::map<int, uint64_t>* files) {
    std::lock_guard<std::mutex> lock(mu);
    ++(*files)[job];
  }
};

class BarrierTest : public DbTest, public ::testing::WithParamInterface<Preset> {
 protected:
  BarrierTest() {
    options_.listeners.push_back(jobs_);
    EXPECT_TRUE(ApplyPreset(GetParam(), &options_).ok());
    PieceTableOptions piece = *options_.table_factory->GetOptions<PieceTableOptions>();
    piece.target_table_bytes = 4 << 10;  // dozens of tables in each job
    options_.table_factory.reset(NewPieceTableFactory(piece));
  }
  void CountSyncs() {
    fs_->SetHook([this](FaultOp op, const std::string& path) {
      if (op == FaultOp::kDirSync) ++dir_syncs_;
      if (op == FaultOp::kCreate && path.ends_with(".log")) ++logs_;
      if (op != FaultOp::kSync) return;
      if (path.ends_with(".ph")) {
        ++file_syncs_;
        std::lock_guard<std::mutex> lock(files_mu_);
        files_.insert(path);
      } else if (path.find("MANIFEST") != std::string::npos) {
        ++manifest_syncs_;
      } else {
        ++other_syncs_;
      }
    });
  }
  const std::shared_ptr<JobCount> jobs_ = std::make_shared<JobCount>();
  std::atomic<uint64_t> file_syncs_{0}, manifest_syncs_{0}, dir_syncs_{0}, other_syncs_{0}, logs_{0};
  std::mutex files_mu_;
  std::set<std::string> files_;
};

TEST_P(BarrierTest, TwoSyncsPerJob) {
  options_.max_subcompactions = 3;
  OpenDb();
  CountSyncs();
  Random rnd(7);
  const bool separates = options_.enable_blob_files;
  const uint64_t largest = std::max<uint64_t>(100, separates ? options_.min_blob_size : 0);
  for (int i = 0; i < 20000; ++i) {
    const std::string value(i % 2 == 0 ? largest : 100, 'v');
    ASSERT_TRUE(Put(Key(static_cast<int>(rnd.Uniform(100000))), value).ok());
  }
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  fs_->SetHook(nullptr);
  const uint64_t commits = jobs_->commits;
  EXPECT_GT(commits, 5u);
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  EXPECT_GT(meta.file_count, GetParam() == Preset::kTableless ? 0u : 50u);
  EXPECT_EQ(manifest_syncs_, commits);
  // A table-less flush writes two files, and its pages are written in place.
  if (GetParam() == Preset::kTableless) {
    EXPECT_LE(file_syncs_, 2 * commits);
    EXPECT_EQ(file_syncs_, files_.size());
    ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
    return;
  }
  EXPECT_EQ(IntProperty("rocksdb.total-blob-file-size") > 0, separates);
  EXPECT_GE(file_syncs_, jobs_->compactions);
  EXPECT_EQ(file_syncs_, files_.size());  // each once
  {
    std::lock_guard<std::mutex> lock(jobs_->mu);
    for (const auto& [job, files] : jobs_->tables) EXPECT_EQ(files, 1u) << "job " << job;
    for (const auto& [job, files] : jobs_->values) EXPECT_EQ(files, 1u) << "job " << job;
    EXPECT_LE(jobs_->tables.size(), commits);
    EXPECT_EQ(jobs_->values.empty(), !separates);
    EXPECT_EQ(file_syncs_, jobs_->tables.size() + jobs_->values.size());
  }
  EXPECT_EQ(other_syncs_, 0u);  // no log, since no write asked for it
  EXPECT_LE(dir_syncs_, 10 + (file_syncs_ + logs_ / 2) / 16);  // logs are created ahead, and again
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
}

// Else a log could be lost with its name, and the one that follows it not.
TEST_P(BarrierTest, NamesOfLogsAreDurableBeforeTheFirstWriteIsAcknowledged) {
  std::mutex mu;
  std::set<std::string> fresh, durable, deleted;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    std::lock_guard<std::mutex> lock(mu);
    if (op == FaultOp::kDirSync && path == name_) durable.merge(fresh);
    if (op == FaultOp::kCreate && path.ends_with(".log") && durable.count(path) == 0) fresh.insert(path);
    if (op == FaultOp::kDelete) deleted.insert(path);
  });
  OpenDb();
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 19) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    ASSERT_TRUE(Put(Key(i), "v").ok());
    const std::string log = NewestLog();
    std::lock_guard<std::mutex> lock(mu);
    ASSERT_EQ(durable.count(log), 1u) << log;
    ASSERT_EQ(deleted.count(log), 0u) << log;
  }
  fs_->SetHook(nullptr);
  EXPECT_GE(durable.size(), 4u);
}

// One sync makes the names of several logs durable. Logs that are not begun are not listed.
TEST_P(BarrierTest, SpareLogsAreDurable) {
  OpenDb();
  std::unique_ptr<rocksdb::TransactionLogIterator> follower;
  for (int i = 0; i < 31; ++i) {
    ASSERT_TRUE(Put(Key(i), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(Put(Key(1000 + i), "v").ok());
    rocksdb::VectorLogPtr logs;
    ASSERT_TRUE(db_->GetSortedWalFiles(logs).ok());
    ASSERT_EQ(logs.size(), 1u);
    EXPECT_EQ(JoinPath(name_, logs[0]->PathName().substr(1)), NewestLog());
    Status s = db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &follower);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(follower->Valid());
    follower->Next();
    EXPECT_FALSE(follower->Valid());
    EXPECT_TRUE(follower->status().ok()) << follower->status().ToString();
  }
  follower.reset();
  EXPECT_GT(FilesOf(FileType::kWal).size(), 1u);
  // After a crash they are left out, and go.
  Crash();
  OpenDb();
  for (int i = 0; i < 31; ++i) ASSERT_EQ(Get(Key(i)), "v") << i;
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 1u);
  CloseDb();
  EXPECT_EQ(FilesOf(FileType::kWal).size(), 1u);
  options_.avoid_flush_during_recovery = true;
  OpenDb();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Put(Key(i), "w").ok());
    if (i < 15) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
  }
  EXPECT_GT(FilesOf(FileType::kWal).size(), 1u);
  for (int round = 0; round < 3; ++round) {  // the logs are kept, and empty ones are between
    ASSERT_TRUE(Put("round", std::to_string(round), /*sync=*/true).ok());
    Crash();
    OpenDb();
    ASSERT_EQ(Get("round"), std::to_string(round));
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Get(Key(i)), "w") << i;
  }
}

// The name of a log that could not be begun is gone before the next one is made.
TEST_P(BarrierTest, ALogThatWasNotBegunDoesNotComeBack) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailAll(FaultOp::kWrite, ".log", Status::IOError("injected"));
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
  fs_->ClearFaults();
  bool synced = false;
  int made = 0;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op == FaultOp::kDirSync && path == name_) synced = true;
    if (op == FaultOp::kCreate && path.ends_with(".log")) {
      EXPECT_TRUE(synced || made > 0) << path;
      ++made;
    }
  });
  if (!db_->Flush(rocksdb::FlushOptions()).ok()) {
    ASSERT_TRUE(db_->Resume().ok());
    ASSERT_TRUE(Put("b", "2").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  fs_->SetHook(nullptr);
  EXPECT_GT(made, 0);
}

// It does no harm if spare logs stay, or come back.
TEST_P(BarrierTest, SpareLogsThatCouldNotBeCreated) {
  for (const FaultOp op : {FaultOp::kDirSync, FaultOp::kCreate}) {
    OpenDb();
    for (int i = 0; i < 5; ++i) {  // past the first ones, which are made one by one
      ASSERT_TRUE(Put(Key(i), "v").ok());
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    ASSERT_TRUE(Put("a", "1", /*sync=*/true).ok());
    fs_->FailAll(op, op == FaultOp::kCreate ? ".log" : name_, Status::NoSpace("injected"));
    fs_->FailAll(FaultOp::kDelete, ".log", Status::IOError("injected"));
    Status s;
    for (int i = 0; i < 8 && s.ok(); ++i) {
      s = Put(Key(i), "w");
      if (s.ok()) s = db_->Flush(rocksdb::FlushOptions());
    }
    EXPECT_FALSE(s.ok());
    fs_->ClearFaults();
    if (!Put("b", "2", true).ok()) {
      ASSERT_TRUE(db_->Resume().ok());
      ASSERT_TRUE(Put("b", "2", true).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(Put("c", "3", true).ok());
    Crash(CutMode::kRandom, op == FaultOp::kCreate ? 1 : 2);
    OpenDb();
    EXPECT_EQ(Get("a") + Get("b") + Get("c"), "123");
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// A table that a synced manifest names exists after a power cut, without a sync of the directory since.
TEST_P(BarrierTest, SpareFilesSurviveAPowerCut) {
  OpenDb();
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(Put(Key(i * 12 + round), std::string(100, 'v')).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  Crash();
  OpenDb();
  for (int i = 0; i < 300 * 12; ++i) ASSERT_EQ(Get(Key(i)), std::string(100, 'v')) << i;
  // Unused files are deleted, then and after a close.
  CloseDb();
  OpenDb();
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
  uint64_t size = 0, files = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".ph")) continue;
    ++files;
    ASSERT_TRUE(fs_->GetFileSize(name_ + "/" + name, &size).ok());
    EXPECT_GT(size, 0u) << name;
  }
  EXPECT_GT(files, 0u);
}

INSTANTIATE_TEST_SUITE_P(Presets, BarrierTest, ::testing::ValuesIn(AllPresets()),
                         [](const auto& info) {
                           std::string name = PresetName(info.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace compassdb
