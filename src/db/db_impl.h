// SPDX-License-Identifier: Apache-2.0
// What DB::Open gives: forwards calls to the parts of its Engine. In a child of fork() it takes no
// lock: calls answer InheritedStatus(), or a value without meaning, and `delete` does nothing. Calls
// with a null handle are refused, too.
//
// Thread safety: all public methods, except that Close and the destructor run alone.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/extended_db.h"
#include "util/process.h"

namespace compassdb {

class Reader;
class WritePath;
struct Engine;
using rocksdb::Range;

class DBImpl final : public ExtendedDB {
 public:
  using Handles = std::vector<ColumnFamilyHandle*>;
  // `engine` is recovered. Its Start comes next.
  explicit DBImpl(std::unique_ptr<Engine> engine);
  ~DBImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(DBImpl, process_)

  // --- Lifetime, column families, options (db_impl.cc) ---
  Status Close() override;
  Status Resume() override;
  Status TryCatchUpWithPrimary() override;
  Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                              const std::vector<std::string>& names, Handles* handles) override;
  Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              Handles* handles) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override;
  Status DropColumnFamilies(const Handles& handles) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override;
  ColumnFamilyHandle* DefaultColumnFamily() const override;
  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* family,
                    const std::unordered_map<std::string, std::string>& options) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& options) override;
  using DB::GetOptions;
  rocksdb::Options GetOptions(ColumnFamilyHandle* family) const override;
  rocksdb::DBOptions GetDBOptions() const override;
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* family, std::string ts_low) override;
  Status GetFullHistoryTsLow(ColumnFamilyHandle* family, std::string* ts_low) override;
  const std::string& GetName() const override;
  rocksdb::Env* GetEnv() const override;
  Status GetDbIdentity(std::string& identity) const override;
  Status GetDbSessionId(std::string& session_id) const override;

  // --- Writes, reads, snapshots (db_impl_data.cc) ---
  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& ts, const Slice& value) override;
  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                const Slice& ts) override;
  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) override;
  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end, const Slice& ts) override;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const rocksdb::WideColumns& columns) override;
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status FlushWAL(bool sync) override;
  Status SyncWAL() override;
  Status LockWAL() override;
  Status UnlockWAL() override;
  rocksdb::SequenceNumber GetLatestSequenceNumber() const override;
  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   rocksdb::PinnableWideColumns* columns) override;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* operands, rocksdb::GetMergeOperandsOptions* merge_options,
                          int* number_of_operands) override;
  using DB::MultiGet;
  std::vector<Status> MultiGet(const ReadOptions& options, const Handles& families,
                               const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const Handles& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values,
                               std::vector<std::string>* timestamps) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override;
  using DB::NewIterator;
  rocksdb::Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status NewIterators(const ReadOptions& options, const Handles& families,
                      std::vector<rocksdb::Iterator*>* iterators) override;
  const rocksdb::Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const rocksdb::Snapshot* snapshot) override;

  // --- Flushes, compactions, tables from outside (db_impl_jobs.cc) ---
  using DB::Flush;
  Status Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) override;
  Status Flush(const rocksdb::FlushOptions& options, const Handles& families) override;
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
  Status PauseBackgroundWork() override;
  Status ContinueBackgroundWork() override;
  Status EnableAutoCompaction(const Handles& families) override;
  void DisableManualCompaction() override;
  void EnableManualCompaction() override;
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* family,
                            const std::vector<std::string>& external_files,
                            const rocksdb::IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) override;
  Status CreateColumnFamilyWithImport(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      const rocksdb::ImportColumnFamilyOptions& import_options,
      const rocksdb::ExportImportFilesMetaData& metadata, ColumnFamilyHandle** handle) override;

  // --- Reports, files, logs (db_impl_reports.cc), traces (trace/trace.cc) ---
  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override;
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* family, const Slice& property,
                      std::map<std::string, std::string>* value) override;
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override;
  Status GetStatsHistory(uint64_t begin, uint64_t end,
                         std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) override;
  Status ResetStats() override;
  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                             ColumnFamilyHandle* family, const Range* ranges, int n,
                             uint64_t* sizes) override;
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* family, const Range& range, uint64_t* count,
                                   uint64_t* size) override;
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* family) override;
  using DB::MaxMemCompactionLevel;
  int MaxMemCompactionLevel(ColumnFamilyHandle* family) override;
  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* family) override;
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override;
  void GetLiveFilesMetaData(std::vector<rocksdb::LiveFileMetaData>* metadata) override;
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* family,
                               rocksdb::ColumnFamilyMetaData* metadata) override;
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override;
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* family,
                                  rocksdb::TablePropertiesCollection* props) override;
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* family, const Range* range, size_t n,
                                      rocksdb::TablePropertiesCollection* props) override;
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options) override;
  Status VerifyFileChecksums(const ReadOptions& options) override;
  Status DisableFileDeletions() override;
  Status EnableFileDeletions(bool force) override;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable) override;
  Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                 std::vector<rocksdb::LiveFileStorageInfo>* files) override;
  Status GetLiveFilesChecksumInfo(rocksdb::FileChecksumList* list) override;
  Status GetSortedWalFiles(rocksdb::VectorLogPtr& files) override;
  Status GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) override;
  Status GetUpdatesSince(rocksdb::SequenceNumber sequence,
                         std::unique_ptr<rocksdb::TransactionLogIterator>* iterator,
                         const rocksdb::TransactionLogIterator::ReadOptions& options) override;
  Status DeleteFile(std::string name) override;
  Status StartTrace(const rocksdb::TraceOptions& options,
                    std::unique_ptr<rocksdb::TraceWriter>&& writer) override;
  Status EndTrace() override;
  Status NewDefaultReplayer(const Handles& handles, std::unique_ptr<rocksdb::TraceReader>&& reader,
                            std::unique_ptr<rocksdb::Replayer>* replayer) override;

  // --- ExtendedDB (db_impl_data.cc, db_impl_jobs.cc) ---
  const ProcessMark& process() const override { return process_; }
  Status WriteForTransaction(const WriteOptions& options, WriteBatch* batch,
                             const TransactionWrite& write) override;
  Status LogSection(const WriteOptions& options,
                    const std::shared_ptr<PreparedSection>& section) override;
  RecoveredTransactions TakeRecoveredTransactions() override;
  std::shared_ptr<ColumnFamily> FamilyById(uint32_t id) const override;
  Status NewestSequence(ColumnFamilyHandle* family, const Slice& key, SequenceNumber since,
                        SequenceNumber* newest, std::string* time) override;
  Status ForEachRecord(ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                       const RecordVisitor& visit) override;
  Status LoadIndex(ColumnFamilyHandle* family) override;
  Status WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options) override;
  void CancelBackgroundWork(bool wait) override;
  Status DropTables(ColumnFamilyHandle* family, const rocksdb::RangePtr* ranges, size_t n,
                    bool include_end) override;
  Status ExportTable(ColumnFamilyHandle* family, const std::string& path,
                     rocksdb::LiveFileMetaData* metadata, bool* written) override;

 private:
  bool Inherited() const { return process_.Inherited(); }
  // Whether a call with these handles is answered with Refusal(): in a child of fork(), or a null
  // handle.
  bool Refuses(const ColumnFamilyHandle* family) const {
    return family == nullptr || Inherited();
  }
  bool Refuses(std::span<ColumnFamilyHandle* const> families) const {
    return Inherited() || std::find(families.begin(), families.end(), nullptr) != families.end();
  }
  Status Refusal() const;
  // InheritedStatus, or NotSupported if the database is read-only. `method`: what was called.
  Status CheckWritable(const char* method) const;
  Status CheckWritable(const char* method, std::span<ColumnFamilyHandle* const> families) const;

  const ProcessMark process_;  // that opened it
  const std::unique_ptr<Engine> engine_;
  WritePath& write_path_;  // the engine's
  Reader& reader_;         // likewise
};

}  // namespace compassdb
