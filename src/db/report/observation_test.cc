// SPDX-License-Identifier: Apache-2.0
// Reports of a running database: JSON events in LOG, ingestion, the space of its files.
#include "db/testing/db_test_util.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/thread_status.h"
#include "rocksdb/utilities/table_properties_collectors.h"

namespace compassdb {
namespace {

class ObservationTest : public DbTest {
 protected:
  void Load(int n) {
    for (int i = 0; i < n; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'x')).ok());
  }
  // The JSON objects of one event, in order.
  std::vector<std::string> Events(const std::string& event) {
    std::string log;
    EXPECT_TRUE(rocksdb::ReadFileToString(env_.get(), name_ + "/LOG", &log).ok());
    std::vector<std::string> found;
    const std::string mark = "EVENT_LOG_v1 ";
    for (size_t at = log.find(mark); at != std::string::npos; at = log.find(mark, at + 1)) {
      const std::string line = log.substr(at + mark.size(), log.find('\n', at) - at - mark.size());
      if (line.find("\"event\": \"" + event + "\"") != std::string::npos) found.push_back(line);
    }
    return found;
  }
};

TEST_F(ObservationTest, EventsInLog) {
  OpenDb();
  Load(1000);
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  Load(1000);
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  CloseDb();
  const auto started = Events("flush_started"), finished = Events("flush_finished");
  ASSERT_FALSE(started.empty());
  EXPECT_EQ(started.size(), finished.size());
  EXPECT_EQ(started[0].rfind("{\"time_micros\": ", 0), 0u);
  EXPECT_EQ(started[0].back(), '}');
  EXPECT_NE(started.back().find("\"flush_reason\": \"Manual Compaction\""), std::string::npos)
      << started.back();
  EXPECT_NE(finished[0].find("\"lsm_state\": ["), std::string::npos);
  EXPECT_FALSE(Events("table_file_creation").empty());
  ASSERT_FALSE(Events("compaction_started").empty());
  EXPECT_EQ(Events("compaction_started").size(), Events("compaction_finished").size());
  EXPECT_FALSE(Events("table_file_deletion").empty());
  EXPECT_NE(Events("compaction_started").back().find("\"files_L0\": ["), std::string::npos);
  EXPECT_EQ(Events("compaction_started").back().find("\"input_data_size\": 0,"), std::string::npos);
  EXPECT_EQ(Events("table_file_deletion").front().find("\"job\": 0,"), std::string::npos);
  EXPECT_NE(started[0].find("\"job\": 1,"), std::string::npos);
}

TEST_F(ObservationTest, ChangedOptionsInLog) {
  OpenDb();
  ASSERT_TRUE(db_->SetOptions({{"write_buffer_size", "131072"}, {"memtable_huge_page_size", "4096"}}).ok());
  EXPECT_FALSE(db_->SetOptions({{"no_such_option", "7"}}).ok());
  ASSERT_TRUE(db_->SetDBOptions({{"max_background_jobs", "3"}}).ok());
  EXPECT_FALSE(db_->SetDBOptions({{"create_if_missing", "true"}}).ok());
  std::string log;
  ASSERT_TRUE(rocksdb::ReadFileToString(env_.get(), name_ + "/LOG", &log).ok());
  size_t at = 0;
  for (const char* line : {
           "SetOptions() on column family [default], inputs:", "write_buffer_size: 131072\n",
           "option column family default: memtable_huge_page_size has no effect: ",
           "[default] SetOptions() succeeded\n",
           "SetOptions() on column family [default], inputs:", "no_such_option: 7\n",
           "[default] SetOptions() failed: ", "SetDBOptions(), inputs:", "max_background_jobs: 3\n",
           "SetDBOptions() succeeded\n", "SetDBOptions(), inputs:", "create_if_missing: true\n",
           "SetDBOptions() failed: "}) {
    at = log.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << " is missing, or not in this order, in " << log;
  }
}

TEST_F(ObservationTest, CollectorsInLog) {
  for (const size_t window : {5, 6}) {
    options_.table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(window, 10, 0.5));
  }
  OpenDb();
  std::string log;
  ASSERT_TRUE(rocksdb::ReadFileToString(env_.get(), name_ + "/LOG", &log).ok());
  const std::string text = " Deletion trigger = 10 Deletion ratio = 0.5)";
  EXPECT_NE(log.find("Options.table_properties_collectors: CompactOnDeletionCollector (Sliding window size = 5" + text +
                     "; CompactOnDeletionCollector (Sliding window size = 6" + text + "\n"),
            std::string::npos)
      << log;
}

TEST_F(ObservationTest, ARecoveryInLog) {
  OpenDb();
  EXPECT_TRUE(Events("recovery_started").empty());  // there was no log
  Load(10);
  CloseDb();
  OpenDb();
  const auto created = Events("table_file_creation");
  ASSERT_EQ(Events("recovery_started").size(), 1u);
  EXPECT_NE(Events("recovery_started")[0].find("\"wal_files\": ["), std::string::npos);
  ASSERT_EQ(created.size(), 1u);
  EXPECT_NE(created[0].find("\"smallest_seqno\": 1, \"largest_seqno\": 10,"), std::string::npos)
      << created[0];
  EXPECT_EQ(Events("recovery_finished").size(), 1u);
}

