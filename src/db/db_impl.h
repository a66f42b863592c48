// SPDX-License-Identifier: Apache-2.0
// The database: rocksdb::DB over column families, write-ahead logs, one
// manifest and background work. It forwards to parts that own their state: WritePath,
// Reader, FamilyManager and others.
//
// Thread safety: all public methods, except that Close and the destructor run
// alone. mu_ guards members that are marked so.
//
// Lock order (outermost first):
//   front of the write queue (WriteThread)
//   > database mutex mu_ > { ColumnFamilySet, ReadStateHolder, SnapshotList,
//     ErrorHandler, ExtentLedger, scheduler: leaf locks }
//   WalSet's lock is taken at the front or without any lock, never under mu_.
//   The locks of SpaceReclaimer's passes are taken without any other lock held.
// No I/O with mu_ held; a manifest commit has a turn (CommitQueue) instead.
// Listeners are called without any of these locks, though a listener of a
// memtable switch runs at the front of the write queue.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/copy/follow_log.h"
#include "db/copy/live_files.h"
#include "db/copy/table_exporter.h"
#include "db/families/family_histories.h"
#include "db/families/family_manager.h"
#include "db/families/option_setter.h"
#include "db/jobs/auto_resume.h"
#include "db/jobs/background_jobs.h"
#include "db/jobs/commit.h"
#include "db/jobs/error_handler.h"
#include "db/jobs/error_reporter.h"
#include "db/jobs/family_changes.h"
#include "db/jobs/flusher.h"
#include "db/jobs/ingester.h"
#include "db/jobs/job.h"
#include "db/jobs/manifest_state.h"
#include "db/jobs/manual_compactions.h"
#include "db/jobs/resumer.h"
#include "db/jobs/scheduler.h"
#include "db/open/database_parts.h"
#include "db/open/db_config.h"
#include "db/open/secondary.h"
#include "db/read/reader.h"
#include "db/read/snapshot_list.h"
#include "db/report/event_log.h"
#include "db/report/info_log.h"
#include "db/report/listeners.h"
#include "db/report/metadata.h"
#include "db/report/reports.h"
#include "db/space/space_reclaimer.h"
#include "db/write/write_path.h"
#include "family/column_family.h"
#include "manifest/ownership.h"
#include "rocksdb/db.h"
#include "store/levels.h"
#include "store/store.h"
#include "trace/tracing.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::Range;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class DBImpl : public rocksdb::DB {
 public:
  // `lock`: null for a database that is only read. The caller then opens it: it fills the parts.
  explicit DBImpl(DbConfig config, std::unique_ptr<Ownership> ownership = nullptr,
                  std::unique_ptr<FileLock> lock = nullptr);
  ~DBImpl() override;
  const DatabaseParts& parts() const { return parts_; }
  // It is a secondary instance; `secondary` knows the primary.
  void Follow(const std::vector<std::string>& tables, std::unique_ptr<LinkDir> links, std::set<std::string> names);
  Secondary* secondary() const { return secondary_.get(); }  // null: not a secondary
  // Recovery has ended, and the database is not read-only: background work begins.
  void StartWork() EXCLUDES(mu_);
  // The process that opened it. GuardedDB checks it; calls that bypass rocksdb::DB check it here.
  const ProcessMark& process() const { return process_; }

  // Lifetime (db_impl.cc).
  Status Close() override;
  Status Resume() override;
  Status TryCatchUpWithPrimary() override;

  // Column families (FamilyManager).
  Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override { return DropColumnFamilies({handle}); }
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override {
    return family_manager_.DestroyHandle(handle);
  }
  ColumnFamilyHandle* DefaultColumnFamily() const override { return family_manager_.default_handle(); }

  // Writes (WritePath).
  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override {
    return write_path_.Put(options, family, key, value);
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& ts, const Slice& value) override {
    return write_path_.Put(options, family, key, ts, value);
  }
  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                const Slice& key) override {
    return write_path_.Delete(options, family, key);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                const Slice& ts) override {
    return write_path_.Delete(options, family, key, ts);
  }
  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) override {
    return write_path_.SingleDelete(options, family, key);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) override {
    return write_path_.SingleDelete(options, family, key, ts);
  }
  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override {
    return write_path_.DeleteRange(options, family, begin, end);
  }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end, const Slice& ts) override {
    return write_path_.DeleteRange(options, family, begin, end, ts);
  }
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const rocksdb::WideColumns& columns) override {
    return write_path_.PutEntity(options, family, key, columns);
  }
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override {
    return write_path_.Merge(options, family, key, value);
  }
  Status Write(const WriteOptions& options, WriteBatch* batch) override { return write_path_.Write(options, batch); }
  Status FlushWAL(bool sync) override { return write_path_.FlushLog(sync); }
  Status SyncWAL() override { return write_path_.FlushLog(/*sync=*/true); }
  Status LockWAL() override { return write_path_.LockLog(); }
  Status UnlockWAL() override { return write_path_.UnlockLog(); }
  rocksdb::SequenceNumber GetLatestSequenceNumber() const override {
    return front_.last_sequence.load(std::memory_order_acquire);
  }

  // For transactions. Batches may hold marks of two-phase commit.
  Status WriteForTransaction(const WriteOptions& options, WriteBatch* batch, const TransactionWrite& write) {
    return process_.Inherited() ? InheritedStatus() : write_path_.Write(options, batch, write, /*marks=*/true);
  }
  // Logs a section, which is open afterwards.
  Status LogSection(const WriteOptions& options, const std::shared_ptr<PreparedSection>& section) {
    return process_.Inherited() ? InheritedStatus() : write_path_.LogSection(options, section);
  }
  std::shared_ptr<ColumnFamily> FamilyById(uint32_t id) const {
    return process_.Inherited() ? nullptr : families_.ById(id);
  }
  // The prepared sections that recovery found; once.
  RecoveredTransactions TakeRecoveredTransactions() { return front_.open_sections.TakeRecovered(); }
  Status NewestSequence(ColumnFamilyHandle* family, const Slice& key, SequenceNumber since,
                        SequenceNumber* newest, std::string* time = nullptr) {
    if (process_.Inherited()) return InheritedStatus();
    return reader_.NewestSequence(family, key, since, newest, time);
  }

  // Point reads (Reader).
  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value) override {
    return reader_.Get(options, family, key, value, nullptr);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override {
    return reader_.Get(options, family, key, value, timestamp);
  }
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   rocksdb::PinnableWideColumns* columns) override {
    return reader_.GetEntity(options, family, key, columns);
  }
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family,
                          const Slice& key, PinnableSlice* operands,
                          rocksdb::GetMergeOperandsOptions* merge_options,
                          int* number_of_operands) override {
    return reader_.GetMergeOperands(options, family, key, operands, merge_options, number_of_operands);
  }
  using DB::MultiGet;
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override {
    return reader_.MultiGet(options, families, keys, values, nullptr);
  }
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values,
                               std::vector<std::string>* timestamps) override {
    return reader_.MultiGet(options, families, keys, values, timestamps);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override {
    reader_.MultiGet(options, family, num_keys, keys, values, nullptr, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, std::string* timestamps,
                Status* statuses, bool sorted_input) override {
    reader_.MultiGet(options, family, num_keys, keys, values, timestamps, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps,
                Status* statuses, bool sorted_input) override {
    reader_.MultiGet(options, num_keys, families, keys, values, timestamps, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override {
    reader_.MultiGet(options, num_keys, families, keys, values, nullptr, statuses, sorted_input);
  }
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override {
    return reader_.KeyMayExist(options, family, key, value, timestamp, value_found);
  }

  // Iterators and snapshots (Reader, SnapshotList).
  using DB::NewIterator;
  rocksdb::Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override {
    return reader_.NewIterator(options, family);
  }
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<rocksdb::Iterator*>* iterators) override {
    return reader_.NewIterators(options, families, iterators);
  }
  const rocksdb::Snapshot* GetSnapshot() override {
    return snapshots_.New(static_cast<int64_t>(config_.clock->NowMicros() / 1000000));
  }
  void ReleaseSnapshot(const rocksdb::Snapshot* snapshot) override { snapshots_.Release(snapshot); }

  // Properties and statistics.
  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override {
    return reports_.GetProperty(FamilyOf(family), property.ToString(), value);
  }
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* family, const Slice& property,
                      std::map<std::string, std::string>* value) override {
    return reports_.GetMapProperty(FamilyOf(family), property.ToString(), value);
  }
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) override {
    return reports_.GetIntProperty(FamilyOf(family), property.ToString(), value);
  }
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override {
    return reports_.GetAggregatedIntProperty(property.ToString(), value);
  }
  Status GetStatsHistory(uint64_t begin, uint64_t end,
                         std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) override {
    return reports_.GetStatsHistory(begin, end, iterator);
  }
  Status ResetStats() override {
    reports_.ResetStats();
    return Status::OK();
  }

  // Flushes and compactions (Flusher, ManualCompactions, BackgroundJobs).
  using DB::Flush;
  Status Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) override;
  Status Flush(const rocksdb::FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& families) override;
  using DB::CompactRange;
  Status CompactRange(const rocksdb::CompactRangeOptions& options, ColumnFamilyHandle* family,
                      const Slice* begin, const Slice* end) override;
  using DB::CompactFiles;
  Status CompactFiles(const rocksdb::CompactionOptions& options, ColumnFamilyHandle* family,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id, std::vector<std::string>* output_file_names,
                      rocksdb::CompactionJobInfo* info) override;
  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* family, const Slice* begin,
                             const Slice* end) override;
  Status PromoteL0(ColumnFamilyHandle* family, int target_level) override;
  Status WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options);  // WaitForCompact
  // For rocksdb::DeleteFilesInRanges.
  Status DropTables(ColumnFamilyHandle* family, const rocksdb::RangePtr* ranges, size_t n,
                    bool include_end);
  Status PauseBackgroundWork() override {
    jobs_.Pause();
    return Status::OK();
  }
  // For rocksdb::CancelAllBackgroundWork: no flush or compaction starts from now on.
  void CancelBackgroundWork(bool wait);
  Status ContinueBackgroundWork() override { return jobs_.Continue(); }
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& families) override;
  void DisableManualCompaction() override { manual_compactions_.Disable(); }
  void EnableManualCompaction() override { manual_compactions_.Enable(); }

  // Options (OptionSetter).
  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* family,
                    const std::unordered_map<std::string, std::string>& options) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& options) override;
  using DB::GetOptions;
  rocksdb::Options GetOptions(ColumnFamilyHandle* family) const override;
  rocksdb::DBOptions GetDBOptions() const override { return option_setter_.DbOptions(); }

  // Files and sizes on disk.
  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const rocksdb::SizeApproximationOptions& options, ColumnFamilyHandle* family,
                             const Range* ranges, int n, uint64_t* sizes) override {
    return metadata_.ApproximateSizes(options, FamilyOf(family), ranges, n, sizes);
  }
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* family, const Range& range, uint64_t* count,
                                   uint64_t* size) override {
    metadata_.ApproximateMemTableStats(FamilyOf(family), range, count, size);
  }
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* family) override { return FamilyOf(family)->store()->options().num_levels; }
  using DB::MaxMemCompactionLevel;
  int MaxMemCompactionLevel(ColumnFamilyHandle*) override { return 0; }
  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* family) override { return FamilyOf(family)->settings.level0_stop; }
  const std::string& GetName() const override { return config_.name; }
  rocksdb::Env* GetEnv() const override { return config_.options.env; }
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override {
    *creation_time = metadata_.OldestCreationTime();
    return Status::OK();
  }
  void GetLiveFilesMetaData(std::vector<rocksdb::LiveFileMetaData>* metadata) override {
    *metadata = metadata_.LiveFiles();
  }
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* family, rocksdb::ColumnFamilyMetaData* metadata) override {
    metadata_.OfFamily(FamilyOf(family), metadata);
  }
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override {
    *metadata = metadata_.OfAllFamilies();
  }
  Status LoadIndex(ColumnFamilyHandle* handle);  // compassdb/index.h
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions&) override { return live_files_.VerifyChecksum(); }
  Status VerifyFileChecksums(const ReadOptions& options) override { return live_files_.VerifyFileChecksums(options); }
  Status GetDbIdentity(std::string& identity) const override {
    identity = manifest_state_.db_id();
    return Status::OK();
  }
  Status GetDbSessionId(std::string& session_id) const override {
    session_id = config_.session_id;
    return Status::OK();
  }
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* family, rocksdb::TablePropertiesCollection* props) override {
    return metadata_.PropertiesOfTables(FamilyOf(family), nullptr, 0, props);
  }
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* family, const Range* range, size_t n,
                                      rocksdb::TablePropertiesCollection* props) override {
    return metadata_.PropertiesOfTables(FamilyOf(family), range, n, props);
  }

  // The files of a copy.
  Status DisableFileDeletions() override;
  Status EnableFileDeletions(bool force) override;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size, bool flush_memtable) override {
    return live_files_.GetLiveFiles(&files, manifest_file_size, flush_memtable);
  }
  Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                 std::vector<rocksdb::LiveFileStorageInfo>* files) override {
    return live_files_.GetStorageInfo(options, files);
  }
  Status GetLiveFilesChecksumInfo(rocksdb::FileChecksumList* list) override {
    return live_files_.GetChecksumInfo(list);
  }

  // The logs.
  Status GetSortedWalFiles(rocksdb::VectorLogPtr& files) override { return log_follower_.GetSortedWalFiles(&files); }
  Status GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) override {
    return log_follower_.GetCurrentWalFile(file);
  }
  Status GetUpdatesSince(rocksdb::SequenceNumber sequence,
                         std::unique_ptr<rocksdb::TransactionLogIterator>* iterator,
                         const rocksdb::TransactionLogIterator::ReadOptions&) override {
    return log_follower_.GetUpdatesSince(sequence, iterator);
  }

  // Tables from outside (Ingester).
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* family,
                            const std::vector<std::string>& external_files,
                            const rocksdb::IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) override;
  Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                      const std::string& name,
                                      const rocksdb::ImportColumnFamilyOptions& import_options,
                                      const rocksdb::ExportImportFilesMetaData& metadata,
                                      ColumnFamilyHandle** handle) override;
  // Flushes, and writes all of the family into a table file; an empty family gives none.
  Status ExportTable(ColumnFamilyHandle* handle, const std::string& path,
                     rocksdb::LiveFileMetaData* metadata, bool* written);

  Status ForEachRecord(ColumnFamilyHandle* handle, const Slice& begin, const Slice& end,
                       const std::function<bool(const ParsedInternalKey&, const Slice&)>& f) {
    return process_.Inherited() ? InheritedStatus() : reader_.ForEachRecord(handle, begin, end, f);
  }

  // Traces of reads and writes (trace.cc).
  Status StartTrace(const rocksdb::TraceOptions& options,
                    std::unique_ptr<rocksdb::TraceWriter>&& writer) override;
  Status EndTrace() override;
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                            std::unique_ptr<rocksdb::TraceReader>&& reader,
                            std::unique_ptr<rocksdb::Replayer>* replayer) override;

  // A null handle means the default family.
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* family, std::string ts_low) override {
    return family_histories_.Raise(SharedFamilyOf(family != nullptr ? family : DefaultColumnFamily()), ts_low);
  }
  Status GetFullHistoryTsLow(ColumnFamilyHandle* family, std::string* ts_low) override {
    return FamilyHistories::Low(*FamilyOf(family != nullptr ? family : DefaultColumnFamily()), ts_low);
  }
  Status DeleteFile(std::string name) override;  // NotSupported

 protected:
  // Ends all jobs and closes all files; once. The destructor of the most derived class calls it.
  Status Shutdown();

 private:
  Status CheckWritable(const char* method) const { return config_.CheckWritable(method); }

  const ProcessMark process_;
  DbConfig config_;
  const bool read_only_ = config_.read_only();
  StoreContext store_context_;
  std::unique_ptr<FileLock> lock_;
  const std::unique_ptr<Ownership> ownership_;  // null: opened by a part of the engine, to read it
  const std::unique_ptr<FileCache> files_;
  const std::unique_ptr<ExtentLedger> ledger_;
  std::unique_ptr<Secondary> secondary_;
  Listeners listeners_;
  const EventLog event_log_;

  mutable Mutex mu_;
  CondVar background_changed_;  // jobs ended, states installed, errors
  ColumnFamilySet families_;
  ManifestState manifest_state_{&mu_, families_, *ledger_, front_};
  CommitQueue commits_;
  SpareFiles spare_files_{config_.fs, PieceFileName, [this] { return commits_.NewNumber(); }};
  WriteFront front_;
  ErrorHandler errors_;
  std::atomic<bool> shutting_down_{false};
  std::atomic<int> next_job_id_{1};
  AutoResume auto_resume_{config_, listeners_, errors_, *files_->dirs(), space_, resumer_};
  ErrorReporter error_reporter_{config_, listeners_, front_.logs, errors_, auto_resume_, &mu_, &background_changed_};
  Scheduler scheduler_;
  const JobEnvironment job_environment_{manifest_state_.db_id(), config_, listeners_, event_log_, &mu_, &background_changed_, families_,
                                        &commits_, &stalls_, &snapshots_, &next_job_id_, &shutting_down_, &space_,
                                        &errors_, &error_reporter_};
  const MemTableFlush::Deps flush_deps_{&front_.logs, front_.unlogged_data};
  BackgroundJobs jobs_{job_environment_, flush_deps_, scheduler_};
  SnapshotList snapshots_{&front_.last_sequence, &mu_, &jobs_};
  SpaceReclaimer space_;
  WriteStalls stalls_{config_, listeners_, families_, &mu_, &background_changed_};
  MemTableSwitch memtable_switch_{config_, front_, &mu_, families_, stalls_, listeners_, jobs_};
  bool closed_ GUARDED_BY(mu_) = false;

  Flusher flusher_{job_environment_, front_, memtable_switch_, jobs_};
  Resumer resumer_{job_environment_, front_, jobs_, flusher_};
  FamilyChanges family_changes_{config_, stalls_, memtable_switch_, jobs_, &mu_};
  ManualCompactions manual_compactions_{job_environment_, jobs_, flusher_};
  Tracing tracing_;
  WriteAdmission write_admission_{config_, front_, &mu_, families_, memtable_switch_, stalls_, space_, jobs_, errors_,
                                  error_reporter_, shutting_down_};
  WritePath write_path_{config_, front_, &mu_, families_, memtable_switch_, write_admission_, stalls_, errors_,
                        error_reporter_, tracing_, shutting_down_};
  Reader reader_{config_.clock, config_.options.statistics, store_context_.hasher, read_only_,
                 front_.last_sequence, front_.unlogged_data, &snapshots_, &tracing_, &mu_};
  FamilyFactory family_factory_{config_, store_context_, snapshots_, space_, &mu_};
  OptionsFiles options_files_{config_, ownership_.get(), &mu_, families_, commits_, *ledger_};
  FamilyManager family_manager_{config_, ownership_.get(), &mu_,
                                front_, errors_, commits_, manifest_state_, families_, family_factory_,
                                options_files_, space_, listeners_, family_changes_, error_reporter_};
  Ingester ingester_{job_environment_, front_, jobs_, flusher_, family_manager_};
  FamilyHistories family_histories_{config_, &mu_, commits_, space_};
  LiveFiles live_files_{config_, read_only_, families_, DatabaseFiles{*files_, *ledger_, commits_, front_.logs},
                        options_files_.number(), &mu_, flusher_};
  TableExporter table_exporter_{config_, read_only_, front_.last_sequence, reader_};
  LogFollower log_follower_{config_, front_.logs, front_.last_sequence};
  Metadata metadata_{manifest_state_.db_id(), families_, files_.get(), *ledger_};
  Reports reports_{{config_, families_, *ledger_, snapshots_, front_.logs, errors_, front_.written,
                    front_.last_sequence, mu_,
                    stalls_.controller(), jobs_}};
  OptionSetter option_setter_{config_, &mu_, front_.queue,
                              OptionUsers{store_context_, front_.logs, scheduler_, *reports_.stats_dump()},
                              families_, options_files_, space_, family_changes_};
  const DatabaseParts parts_{config_, ownership_.get(), store_context_, *files_, *ledger_, spare_files_, mu_,
                             families_, manifest_state_, commits_, front_, space_, family_factory_, family_manager_,
                             options_files_, live_files_, reports_, listeners_, event_log_, next_job_id_};

  // A callback that forks may return into the engine in the child: there waits and jobs end soon.
  const AtForks forks_{this, {.in_child = [](void* db) {
    static_cast<DBImpl*>(db)->shutting_down_ = true;
    static_cast<DBImpl*>(db)->manual_compactions_.Cancel();
  }}};
};

}  // namespace compassdb
