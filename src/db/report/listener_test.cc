// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/listener.h"

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "db/testing/db_test_util.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/table.h"

namespace compassdb {
namespace {

using rocksdb::FileOperationInfo;
using rocksdb::FileOperationType;

bool IsOf(const std::string& path, const std::string& part) {
  return path.find(part) != std::string::npos;
}

// Records all notifications.
class Recorder : public rocksdb::EventListener {
 public:
  bool ShouldBeNotifiedOnFileIO() override { return io; }
  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_TRUE(begun.emplace(info.file_path, info.job_id).second) << info.file_path;
    EXPECT_EQ(info.db_name, "/db");
    reasons.push_back(info.reason);
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    const auto it = begun.find(info.file_path);
    ASSERT_NE(it, begun.end()) << info.file_path;
    EXPECT_EQ(it->second, info.job_id);
    begun.erase(it);
    created.push_back(info);
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    deleting_jobs.insert(info.job_id);
  }
  void OnBlobFileCreationStarted(const rocksdb::BlobFileCreationBriefInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_TRUE(begun.emplace(info.file_path, info.job_id).second) << info.file_path;
  }
  void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_EQ(begun.erase(info.file_path), 1u) << info.file_path;
    value_statuses.push_back(info.status);
  }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    flushes.push_back(info);
  }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    compactions_begun.push_back(info);
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_TRUE(open_parts.empty());
    compactions.push_back(info);
  }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_TRUE(open_parts.emplace(info.job_id, info.subcompaction_job_id).second);
  }
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    EXPECT_EQ(open_parts.erase({info.job_id, info.subcompaction_job_id}), 1u);
    parts.push_back(info);
  }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    recoveries.push_back(info.new_bg_error);
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, Status* error) override {
    const std::lock_guard<std::mutex> lock(mu);
    errors.push_back(reason);
    if (dismisses) *error = Status::OK();
  }
  void OnIOError(const rocksdb::IOErrorInfo& info) override {
    const std::lock_guard<std::mutex> lock(mu);
    io_errors.emplace_back(info.operation, info.file_path);
    EXPECT_FALSE(info.io_status.ok());
  }
  void OnFileReadFinish(const FileOperationInfo& info) override { Add(info, FileOperationType::kRead); }
  void OnFileWriteFinish(const FileOperationInfo& info) override { Add(info, FileOperationType::kWrite); }
  void OnFileFlushFinish(const FileOperationInfo& info) override { Add(info, FileOperationType::kFlush); }
  void OnFileSyncFinish(const FileOperationInfo& info) override { Add(info, FileOperationType::kSync); }
  void OnFileTruncateFinish(const FileOperationInfo& info) override {
    Add(info, FileOperationType::kTruncate);
  }
  void OnFileCloseFinish(const FileOperationInfo& info) override { Add(info, FileOperationType::kClose); }

  // The number of files whose path has the part, and their bytes.
  std::pair<int, uint64_t> Operations(FileOperationType type, const std::string& part) {
    const std::lock_guard<std::mutex> lock(mu);
    std::pair<int, uint64_t> sum{0, 0};
    for (const Operation& o : operations) {
      if (o.type != type || !IsOf(o.path, part)) continue;
      ++sum.first;
      sum.second += o.length;
    }
    return sum;
  }
  void Forget() {
    const std::lock_guard<std::mutex> lock(mu);
    operations.clear();
  }

  struct Operation {
    FileOperationType type;
    std::string path;
    uint64_t offset, length;
  };
  bool io = false;
  std::mutex mu;
  std::map<std::string, int> begun;  // files that have not ended
  std::vector<rocksdb::TableFileCreationReason> reasons;
  std::vector<rocksdb::TableFileCreationInfo> created;
  std::vector<Status> value_statuses;
  std::set<int> deleting_jobs;
  std::vector<rocksdb::FlushJobInfo> flushes;
  std::vector<rocksdb::CompactionJobInfo> compactions_begun, compactions;
  std::set<std::pair<int, int>> open_parts;
  std::vector<rocksdb::SubcompactionJobInfo> parts;
  std::vector<Status> recoveries;
  std::vector<rocksdb::BackgroundErrorReason> errors;
  bool dismisses = false;  // errors
  std::vector<std::pair<FileOperationType, std::string>> io_errors;
  std::vector<Operation> operations;

 private:
  void Add(const FileOperationInfo& info, FileOperationType expected) {
    EXPECT_EQ(info.type, expected);
    EXPECT_GE(info.duration.count(), 0);
    const std::lock_guard<std::mutex> lock(mu);
    operations.push_back({info.type, info.path, info.offset, info.length});
  }
};

