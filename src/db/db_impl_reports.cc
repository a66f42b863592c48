// SPDX-License-Identifier: Apache-2.0
// Reports, files and logs.
#include "db/db_impl.h"
#include "db/engine.h"

namespace compassdb {

bool DBImpl::GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) {
  if (Refuses(family)) return false;
  return engine_->reports.GetProperty(FamilyOf(family), property.ToString(), value);
}

bool DBImpl::GetMapProperty(ColumnFamilyHandle* family, const Slice& property,
                            std::map<std::string, std::string>* value) {
  if (Refuses(family)) return false;
  return engine_->reports.GetMapProperty(FamilyOf(family), property.ToString(), value);
}

bool DBImpl::GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) {
  if (Refuses(family)) return false;
  return engine_->reports.GetIntProperty(FamilyOf(family), property.ToString(), value);
}

bool DBImpl::GetAggregatedIntProperty(const Slice& property, uint64_t* value) {
  return !Inherited() && engine_->reports.GetAggregatedIntProperty(property.ToString(), value);
}

Status DBImpl::GetStatsHistory(uint64_t begin, uint64_t end,
                               std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) {
  return Inherited() ? InheritedStatus() : engine_->reports.GetStatsHistory(begin, end, iterator);
}

Status DBImpl::ResetStats() {
  if (Inherited()) return InheritedStatus();
  engine_->reports.ResetStats();
  return Status::OK();
}

Status DBImpl::GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                   ColumnFamilyHandle* family, const Range* ranges, int n,
                                   uint64_t* sizes) {
  if (Refuses(family)) return Refusal();
  return engine_->metadata.ApproximateSizes(options, FamilyOf(family), ranges, n, sizes);
}

void DBImpl::GetApproximateMemTableStats(ColumnFamilyHandle* family, const Range& range,
                                         uint64_t* count, uint64_t* size) {
  if (Refuses(family)) return *count = *size = 0, void();
  engine_->metadata.ApproximateMemTableStats(FamilyOf(family), range, count, size);
}

int DBImpl::NumberLevels(ColumnFamilyHandle* family) {
  return Refuses(family) ? 0 : FamilyOf(family)->store()->options().num_levels;
}

int DBImpl::MaxMemCompactionLevel(ColumnFamilyHandle*) { return 0; }

int DBImpl::Level0StopWriteTrigger(ColumnFamilyHandle* family) {
  return Refuses(family) ? 0 : FamilyOf(family)->settings.level0_stop.load();
}

Status DBImpl::GetCreationTimeOfOldestFile(uint64_t* creation_time) {
  if (Inherited()) return InheritedStatus();
  *creation_time = engine_->metadata.OldestCreationTime();
  return Status::OK();
}

void DBImpl::GetLiveFilesMetaData(std::vector<rocksdb::LiveFileMetaData>* metadata) {
  metadata->clear();
  if (!Inherited()) *metadata = engine_->metadata.LiveFiles();
}

void DBImpl::GetColumnFamilyMetaData(ColumnFamilyHandle* family,
                                     rocksdb::ColumnFamilyMetaData* metadata) {
  if (Refuses(family)) return *metadata = rocksdb::ColumnFamilyMetaData(), void();
  engine_->metadata.OfFamily(FamilyOf(family), metadata);
}

void DBImpl::GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  metadata->clear();
  if (!Inherited()) *metadata = engine_->metadata.OfAllFamilies();
}

Status DBImpl::GetPropertiesOfAllTables(ColumnFamilyHandle* family,
                                        rocksdb::TablePropertiesCollection* props) {
  if (Refuses(family)) return Refusal();
  return engine_->metadata.PropertiesOfTables(FamilyOf(family), nullptr, 0, props);
}

Status DBImpl::GetPropertiesOfTablesInRange(ColumnFamilyHandle* family, const Range* range,
                                            size_t n, rocksdb::TablePropertiesCollection* props) {
  if (Refuses(family)) return Refusal();
  return engine_->metadata.PropertiesOfTables(FamilyOf(family), range, n, props);
}

Status DBImpl::LoadIndex(ColumnFamilyHandle* family) {
  if (Refuses(family)) return Refusal();
  return FamilyOf(family)->read_state()->View()->LoadIndex();
}

Status DBImpl::VerifyChecksum(const ReadOptions&) {
  return Inherited() ? InheritedStatus() : engine_->live_files.VerifyChecksum();
}

Status DBImpl::VerifyFileChecksums(const ReadOptions& options) {
  return Inherited() ? InheritedStatus() : engine_->live_files.VerifyFileChecksums(options);
}

Status DBImpl::DisableFileDeletions() {
  if (Status s = CheckWritable("DisableFileDeletions"); !s.ok()) return s;
  engine_->live_files.DisableDeletions();
  return Status::OK();
}

Status DBImpl::EnableFileDeletions(bool force) {
  if (Status s = CheckWritable("EnableFileDeletions"); !s.ok()) return s;
  engine_->live_files.EnableDeletions(force);
  return Status::OK();
}

Status DBImpl::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                            bool flush_memtable) {
  if (Inherited()) return InheritedStatus();
  return engine_->live_files.GetLiveFiles(&files, manifest_file_size, flush_memtable);
}

Status DBImpl::GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                       std::vector<rocksdb::LiveFileStorageInfo>* files) {
  return Inherited() ? InheritedStatus() : engine_->live_files.GetStorageInfo(options, files);
}

Status DBImpl::GetLiveFilesChecksumInfo(rocksdb::FileChecksumList* list) {
  return Inherited() ? InheritedStatus() : engine_->live_files.GetChecksumInfo(list);
}

Status DBImpl::GetSortedWalFiles(rocksdb::VectorLogPtr& files) {
  return Inherited() ? InheritedStatus() : engine_->log_follower.GetSortedWalFiles(&files);
}

Status DBImpl::GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) {
  return Inherited() ? InheritedStatus() : engine_->log_follower.GetCurrentWalFile(file);
}

Status DBImpl::GetUpdatesSince(rocksdb::SequenceNumber sequence,
                               std::unique_ptr<rocksdb::TransactionLogIterator>* iterator,
                               const rocksdb::TransactionLogIterator::ReadOptions&) {
  if (Inherited()) return InheritedStatus();
  return engine_->log_follower.GetUpdatesSince(sequence, iterator);
}

Status DBImpl::DeleteFile(std::string) {
  if (Inherited()) return InheritedStatus();
  return Status::NotSupported("DeleteFile: files hold pieces of many tables");
}

}  // namespace compassdb
