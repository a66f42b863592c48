// SPDX-License-Identifier: Apache-2.0
#include "db/report/listeners.h"

#include <algorithm>

#include "db/report/table_properties.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "store/job_reasons.h"
#include "util/compression.h"

namespace compassdb {

namespace {

void AddJobNames(const JobContext& job, rocksdb::TableProperties* props) {
  AddOptionNames(*job.family, props);
  props->db_id = job.db_id;
}

void AddOutputNames(const JobContext& job, const JobReport& report,
                    rocksdb::TableProperties* props) {
  props->compression_name = CompressionTypeName(CompressionOf(job, report.output_level));
  props->db_session_id = job.config->session_id;
}

}  // namespace

rocksdb::CompressionType CompressionOf(const JobContext& job, int level) {
  const std::vector<rocksdb::CompressionType>& types = job.family->store()->options().compression;
  const auto at = static_cast<size_t>(level);
  return at < types.size() ? types[at] : rocksdb::kNoCompression;
}

rocksdb::TableProperties PropertiesOf(const JobContext& job, const JobReport& report) {
  rocksdb::TableProperties props;
  for (const TphMeta& tph : report.outputs) {
    for (const TphPiece& piece : tph.pieces) AddPieceProperties(*job.family, *piece.meta, &props);
    props.index_size += tph.directory.length;
  }
  AddJobNames(job, &props);
  AddOutputNames(job, report, &props);
  return props;
}

rocksdb::TableProperties PropertiesOfOutput(const JobContext& job, const JobReport& report,
                                            uint64_t file_number) {
  rocksdb::TableProperties props = PropertiesOfFile(job, report.outputs, file_number);
  AddOutputNames(job, report, &props);
  return props;
}

rocksdb::TableProperties PropertiesOfFile(const JobContext& job, const std::vector<TphMeta>& tables,
                                          uint64_t file_number) {
  rocksdb::TableProperties props;
  for (const TphMeta& tph : tables) {
    for (const TphPiece& piece : tph.pieces) {
      if (piece.meta->extent.file_number != file_number) continue;
      AddPieceProperties(*job.family, *piece.meta, &props);
    }
    if (tph.directory.file_number == file_number) props.index_size += tph.directory.length;
  }
  AddJobNames(job, &props);
  return props;
}

const char* FlushReasonName(rocksdb::FlushReason reason) {
  using Reason = rocksdb::FlushReason;
  switch (reason) {
    case Reason::kOthers: return "Other Reasons";
    case Reason::kGetLiveFiles: return "Get Live Files";
    case Reason::kShutDown: return "Shut down";
    case Reason::kExternalFileIngestion: return "External File Ingestion";
    case Reason::kManualCompaction: return "Manual Compaction";
    case Reason::kWriteBufferManager: return "Write Buffer Manager";
    case Reason::kWriteBufferFull: return "Write Buffer Full";
    case Reason::kTest: return "Test";
    case Reason::kDeleteFiles: return "Delete Files";
    case Reason::kAutoCompaction: return "Auto Compaction";
    case Reason::kManualFlush: return "Manual Flush";
    case Reason::kErrorRecovery: return "Error Recovery";
    case Reason::kErrorRecoveryRetryFlush: return "Error Recovery Retry Flush";
    case Reason::kWalFull: return "WAL Full";
  }
  return "Invalid";
}

namespace {

rocksdb::CompactionReason ReasonOf(const std::string& reason, bool manual, int input_level) {
  if (manual) return rocksdb::CompactionReason::kManualCompaction;
  if (reason == kTtlReason) return rocksdb::CompactionReason::kTtl;
  if (reason == kFifoSizeReason) return rocksdb::CompactionReason::kFIFOMaxSize;
  if (reason == kFifoTtlReason) return rocksdb::CompactionReason::kFIFOTtl;
  if (reason == kMarkedReason) return rocksdb::CompactionReason::kFilesMarkedForCompaction;
  if (reason == kSnapshotsReason) return rocksdb::CompactionReason::kBottommostFiles;
  if (reason == kValuesReason) return rocksdb::CompactionReason::kForcedBlobGC;
  if (reason == kPeriodicReason) return rocksdb::CompactionReason::kPeriodicCompaction;
  return input_level == 0 ? rocksdb::CompactionReason::kLevelL0FilesNum
                          : rocksdb::CompactionReason::kLevelMaxLevelSize;
}

}  // namespace

const char* CompactionReasonName(const JobReport& report, bool manual) {
  using Reason = rocksdb::CompactionReason;
  switch (ReasonOf(report.reason, manual, report.input_level)) {
    case Reason::kManualCompaction: return "ManualCompaction";
    case Reason::kTtl: return "Ttl";
    case Reason::kFilesMarkedForCompaction: return "FilesMarkedForCompaction";
    case Reason::kBottommostFiles: return "BottommostFiles";
    case Reason::kForcedBlobGC: return "ForcedBlobGC";
    case Reason::kPeriodicCompaction: return "PeriodicCompaction";
    case Reason::kLevelL0FilesNum: return "LevelL0FilesNum";
    default: return "LevelMaxLevelSize";
  }
}

namespace {

uint64_t ThisThread(const JobContext& job) { return job.config->options.env->GetThreadID(); }

std::vector<rocksdb::BlobFileAdditionInfo> AddedValueFiles(const JobReport& report) {
  std::vector<rocksdb::BlobFileAdditionInfo> infos;
  for (const JobReport::ValueFile& file : report.value_files) {
    infos.emplace_back(file.path, file.number, file.values, file.bytes);
  }
  return infos;
}

rocksdb::FlushJobInfo FlushInfo(const JobContext& job, rocksdb::FlushReason reason,
                                const JobReport& report) {
  rocksdb::FlushJobInfo info{};
  info.cf_id = job.family->id();
  info.cf_name = job.family->name();
  if (!report.output_files.empty()) {
    info.file_number = report.output_files.front();
    info.file_path = report.output_paths.front();
  }
  info.thread_id = ThisThread(job);
  info.job_id = job.job_id;
  info.smallest_seqno = kMaxSequenceNumber;
  for (const TphMeta& tph : report.outputs) {
    info.smallest_seqno = std::min(info.smallest_seqno, tph.smallest_seq);
    info.largest_seqno = std::max(info.largest_seqno, tph.largest_seq);
  }
  {
    ReadStatePin state(job.family->read_state());
    const std::vector<LevelStats> levels = state->view->Levels();
    const int runs = levels.empty() ? 0 : static_cast<int>(levels.front().tables);
    info.triggered_writes_slowdown = runs >= job.family->settings.level0_slowdown;
    info.triggered_writes_stop = runs >= job.family->settings.level0_stop;
  }
  info.table_properties = PropertiesOf(job, report);
  info.flush_reason = reason;
  info.blob_compression_type = job.family->store()->options().values.compression;
  info.blob_file_addition_infos = AddedValueFiles(report);
  return info;
}

// `of` returns the properties of a file.
template <typename Of>
void AddProperties(const std::vector<uint64_t>& files, const std::vector<std::string>& paths, const Of& of,
                   rocksdb::TablePropertiesCollection* all) {
  for (size_t i = 0; i < files.size(); ++i) {
    all->emplace(paths[i], std::make_shared<const rocksdb::TableProperties>(of(files[i])));
  }
}

}  // namespace

void Listeners::FlushBegin(const JobContext& job, rocksdb::FlushReason reason) const {
  if (empty()) return;
  const rocksdb::FlushJobInfo info = FlushInfo(job, reason, JobReport());
  for (const auto& listener : listeners_) listener->OnFlushBegin(db_, info);
}

void Listeners::FlushCompleted(const JobContext& job, rocksdb::FlushReason reason,
                               const JobReport& report) const {
  if (empty()) return;
  const rocksdb::FlushJobInfo info = FlushInfo(job, reason, report);
  for (const auto& listener : listeners_) listener->OnFlushCompleted(db_, info);
}

void Listeners::CompactionBegin(const JobContext& job, const JobReport& inputs, bool manual) const {
  if (empty()) return;
  const rocksdb::CompactionJobInfo info = CompactionInfo(job, inputs, manual, Status::OK());
  for (const auto& listener : listeners_) listener->OnCompactionBegin(db_, info);
}

namespace {

// The range of the keys that a job wrote, with as many bytes as in RocksDB.
void AddOutputRange(const JobContext& job, const std::vector<TphMeta>& outputs,
                    rocksdb::CompactionJobStats* stats) {
  const rocksdb::Comparator* const comparator = job.family->user_comparator();
  const std::string* smallest = nullptr;
  const std::string* largest = nullptr;
  for (const TphMeta& table : outputs) {
    if (smallest == nullptr || comparator->Compare(table.smallest, *smallest) < 0) smallest = &table.smallest;
    if (largest == nullptr || comparator->Compare(table.largest, *largest) > 0) largest = &table.largest;
  }
  if (smallest == nullptr) return;
  stats->smallest_output_key_prefix = smallest->substr(0, rocksdb::CompactionJobStats::kMaxPrefixLength);
  stats->largest_output_key_prefix = largest->substr(0, rocksdb::CompactionJobStats::kMaxPrefixLength);
}

}  // namespace

void AddRecords(const JobReport& report, rocksdb::CompactionJobStats* stats) {
  stats->num_input_records = report.records_in;
  stats->num_output_records = report.records_out;
  const CompactionIteratorStats& merged = report.merged;
  stats->num_records_replaced = merged.dropped_hidden + merged.dropped_range_deleted;
  stats->total_input_raw_key_bytes = merged.raw_key_bytes_in;
  stats->total_input_raw_value_bytes = merged.raw_value_bytes_in;
  stats->num_input_deletion_records = merged.deletions_in;
  stats->num_expired_deletion_records = merged.dropped_tombstones + report.range_tombstones_dropped;
  stats->num_single_del_fallthru = merged.single_deletes_alone;
  stats->num_single_del_mismatch = merged.single_delete_mismatches;
  stats->num_blobs_read = report.values_read;
  stats->total_blob_bytes_read = report.value_bytes_read;
  stats->num_output_files_blob = report.value_files.size();
  stats->total_output_bytes_blob = report.value_bytes_written();
}

rocksdb::CompactionJobInfo CompactionInfo(const JobContext& job, const JobReport& report,
                                          bool manual, const Status& status) {
  rocksdb::CompactionJobInfo info{};
  info.cf_id = job.family->id();
  info.cf_name = job.family->name();
  info.status = status;
  info.thread_id = ThisThread(job);
  info.job_id = job.job_id;
  info.base_input_level = report.input_level;
  info.output_level = report.output_level;
  info.input_files = report.input_paths;
  for (size_t i = 0; i < report.input_files.size(); ++i) {
    info.input_file_infos.push_back({report.input_file_levels[i], report.input_files[i], 0});
  }
  // Tables that only moved are in the same files as before.
  const bool moved = report.trivial_move && !report.outputs.empty();
  info.output_files = moved ? report.input_paths : report.output_paths;
  for (uint64_t number : moved ? report.input_files : report.output_files) {
    info.output_file_infos.push_back({report.output_level, number, 0});
  }
  // Files of jobs without tables have only values.
  if (!report.inputs.empty()) {
    AddProperties(report.input_files, report.input_paths,
                  [&](uint64_t file) { return PropertiesOfFile(job, report.inputs, file); }, &info.table_properties);
  }
  if (!moved && !report.outputs.empty()) {
    AddProperties(report.output_files, report.output_paths,
                  [&](uint64_t file) { return PropertiesOfOutput(job, report, file); }, &info.table_properties);
  }
  info.compaction_reason = ReasonOf(report.reason, manual, report.input_level);
  const StoreOptions& options = job.family->store()->options();
  info.compression = CompressionOf(job, report.output_level);
  info.stats.Reset();
  info.stats.elapsed_micros = report.micros;
  info.stats.cpu_micros = report.cpu_micros;
  AddRecords(report, &info.stats);
  info.stats.num_input_files = report.input_files.size();
  info.stats.num_output_files = report.output_files.size();
  info.stats.total_input_bytes = report.bytes_read - report.value_bytes_read;
  info.stats.total_output_bytes = report.bytes_written - report.value_bytes_written();
  info.stats.num_input_files_at_output_level = static_cast<size_t>(
      std::count(report.input_file_levels.begin(), report.input_file_levels.end(), report.output_level));
  info.stats.is_manual_compaction = manual;
  info.stats.is_full_compaction = report.full;
  if (!moved) AddOutputRange(job, report.outputs, &info.stats);
  info.blob_compression_type = options.values.compression;
  info.blob_file_addition_infos = AddedValueFiles(report);
  for (const JobReport::ValueFile& file : report.value_garbage) {
    info.blob_file_garbage_infos.emplace_back(file.path, file.number, file.values, file.bytes);
  }
  return info;
}

void Listeners::CompactionCompleted(const JobContext& job, const JobReport& report, bool manual,
                                    const Status& status) const {
  if (empty()) return;
  const rocksdb::CompactionJobInfo info = CompactionInfo(job, report, manual, status);
  for (const auto& listener : listeners_) listener->OnCompactionCompleted(db_, info);
}

FileChecksum KnownChecksum(const JobReport& report, uint64_t file_number) {
  const FileChecksum* const known = report.ChecksumOf(file_number);
  if (known != nullptr) return *known;
  return {file_number, rocksdb::kUnknownFileChecksum, rocksdb::kUnknownFileChecksumFuncName};
}

void Listeners::SubcompactionBegin(const rocksdb::SubcompactionJobInfo& info) const {
  for (const auto& listener : listeners_) listener->OnSubcompactionBegin(info);
}

void Listeners::SubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) const {
  for (const auto& listener : listeners_) listener->OnSubcompactionCompleted(info);
}