class ListenerTest : public DbTest {
 protected:
  ListenerTest() { options_.listeners.push_back(recorder_); }
  // Compactions are manual only, and in up to `parts` parts.
  void OpenForParts(int parts) {
    options_.disable_auto_compactions = true;
    options_.max_subcompactions = static_cast<uint32_t>(parts);
    options_.write_buffer_size = 8 << 20;
    options_.target_file_size_base = 16 << 10;
    OpenDb();
  }
  void Fill(int from, int n) {
    for (int i = from; i < from + n; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  }
  Status Flush() { return db_->Flush(rocksdb::FlushOptions()); }

  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(ListenerTest, EveryFileThatBeginsEnds) {
  options_.disable_auto_compactions = true;
  OpenDb();
  Fill(0, 100);
  ASSERT_TRUE(Flush().ok());
  Fill(50, 100);
  ASSERT_TRUE(Flush().ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  CloseDb();
  EXPECT_TRUE(recorder_->begun.empty());
  ASSERT_EQ(recorder_->created.size(), 3u);
  EXPECT_EQ(recorder_->created[0].reason, rocksdb::TableFileCreationReason::kFlush);
  EXPECT_EQ(recorder_->created[0].table_properties.num_entries, 100u);
  EXPECT_EQ(recorder_->created[2].reason, rocksdb::TableFileCreationReason::kCompaction);
  EXPECT_EQ(recorder_->created[2].table_properties.num_entries, 150u);
  for (const auto& info : recorder_->created) EXPECT_GT(info.file_size, 0u);
  ASSERT_EQ(recorder_->flushes.size(), 2u);
  EXPECT_EQ(recorder_->flushes[1].smallest_seqno, 101u);
  EXPECT_EQ(recorder_->flushes[1].largest_seqno, 200u);
  ASSERT_EQ(recorder_->compactions.size(), 1u);
  const rocksdb::CompactionJobInfo& begin = recorder_->compactions_begun[0];
  const rocksdb::CompactionJobInfo& end = recorder_->compactions[0];
  EXPECT_EQ(begin.input_files, end.input_files);
  EXPECT_EQ(begin.input_files.size(), 2u);
  EXPECT_EQ(begin.input_file_infos.size(), 2u);
  EXPECT_TRUE(begin.output_files.empty());
  EXPECT_EQ(end.output_files, std::vector<std::string>{recorder_->created[2].file_path});
  EXPECT_EQ(end.table_properties.size(), 3u);
  EXPECT_EQ(end.table_properties.at(end.output_files[0])->num_entries, 150u);
  EXPECT_FALSE(recorder_->deleting_jobs.empty());
}

TEST_F(ListenerTest, AFlushWhoseErrorIsDismissedIsTriedAgainLater) {
  recorder_->dismisses = true;
  OpenDb();
  Fill(0, 10);
  fs_->FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  rocksdb::FlushOptions flush;
  flush.wait = false;
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(db_->Flush(flush).ok());
  const auto errors = [this] {
    const std::lock_guard<std::mutex> lock(recorder_->mu);
    return recorder_->errors.size();
  };
  for (int i = 0; i < 10000 && errors() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const size_t reported = errors();
  EXPECT_GE(reported, 1u);
  EXPECT_EQ(IntProperty("rocksdb.background-errors"), 0u);
  // Each time it waits for as long as there is between attempts to resume.
  const auto pause = std::chrono::microseconds(options_.bgerror_resume_retry_interval);
  EXPECT_LE(reported, 1 + static_cast<size_t>((std::chrono::steady_clock::now() - begun) / pause));
  fs_->ClearFaults();
  ASSERT_TRUE(Flush().ok());
  EXPECT_TRUE(Put("k", "v").ok());
}

TEST_F(ListenerTest, FilesOfAFlushThatFailed) {
  OpenDb();
  Fill(0, 10);
  fs_->FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  EXPECT_TRUE(Flush().IsIOError());
  fs_->ClearFaults();
  {
    const std::lock_guard<std::mutex> lock(recorder_->mu);
    EXPECT_TRUE(recorder_->begun.empty());
    ASSERT_EQ(recorder_->created.size(), 1u);
    EXPECT_TRUE(recorder_->created[0].status.IsIOError());
    EXPECT_EQ(recorder_->created[0].file_size, 0u);
    ASSERT_EQ(recorder_->errors.size(), 1u);
    EXPECT_EQ(recorder_->errors[0], rocksdb::BackgroundErrorReason::kFlushNoWAL);
    EXPECT_TRUE(recorder_->flushes.empty());
  }
  ASSERT_TRUE(db_->Resume().ok());
  const std::lock_guard<std::mutex> lock(recorder_->mu);
  ASSERT_EQ(recorder_->recoveries.size(), 1u);
  EXPECT_TRUE(recorder_->recoveries[0].ok());
}

TEST_F(ListenerTest, ValueFilesEndToo) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  OpenDb();
  Fill(0, 100);
  ASSERT_TRUE(Flush().ok());
  fs_->FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  Fill(0, 100);
  EXPECT_TRUE(Flush().IsIOError());
  fs_->ClearFaults();
  const std::lock_guard<std::mutex> lock(recorder_->mu);
  EXPECT_TRUE(recorder_->begun.empty());
  ASSERT_EQ(recorder_->value_statuses.size(), 2u);
  EXPECT_TRUE(recorder_->value_statuses[0].ok());
  EXPECT_TRUE(recorder_->value_statuses[1].IsIOError());
  EXPECT_EQ(recorder_->flushes[0].blob_file_addition_infos.size(), 1u);
}

// Every value of a file becomes garbage once, moved or dropped, and all are garbage when the file is deleted. Until
// then the metadata says approximately how much of each file is garbage.
TEST_F(ListenerTest, GarbageOfValueFiles) {
  options_.enable_blob_files = options_.enable_blob_garbage_collection = true;
  options_.min_blob_size = 50;
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  Fill(0, 1000);
  ASSERT_TRUE(Flush().ok());
  Fill(0, 200);
  ASSERT_TRUE(Flush().ok());
  for (int i = 200; i < 250; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  ASSERT_TRUE(Flush().ok());
  rocksdb::ColumnFamilyMetaData metadata;
  const auto check_metadata = [&] {
    db_->GetColumnFamilyMetaData(&metadata);
    uint64_t bytes = 0, values = 0;
    for (const rocksdb::BlobMetaData& file : metadata.blob_files) {
      EXPECT_LE(file.garbage_blob_bytes, file.total_blob_bytes);
      EXPECT_LE(file.garbage_blob_count, file.total_blob_count);
      EXPECT_TRUE(file.garbage_blob_count == 0 || file.garbage_blob_bytes > 0);
      bytes += file.garbage_blob_bytes;
      values += file.garbage_blob_count;
    }
    EXPECT_EQ(bytes, IntProperty("rocksdb.live-blob-file-garbage-size"));
    return values;
  };
  EXPECT_GT(check_metadata(), 0u);
  EXPECT_GE(metadata.blob_files.size(), 2u);
  rocksdb::CompactRangeOptions forced;
  forced.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  forced.blob_garbage_collection_age_cutoff = 1;
  ASSERT_TRUE(db_->CompactRange(forced, nullptr, nullptr).ok());
  check_metadata();

  struct File {
    uint64_t added = 0, garbage = 0;
    std::string path;
  };
  std::map<uint64_t, File> files;
  uint64_t moved = 0, read = 0;
  {
    const std::lock_guard<std::mutex> lock(recorder_->mu);
    for (const auto& flush : recorder_->flushes) {
      for (const auto& info : flush.blob_file_addition_infos) {
        files[info.blob_file_number] = {info.total_blob_count, 0, info.blob_file_path};
      }
    }
    for (const auto& job : recorder_->compactions) {
      for (const auto& info : job.blob_file_addition_infos) {
        files[info.blob_file_number] = {info.total_blob_count, 0, info.blob_file_path};
        moved += info.total_blob_count;
      }
      for (const auto& info : job.blob_file_garbage_infos) {
        File& file = files[info.blob_file_number];
        file.garbage += info.garbage_blob_count;
        EXPECT_EQ(file.path, info.blob_file_path);
        EXPECT_GE(info.garbage_blob_bytes, 100 * info.garbage_blob_count);
      }
      if (job.blob_file_garbage_infos.empty()) continue;
      // A collection: values alone.
      read += job.stats.num_blobs_read;
      EXPECT_EQ(job.stats.total_input_bytes, 0u);
      EXPECT_EQ(job.stats.total_output_bytes, 0u);
      EXPECT_GE(job.stats.total_blob_bytes_read, 100 * job.stats.num_blobs_read);
    }
  }
  EXPECT_GT(moved, 0u);
  EXPECT_EQ(read, moved);
  std::set<uint64_t> there;
  for (const rocksdb::BlobMetaData& file : metadata.blob_files) there.insert(file.blob_file_number);
  int gone = 0;
  for (const auto& [number, file] : files) {
    EXPECT_LE(file.garbage, file.added) << number;
    if (there.count(number) != 0) continue;
    ++gone;
    EXPECT_EQ(file.garbage, file.added) << number;
  }
  EXPECT_GT(gone, 0);
  std::map<std::string, std::string> stats;
  ASSERT_TRUE(db_->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats));
  EXPECT_GT(std::stod(stats["compaction.Sum.WblobGB"]) * (1 << 30), 1200 * 100);
  EXPECT_GT(std::stod(stats["compaction.Sum.RblobGB"]) * (1 << 30), static_cast<double>(moved) * 100 * 0.99);
}

TEST_F(ListenerTest, ValuesThatCompactionsRead) {
  class KeepAll final : public rocksdb::CompactionFilter {
   public:
    const char* Name() const override { return "KeepAll"; }
    bool Filter(int, const Slice&, const Slice& value, std::string*, bool*) const override {
      EXPECT_EQ(value.size(), 100u);
      return false;
    }
  };
  const KeepAll keep;
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  options_.disable_auto_compactions = true;
  options_.compaction_filter = &keep;
  OpenDb();
  Fill(0, 100);
  ASSERT_TRUE(Flush().ok());
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
  const std::lock_guard<std::mutex> lock(recorder_->mu);
  uint64_t values = 0, bytes = 0;
  for (const auto& job : recorder_->compactions) {
    values += job.stats.num_blobs_read;
    bytes += job.stats.total_blob_bytes_read;
    EXPECT_TRUE(job.blob_file_garbage_infos.empty());  // the values stay where they are
  }
  EXPECT_EQ(values, 100u);
  EXPECT_EQ(bytes, 100u * 100u);
}

TEST_F(ListenerTest, PartsOfACompaction) {
  OpenForParts(4);
  for (int round = 0; round < 2; ++round) {
    Fill(0, 2000);
    ASSERT_TRUE(Flush().ok());
    recorder_->parts.clear();
    recorder_->compactions.clear();
    // The first makes the tables between which the second is cut.
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
  const std::lock_guard<std::mutex> lock(recorder_->mu);
  EXPECT_TRUE(recorder_->open_parts.empty());
  ASSERT_EQ(recorder_->compactions.size(), 1u);
  EXPECT_GT(recorder_->parts.size(), 1u);
  uint64_t out = 0, bytes = 0;
  std::set<int> ids;
  for (const auto& part : recorder_->parts) {
    EXPECT_EQ(part.stats.num_output_files, 1u);  // all write into one
    bytes += part.stats.total_output_bytes;
    EXPECT_TRUE(part.status.ok());
    EXPECT_EQ(part.job_id, recorder_->compactions[0].job_id);
    EXPECT_EQ(part.base_input_level, 0);
    EXPECT_EQ(part.output_level, 1);
    EXPECT_EQ(part.compaction_reason, rocksdb::CompactionReason::kManualCompaction);
    out += part.stats.num_output_records;
    ids.insert(part.subcompaction_job_id);
  }
  EXPECT_EQ(out, recorder_->compactions[0].stats.num_output_records);
  EXPECT_EQ(recorder_->compactions[0].stats.num_output_files, 1u);
  // The file's header and its job record are of no part.
  EXPECT_GT(recorder_->compactions[0].stats.total_output_bytes, bytes + 36);
  EXPECT_EQ(recorder_->created.back().file_size, recorder_->compactions[0].stats.total_output_bytes);
  EXPECT_EQ(*ids.begin(), 0);
  EXPECT_EQ(*ids.rbegin() + 1, static_cast<int>(recorder_->parts.size()));
}

TEST_F(ListenerTest, PartsOfACompactionThatFailed) {
  OpenForParts(3);
  for (int round = 0; round < 2; ++round) {
    Fill(0, 2000);
    ASSERT_TRUE(Flush().ok());
  }
  fs_->FailAll(FaultOp::kSync, ".ph", Status::IOError("injected"));
  EXPECT_FALSE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  fs_->ClearFaults();
  const std::lock_guard<std::mutex> lock(recorder_->mu);
  EXPECT_TRUE(recorder_->open_parts.empty());
  EXPECT_TRUE(recorder_->begun.empty());
  EXPECT_FALSE(recorder_->parts.empty());
  for (const auto& part : recorder_->parts) EXPECT_TRUE(part.status.IsIOError());
  ASSERT_EQ(recorder_->compactions.size(), 1u);
  EXPECT_TRUE(recorder_->compactions[0].status.IsIOError());
  EXPECT_EQ(recorder_->errors.back(), rocksdb::BackgroundErrorReason::kCompaction);
}

TEST_F(ListenerTest, TablesOfRecovery) {
  options_.avoid_flush_during_shutdown = true;
  OpenDb();
  Fill(0, 10);
  CloseDb();
  recorder_->reasons.clear();
  OpenDb();
  EXPECT_EQ(recorder_->reasons.size(), 1u);
  for (const auto reason : recorder_->reasons) {
    EXPECT_EQ(reason, rocksdb::TableFileCreationReason::kRecovery);
  }
  EXPECT_TRUE(recorder_->begun.empty());
}

TEST_F(ListenerTest, NoFileOperationsUnlessAsked) {
  OpenDb();
  Fill(0, 10);
  ASSERT_TRUE(Flush().ok());
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_FALSE(Put("a", "1", true).ok());
  EXPECT_TRUE(recorder_->operations.empty());
  EXPECT_TRUE(recorder_->io_errors.empty());
}

TEST_F(ListenerTest, FileOperations) {
  recorder_->io = true;
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 8 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  OpenDb();
  EXPECT_GT(recorder_->Operations(FileOperationType::kSync, "MANIFEST").first, 0);
  EXPECT_EQ(recorder_->Operations(FileOperationType::kWrite, "OPTIONS").first, 0);
  EXPECT_EQ(recorder_->Operations(FileOperationType::kWrite, "CURRENT").first, 0);
  recorder_->Forget();
  ASSERT_TRUE(Put(Key(1), std::string(1000, 'v'), true).ok());
  const auto log = recorder_->Operations(FileOperationType::kWrite, ".log");
  EXPECT_EQ(log.first, 1);
  EXPECT_GT(log.second, 1000u);
  EXPECT_EQ(recorder_->Operations(FileOperationType::kSync, ".log").first, 1);
  EXPECT_EQ(recorder_->Operations(FileOperationType::kWrite, ".ph").first, 0);
  Fill(2, 500);
  recorder_->Forget();
  ASSERT_TRUE(Flush().ok());
  EXPECT_GT(recorder_->Operations(FileOperationType::kWrite, ".ph").second, 50000u);
  EXPECT_GT(recorder_->Operations(FileOperationType::kSync, ".ph").first, 0);
  EXPECT_GT(recorder_->Operations(FileOperationType::kClose, ".ph").first, 0);
  EXPECT_GT(recorder_->Operations(FileOperationType::kSync, "MANIFEST").first, 0);
  // Reads of every sort: one, several at once, and ahead of a scan.
  recorder_->Forget();
  EXPECT_EQ(Get(Key(7)), std::string(100, 'v'));
  EXPECT_GT(recorder_->Operations(FileOperationType::kRead, ".ph").second, 0u);
  recorder_->Forget();
  std::vector<std::string> keys, values;
  for (int i = 2; i < 500; i += 3) keys.push_back(Key(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  for (const Status& s : db_->MultiGet(rocksdb::ReadOptions(), slices, &values)) EXPECT_TRUE(s.ok());
  EXPECT_GT(recorder_->Operations(FileOperationType::kRead, ".ph").second, 16000u);
  recorder_->Forget();
  EXPECT_FALSE(Scan().empty());
  EXPECT_GT(recorder_->Operations(FileOperationType::kRead, ".ph").second, 50000u);
  OpenDb();
  EXPECT_GT(recorder_->Operations(FileOperationType::kRead, "MANIFEST").first, 0);
}

TEST_F(ListenerTest, FailedFileOperations) {
  recorder_->io = true;
  OpenDb();
  Fill(0, 10);
  ASSERT_TRUE(Flush().ok());
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("a", "1", true).IsIOError());
  {
    const std::lock_guard<std::mutex> lock(recorder_->mu);
    ASSERT_EQ(recorder_->io_errors.size(), 1u);
    EXPECT_EQ(recorder_->io_errors[0].first, FileOperationType::kSync);
    EXPECT_TRUE(IsOf(recorder_->io_errors[0].second, ".log"));
    recorder_->io_errors.clear();
  }
  ASSERT_TRUE(db_->Resume().ok());
  OpenDb();
  recorder_->io_errors.clear();
  fs_->FailAll(FaultOp::kRead, ".ph", Status::IOError("injected"));
  EXPECT_NE(Get(Key(5)), std::string(100, 'v'));
  fs_->ClearFaults();
  ASSERT_FALSE(recorder_->io_errors.empty());
  EXPECT_EQ(recorder_->io_errors[0].first, FileOperationType::kRead);
}

TEST_F(ListenerTest, GivingUpToResume) {
  options_.max_bgerror_resume_count = 2;
  options_.bgerror_resume_retry_interval = 1000;
  OpenDb();
  Fill(0, 10);
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  EXPECT_TRUE(Flush().IsNoSpace());
  for (int i = 0; i < 10000; ++i) {
    {
      const std::lock_guard<std::mutex> lock(recorder_->mu);
      if (!recorder_->recoveries.empty()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fs_->ClearFaults();
  ASSERT_FALSE(recorder_->recoveries.empty());
  EXPECT_TRUE(recorder_->recoveries[0].IsAborted());
  EXPECT_TRUE(db_->Resume().ok());
  EXPECT_TRUE(recorder_->recoveries.back().ok());
}

// Calls back into the database from everywhere.
TEST_F(ListenerTest, MayCallTheDatabase) {
  class Caller : public rocksdb::EventListener {
   public:
    bool ShouldBeNotifiedOnFileIO() override { return true; }
    void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo&) override {
      current = db;
      Ask();
    }
    void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo&) override {
      rocksdb::FlushOptions flush;
      flush.wait = false;
      flush.allow_write_stall = true;  // or it waits for room that this thread is to make
      db->Flush(flush).PermitUncheckedError();
    }
    void OnMemTableSealed(const rocksdb::MemTableInfo&) override { Ask(); }
    void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo&) override { Ask(); }
    void OnTableFileCreated(const rocksdb::TableFileCreationInfo&) override { Ask(); }
    void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override { Ask(); }
    void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo&) override { Ask(); }
    void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { Ask(); }
    void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo&) override {}
    void OnFileReadFinish(const FileOperationInfo&) override { ++reads; }
    void Ask() {
      rocksdb::DB* const db = current;
      std::string value;
      if (db == nullptr) return;
      EXPECT_TRUE(db->GetProperty("rocksdb.stats", &value));
      ++asked;
    }
    std::atomic<rocksdb::DB*> current{nullptr};
    std::atomic<int> asked{0}, reads{0};
  };
  const auto caller = std::make_shared<Caller>();
  options_.listeners = {caller};
  options_.max_subcompactions = 4;
  // A stopped writer needs this thread's next flush, so a Flush behind that writer would wait without end.
  options_.max_write_buffer_number = 8;
  OpenDb();
  for (int round = 0; round < 6; ++round) {
    Fill(round * 100, 1000);
    ASSERT_TRUE(Put("a", "1", true).ok());
    ASSERT_TRUE(Flush().ok());
  }
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  caller->current = nullptr;
  EXPECT_GT(caller->asked, 20);
}

}  // namespace
}  // namespace compassdb
