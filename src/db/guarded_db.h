// SPDX-License-Identifier: Apache-2.0
// The database that DB::Open gives: DBImpl behind the check that the caller is in the process that
// opened it. In a child of fork() a method answers InheritedStatus(), or a value without meaning,
// before it takes a lock, and `delete` does nothing.
//
// Thread safety: that of DB. Invariant: every method of DB that DBImpl overrides is here.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "util/process.h"

namespace compassdb {

class GuardedDB final : public DBImpl {
 public:
  using DBImpl::DBImpl;
  COMPASSDB_DELETED_BY_ITS_PROCESS(GuardedDB, process())
  // Jobs call methods of this class, so they end before it does.
  ~GuardedDB() override { Shutdown().PermitUncheckedError(); }

  Status Close() override {
    return Inherited() ? InheritedStatus() : DBImpl::Close();
  }
  Status Resume() override {
    return Inherited() ? InheritedStatus() : DBImpl::Resume();
  }
  Status TryCatchUpWithPrimary() override {
    return Inherited() ? InheritedStatus() : DBImpl::TryCatchUpWithPrimary();
  }
  Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      ColumnFamilyHandle** handle) override {
    return Inherited() ? InheritedStatus() : DBImpl::CreateColumnFamily(options, name, handle);
  }
  Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
      const std::vector<std::string>& names, std::vector<ColumnFamilyHandle*>* handles) override {
    return Inherited() ? InheritedStatus() : DBImpl::CreateColumnFamilies(options, names, handles);
  }
  Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
      std::vector<ColumnFamilyHandle*>* handles) override {
    return Inherited() ? InheritedStatus() : DBImpl::CreateColumnFamilies(families, handles);
  }
  Status DropColumnFamily(ColumnFamilyHandle* handle) override {
    return Inherited() ? InheritedStatus() : DBImpl::DropColumnFamily(handle);
  }
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) override {
    return Inherited() ? InheritedStatus() : DBImpl::DropColumnFamilies(handles);
  }
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override {
    return Inherited() ? InheritedStatus() : DBImpl::DestroyColumnFamilyHandle(handle);
  }
  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const Slice& value) override {
    return Inherited() ? InheritedStatus() : DBImpl::Put(options, family, key, value);
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const Slice& ts, const Slice& value) override {
    return Inherited() ? InheritedStatus() : DBImpl::Put(options, family, key, ts, value);
  }
  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family,
      const Slice& key) override {
    return Inherited() ? InheritedStatus() : DBImpl::Delete(options, family, key);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const Slice& ts) override {
    return Inherited() ? InheritedStatus() : DBImpl::Delete(options, family, key, ts);
  }
  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
      const Slice& key) override {
    return Inherited() ? InheritedStatus() : DBImpl::SingleDelete(options, family, key);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const Slice& ts) override {
    return Inherited() ? InheritedStatus() : DBImpl::SingleDelete(options, family, key, ts);
  }
  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
      const Slice& end) override {
    return Inherited() ? InheritedStatus() : DBImpl::DeleteRange(options, family, begin, end);
  }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
      const Slice& end, const Slice& ts) override {
    return Inherited() ? InheritedStatus() : DBImpl::DeleteRange(options, family, begin, end, ts);
  }
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const rocksdb::WideColumns& columns) override {
    return Inherited() ? InheritedStatus() : DBImpl::PutEntity(options, family, key, columns);
  }
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
      const Slice& value) override {
    return Inherited() ? InheritedStatus() : DBImpl::Merge(options, family, key, value);
  }
  Status Write(const WriteOptions& options, WriteBatch* batch) override {
    return Inherited() ? InheritedStatus() : DBImpl::Write(options, batch);
  }
  Status FlushWAL(bool sync) override {
    return Inherited() ? InheritedStatus() : DBImpl::FlushWAL(sync);
  }
  Status SyncWAL() override {
    return Inherited() ? InheritedStatus() : DBImpl::SyncWAL();
  }
  Status LockWAL() override {
    return Inherited() ? InheritedStatus() : DBImpl::LockWAL();
  }
  Status UnlockWAL() override {
    return Inherited() ? InheritedStatus() : DBImpl::UnlockWAL();
  }
  rocksdb::SequenceNumber GetLatestSequenceNumber() const override {
    return Inherited() ? 0 : DBImpl::GetLatestSequenceNumber();
  }
  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
      PinnableSlice* value) override {
    return Inherited() ? InheritedStatus() : DBImpl::Get(options, family, key, value);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
      PinnableSlice* value, std::string* timestamp) override {
    return Inherited() ? InheritedStatus() : DBImpl::Get(options, family, key, value, timestamp);
  }
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
      rocksdb::PinnableWideColumns* columns) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetEntity(options, family, key, columns);
  }
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
      PinnableSlice* operands, rocksdb::GetMergeOperandsOptions* merge_options,
      int* number_of_operands) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetMergeOperands(options, family, key,
        operands, merge_options, number_of_operands);
  }
  using DB::MultiGet;
  std::vector<Status> MultiGet(const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& families, const std::vector<Slice>& keys,
      std::vector<std::string>* values) override {
    if (Inherited()) return std::vector<Status>(keys.size(), InheritedStatus());
    return DBImpl::MultiGet(options, families, keys, values);
  }
  std::vector<Status> MultiGet(const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& families, const std::vector<Slice>& keys,
      std::vector<std::string>* values, std::vector<std::string>* timestamps) override {
    if (Inherited()) return std::vector<Status>(keys.size(), InheritedStatus());
    return DBImpl::MultiGet(options, families, keys, values, timestamps);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
      const Slice* keys, PinnableSlice* values, Status* statuses, bool sorted_input) override {
    if (Inherited()) return std::fill_n(statuses, num_keys, InheritedStatus()), void();
    DBImpl::MultiGet(options, family, num_keys, keys, values, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
      const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
      bool sorted_input) override {
    if (Inherited()) return std::fill_n(statuses, num_keys, InheritedStatus()), void();
    DBImpl::MultiGet(options, family, num_keys, keys, values, timestamps, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
      const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
      bool sorted_input) override {
    if (Inherited()) return std::fill_n(statuses, num_keys, InheritedStatus()), void();
    DBImpl::MultiGet(options, num_keys, families, keys, values, timestamps, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
      const Slice* keys, PinnableSlice* values, Status* statuses, bool sorted_input) override {
    if (Inherited()) return std::fill_n(statuses, num_keys, InheritedStatus()), void();
    DBImpl::MultiGet(options, num_keys, families, keys, values, statuses, sorted_input);
  }
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
      std::string* value, std::string* timestamp, bool* value_found) override {
    if (!Inherited()) return DBImpl::KeyMayExist(options, family, key, value, timestamp,
        value_found);
    if (value_found != nullptr) *value_found = false;
    return true;
  }
  using DB::NewIterator;
  rocksdb::Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override {
    return Inherited() ? rocksdb::NewErrorIterator(InheritedStatus()) : DBImpl::NewIterator(options,
        family);
  }
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
      std::vector<rocksdb::Iterator*>* iterators) override {
    return Inherited() ? InheritedStatus() : DBImpl::NewIterators(options, families, iterators);
  }
  const rocksdb::Snapshot* GetSnapshot() override {
    return Inherited() ? nullptr : DBImpl::GetSnapshot();
  }
  void ReleaseSnapshot(const rocksdb::Snapshot* snapshot) override {
    if (!Inherited()) DBImpl::ReleaseSnapshot(snapshot);
  }
  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override {
    return !Inherited() && DBImpl::GetProperty(family, property, value);
  }
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* family, const Slice& property, std::map<std::string,
      std::string>* value) override {
    return !Inherited() && DBImpl::GetMapProperty(family, property, value);
  }
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) override {
    return !Inherited() && DBImpl::GetIntProperty(family, property, value);
  }
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override {
    return !Inherited() && DBImpl::GetAggregatedIntProperty(property, value);
  }
  Status GetStatsHistory(uint64_t begin, uint64_t end,
      std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetStatsHistory(begin, end, iterator);
  }
  Status ResetStats() override {
    return Inherited() ? InheritedStatus() : DBImpl::ResetStats();
  }
  using DB::Flush;
  Status Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) override {
    return Inherited() ? InheritedStatus() : DBImpl::Flush(options, family);
  }
  Status Flush(const rocksdb::FlushOptions& options,
      const std::vector<ColumnFamilyHandle*>& families) override {
    return Inherited() ? InheritedStatus() : DBImpl::Flush(options, families);
  }
  using DB::CompactRange;
  Status CompactRange(const rocksdb::CompactRangeOptions& options, ColumnFamilyHandle* family,
      const Slice* begin, const Slice* end) override {
    return Inherited() ? InheritedStatus() : DBImpl::CompactRange(options, family, begin, end);
  }
  using DB::CompactFiles;
  Status CompactFiles(const rocksdb::CompactionOptions& options, ColumnFamilyHandle* family,
      const std::vector<std::string>& input_file_names, int output_level, int output_path_id,
      std::vector<std::string>* output_file_names, rocksdb::CompactionJobInfo* info) override {
    return Inherited() ? InheritedStatus() : DBImpl::CompactFiles(options, family, input_file_names,
        output_level, output_path_id, output_file_names, info);
  }
  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* family, const Slice* begin,
      const Slice* end) override {
    return Inherited() ? InheritedStatus() : DBImpl::SuggestCompactRange(family, begin, end);
  }
  Status PromoteL0(ColumnFamilyHandle* family, int target_level) override {
    return Inherited() ? InheritedStatus() : DBImpl::PromoteL0(family, target_level);
  }
  Status PauseBackgroundWork() override {
    return Inherited() ? InheritedStatus() : DBImpl::PauseBackgroundWork();
  }
  Status ContinueBackgroundWork() override {
    return Inherited() ? InheritedStatus() : DBImpl::ContinueBackgroundWork();
  }
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& families) override {
    return Inherited() ? InheritedStatus() : DBImpl::EnableAutoCompaction(families);
  }
  void DisableManualCompaction() override {
    if (!Inherited()) DBImpl::DisableManualCompaction();
  }
  void EnableManualCompaction() override {
    if (!Inherited()) DBImpl::EnableManualCompaction();
  }
  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string,
      std::string>& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::SetOptions(family, options);
  }
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::SetDBOptions(options);
  }
  using DB::GetOptions;
  rocksdb::Options GetOptions(ColumnFamilyHandle* family) const override {
    return Inherited() ? rocksdb::Options() : DBImpl::GetOptions(family);
  }
  rocksdb::DBOptions GetDBOptions() const override {
    return Inherited() ? rocksdb::DBOptions() : DBImpl::GetDBOptions();
  }
  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
      ColumnFamilyHandle* family, const Range* ranges, int n, uint64_t* sizes) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetApproximateSizes(options, family, ranges, n,
        sizes);
  }
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* family, const Range& range, uint64_t* count,
      uint64_t* size) override {
    if (Inherited()) *count = *size = 0;
    else DBImpl::GetApproximateMemTableStats(family, range, count, size);
  }
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* family) override {
    return Inherited() ? 0 : DBImpl::NumberLevels(family);
  }
  using DB::MaxMemCompactionLevel;
  int MaxMemCompactionLevel(ColumnFamilyHandle* family) override {
    return Inherited() ? 0 : DBImpl::MaxMemCompactionLevel(family);
  }
  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* family) override {
    return Inherited() ? 0 : DBImpl::Level0StopWriteTrigger(family);
  }
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetCreationTimeOfOldestFile(creation_time);
  }
  void GetLiveFilesMetaData(std::vector<rocksdb::LiveFileMetaData>* metadata) override {
    if (Inherited()) metadata->clear();
    else DBImpl::GetLiveFilesMetaData(metadata);
  }
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* family,
      rocksdb::ColumnFamilyMetaData* metadata) override {
    if (Inherited()) *metadata = rocksdb::ColumnFamilyMetaData();
    else DBImpl::GetColumnFamilyMetaData(family, metadata);
  }
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override {
    if (Inherited()) metadata->clear();
    else DBImpl::GetAllColumnFamilyMetaData(metadata);
  }
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::VerifyChecksum(options);
  }
  Status VerifyFileChecksums(const ReadOptions& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::VerifyFileChecksums(options);
  }
  Status GetDbIdentity(std::string& identity) const override {
    return Inherited() ? InheritedStatus() : DBImpl::GetDbIdentity(identity);
  }
  Status GetDbSessionId(std::string& session_id) const override {
    return Inherited() ? InheritedStatus() : DBImpl::GetDbSessionId(session_id);
  }
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* family,
      rocksdb::TablePropertiesCollection* props) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetPropertiesOfAllTables(family, props);
  }
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* family, const Range* range, size_t n,
      rocksdb::TablePropertiesCollection* props) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetPropertiesOfTablesInRange(family, range, n,
        props);
  }
  Status DisableFileDeletions() override {
    return Inherited() ? InheritedStatus() : DBImpl::DisableFileDeletions();
  }
  Status EnableFileDeletions(bool force) override {
    return Inherited() ? InheritedStatus() : DBImpl::EnableFileDeletions(force);
  }
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
      bool flush_memtable) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetLiveFiles(files, manifest_file_size,
        flush_memtable);
  }
  Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
      std::vector<rocksdb::LiveFileStorageInfo>* files) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetLiveFilesStorageInfo(options, files);
  }
  Status GetLiveFilesChecksumInfo(rocksdb::FileChecksumList* list) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetLiveFilesChecksumInfo(list);
  }
  Status GetSortedWalFiles(rocksdb::VectorLogPtr& files) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetSortedWalFiles(files);
  }
  Status GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetCurrentWalFile(file);
  }
  Status GetUpdatesSince(rocksdb::SequenceNumber sequence,
      std::unique_ptr<rocksdb::TransactionLogIterator>* iterator,
      const rocksdb::TransactionLogIterator::ReadOptions& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetUpdatesSince(sequence, iterator, options);
  }
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* family,
      const std::vector<std::string>& external_files,
      const rocksdb::IngestExternalFileOptions& options) override {
    return Inherited() ? InheritedStatus() : DBImpl::IngestExternalFile(family, external_files,
        options);
  }
  Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) override {
    return Inherited() ? InheritedStatus() : DBImpl::IngestExternalFiles(args);
  }
  Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
      const std::string& name, const rocksdb::ImportColumnFamilyOptions& import_options,
      const rocksdb::ExportImportFilesMetaData& metadata, ColumnFamilyHandle** handle) override {
    return Inherited() ? InheritedStatus() : DBImpl::CreateColumnFamilyWithImport(options, name,
        import_options, metadata, handle);
  }
  Status StartTrace(const rocksdb::TraceOptions& options,
      std::unique_ptr<rocksdb::TraceWriter>&& writer) override {
    return Inherited() ? InheritedStatus() : DBImpl::StartTrace(options, std::move(writer));
  }
  Status EndTrace() override {
    return Inherited() ? InheritedStatus() : DBImpl::EndTrace();
  }
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
      std::unique_ptr<rocksdb::TraceReader>&& reader,
      std::unique_ptr<rocksdb::Replayer>* replayer) override {
    return Inherited() ? InheritedStatus() : DBImpl::NewDefaultReplayer(handles, std::move(reader),
        replayer);
  }
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* family, std::string ts_low) override {
    return Inherited() ? InheritedStatus() : DBImpl::IncreaseFullHistoryTsLow(family,
        std::move(ts_low));
  }
  Status GetFullHistoryTsLow(ColumnFamilyHandle* family, std::string* ts_low) override {
    return Inherited() ? InheritedStatus() : DBImpl::GetFullHistoryTsLow(family, ts_low);
  }
  Status DeleteFile(std::string name) override {
    return Inherited() ? InheritedStatus() : DBImpl::DeleteFile(std::move(name));
  }

 private:
  bool Inherited() const { return process().Inherited(); }
};

}  // namespace compassdb