void Listeners::TableFileStarted(const rocksdb::TableFileCreationBriefInfo& info) const {
  for (const auto& listener : listeners_) listener->OnTableFileCreationStarted(info);
}

void Listeners::TableFileCreated(const rocksdb::TableFileCreationInfo& info) const {
  for (const auto& listener : listeners_) listener->OnTableFileCreated(info);
}

void Listeners::ValueFileStarted(const rocksdb::BlobFileCreationBriefInfo& info) const {
  for (const auto& listener : listeners_) listener->OnBlobFileCreationStarted(info);
}

void Listeners::ValueFileCreated(const rocksdb::BlobFileCreationInfo& info) const {
  for (const auto& listener : listeners_) listener->OnBlobFileCreated(info);
}

void Listeners::ValueFileDeleted(const std::string& db_name, const std::string& path, int job_id,
                                 const Status& status) const {
  if (empty()) return;
  const rocksdb::BlobFileDeletionInfo info(db_name, path, job_id, status);
  for (const auto& listener : listeners_) listener->OnBlobFileDeleted(info);
}

void Listeners::FileDeleted(const std::string& db_name, const std::string& path, int job_id,
                            const Status& status) const {
  if (empty()) return;
  rocksdb::TableFileDeletionInfo info;
  info.db_name = db_name;
  info.file_path = path;
  info.job_id = job_id;
  info.status = status;
  for (const auto& listener : listeners_) listener->OnTableFileDeleted(info);
}