TEST_F(ObservationTest, TheSpaceOfFiles) {
  std::shared_ptr<rocksdb::SstFileManager> manager(rocksdb::NewSstFileManager(env_.get()));
  options_.sst_file_manager = manager;
  OpenDb();
  EXPECT_EQ(manager->GetTotalSize(), 0u);
  Load(1000);
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const auto files = manager->GetTrackedFiles();
  ASSERT_FALSE(files.empty());
  uint64_t sum = 0;
  for (const auto& [path, bytes] : files) {
    uint64_t size = 0;
    ASSERT_TRUE(env_->GetFileSize(path, &size).ok()) << path;
    EXPECT_EQ(size, bytes);
    sum += bytes;
  }
  EXPECT_EQ(manager->GetTotalSize(), sum);
  CloseDb();
  EXPECT_EQ(manager->GetTotalSize(), 0u);
  OpenDb();
  EXPECT_EQ(manager->GetTotalSize(), sum);
  manager->SetMaxAllowedSpaceUsage(sum + 10000);
  EXPECT_FALSE(manager->IsMaxAllowedSpaceReached());
  manager->SetCompactionBufferSize(20000);
  EXPECT_TRUE(manager->IsMaxAllowedSpaceReachedIncludingCompactions());
  Status s;
  for (int i = 0; s.ok() && i < 100000; ++i) s = Put(Key(i), std::string(100, 'x'));
  EXPECT_EQ(s.subcode(), Status::SubCode::kSpaceLimit) << s.ToString();
  EXPECT_NE(Get(Key(7)), "NOT_FOUND");  // reads continue
  EXPECT_EQ(Put("k", "v").subcode(), Status::SubCode::kSpaceLimit);
  manager->SetMaxAllowedSpaceUsage(0);
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(Put("k", "v").ok());
}

TEST_F(ObservationTest, TheFlushBeyondTheAllowedSpaceSaysSo) {
  std::shared_ptr<rocksdb::SstFileManager> manager(rocksdb::NewSstFileManager(env_.get()));
  options_.sst_file_manager = manager;
  OpenDb();
  manager->SetMaxAllowedSpaceUsage(1);
  ASSERT_TRUE(Put("k", "v").ok());
  const Status s = db_->Flush(rocksdb::FlushOptions());
  EXPECT_EQ(s.subcode(), Status::SubCode::kSpaceLimit) << s.ToString();
  EXPECT_EQ(Get("k"), "v");
  manager->SetMaxAllowedSpaceUsage(0);
  ASSERT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
}

TEST_F(ObservationTest, ObsoleteFilesWaitAsTrash) {
  std::shared_ptr<rocksdb::SstFileManager> manager(rocksdb::NewSstFileManager(
      env_.get(), nullptr, "", /*rate_bytes_per_sec=*/1, true, nullptr, /*max_trash_db_ratio=*/10));
  options_.sst_file_manager = manager;
  options_.enable_blob_files = true;  // of the value store, too
  options_.min_blob_size = 1000;
  OpenDb();
  const auto trash = [&] {
    std::vector<std::string> names, found;
    EXPECT_TRUE(fs_->GetChildren(name_, &names).ok());
    for (const std::string& name : names) {
      if (name.find(".trash") != std::string::npos) found.push_back(name);
    }
    return found;
  };
  for (int round = 0; round < 4; ++round) {
    Load(1000);
    ASSERT_TRUE(Put("large", std::string(5000, 'v')).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
  ASSERT_FALSE(trash().empty());
  EXPECT_GT(manager->GetTotalTrashSize(), 0u);
  const std::string before = Get(Key(7));
  CloseDb();
  // Files whose deletion is pending at the close are deleted at the next open.
  options_.sst_file_manager = manager = nullptr;
  ASSERT_FALSE(trash().empty());
  OpenDb();
  EXPECT_TRUE(trash().empty());
  EXPECT_EQ(Get(Key(7)), before);
  CloseDb();
  std::unique_ptr<WritableFile> left;
  ASSERT_TRUE(fs_->NewWritableFile(name_ + "/000099.ph.trash", FileOptions(), &left).ok());
  ASSERT_TRUE(left->Close().ok());
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_FALSE(fs_->FileExists(name_).ok());
}

TEST_F(ObservationTest, ThreadsAreListed) {
  options_.enable_thread_tracking = true;
  OpenDb();
  Load(10);
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  std::vector<rocksdb::ThreadStatus> threads;
  ASSERT_TRUE(env_->GetThreadList(&threads).ok());
  EXPECT_FALSE(threads.empty());
  for (const rocksdb::ThreadStatus& thread : threads) {
    EXPECT_LT(thread.thread_type, rocksdb::ThreadStatus::NUM_THREAD_TYPES);
  }
}

TEST_F(ObservationTest, AManagerOfTheApplicationsOwnIsRefused) {
  class Other : public rocksdb::SstFileManager {
   public:
    void SetMaxAllowedSpaceUsage(uint64_t) override {}
    void SetCompactionBufferSize(uint64_t) override {}
    bool IsMaxAllowedSpaceReached() override { return false; }
    bool IsMaxAllowedSpaceReachedIncludingCompactions() override { return false; }
    uint64_t GetTotalSize() override { return 0; }
    std::unordered_map<std::string, uint64_t> GetTrackedFiles() override { return {}; }
    int64_t GetDeleteRateBytesPerSecond() override { return 0; }
    void SetDeleteRateBytesPerSecond(int64_t) override {}
    double GetMaxTrashDBRatio() override { return 0; }
    void SetMaxTrashDBRatio(double) override {}
    uint64_t GetTotalTrashSize() override { return 0; }
    void SetStatisticsPtr(const std::shared_ptr<rocksdb::Statistics>&) override {}
  };
  options_.sst_file_manager = std::make_shared<Other>();
  EXPECT_TRUE(TryOpen().IsNotSupported());
}

}  // namespace
}  // namespace compassdb