void Listeners::FileIngested(const rocksdb::ExternalFileIngestionInfo& info) const {
  for (const auto& listener : listeners_) listener->OnExternalFileIngested(db_, info);
}

void Listeners::MemTableSealed(const rocksdb::MemTableInfo& info) const {
  for (const auto& listener : listeners_) listener->OnMemTableSealed(info);
}

void Listeners::HandleDeletion(rocksdb::ColumnFamilyHandle* handle) const {
  for (const auto& listener : listeners_) listener->OnColumnFamilyHandleDeletionStarted(handle);
}

void Listeners::StallChanged(const rocksdb::WriteStallInfo& info) const {
  for (const auto& listener : listeners_) listener->OnStallConditionsChanged(info);
}

void Listeners::BackgroundError(rocksdb::BackgroundErrorReason reason, Status* error) const {
  for (const auto& listener : listeners_) listener->OnBackgroundError(reason, error);
}

bool Listeners::ErrorRecoveryBegins(rocksdb::BackgroundErrorReason reason,
                                    const Status& error) const {
  bool wanted = true;
  for (const auto& listener : listeners_) listener->OnErrorRecoveryBegin(reason, error, &wanted);
  return wanted;
}

void Listeners::ErrorRecoveryEnds(const Status& old_error, const Status& new_error) const {
  for (const auto& listener : listeners_) {
    listener->OnErrorRecoveryCompleted(old_error);
    rocksdb::BackgroundErrorRecoveryInfo info;
    info.old_bg_error = old_error;
    info.new_bg_error = new_error;
    listener->OnErrorRecoveryEnd(info);
    info.old_bg_error.PermitUncheckedError();
    info.new_bg_error.PermitUncheckedError();
  }
}

}  // namespace compassdb
