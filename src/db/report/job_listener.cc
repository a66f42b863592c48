// SPDX-License-Identifier: Apache-2.0
#include "db/report/job_listener.h"

#include <utility>

#include "rocksdb/file_checksum.h"

namespace compassdb {

void JobListener::SetInputs(const JobReport& inputs) {
  inputs_.input_level = inputs.input_level;
  inputs_.output_level = inputs.output_level;
  inputs_.reason = inputs.reason;
}

rocksdb::TableFileCreationBriefInfo JobListener::Table(const std::string& path) const {
  rocksdb::TableFileCreationBriefInfo info;
  info.db_name = job_.config->name;
  info.cf_name = job_.family->name();
  info.file_path = path;
  info.job_id = job_.job_id;
  info.reason = kind_ == Kind::kFlush      ? rocksdb::TableFileCreationReason::kFlush
                : kind_ == Kind::kRecovery ? rocksdb::TableFileCreationReason::kRecovery
                                           : rocksdb::TableFileCreationReason::kCompaction;
  return info;
}

rocksdb::BlobFileCreationBriefInfo JobListener::ValueFile(const std::string& path) const {
  const auto reason = kind_ == Kind::kFlush      ? rocksdb::BlobFileCreationReason::kFlush
                      : kind_ == Kind::kRecovery ? rocksdb::BlobFileCreationReason::kRecovery
                                                 : rocksdb::BlobFileCreationReason::kCompaction;
  return {job_.config->name, job_.family->name(), path, job_.job_id, reason};
}

// Listeners are notified of ingested tables by OnExternalFileIngested.
void JobListener::FileBegins(const std::string& path, bool values) {
  if (!values && kind_ == Kind::kIngestion) return;
  {
    MutexLock lock(&mu_);
    (values ? value_files_ : tables_).insert(path);
  }
  if (values) {
    listeners_->ValueFileStarted(ValueFile(path));
  } else {
    listeners_->TableFileStarted(Table(path));
  }
}

rocksdb::SubcompactionJobInfo JobListener::PartInfo(int part) const {
  const rocksdb::CompactionJobInfo whole =
      CompactionInfo(job_, inputs_, kind_ == Kind::kManualCompaction, Status::OK());
  rocksdb::SubcompactionJobInfo info{};
  info.cf_id = whole.cf_id;
  info.cf_name = whole.cf_name;
  info.thread_id = whole.thread_id;
  info.job_id = whole.job_id;
  info.subcompaction_job_id = part;
  info.base_input_level = whole.base_input_level;
  info.output_level = whole.output_level;
  info.compaction_reason = whole.compaction_reason;
  info.compression = whole.compression;
  info.blob_compression_type = whole.blob_compression_type;
  info.stats.Reset();
  info.stats.is_manual_compaction = kind_ == Kind::kManualCompaction;
  return info;
}

void JobListener::FilesEnd(const JobReport& done) { NotifyFiles(done, Status::OK()); }

// The parts of a flush that merges are no compactions of their own.
void JobListener::PartBegins(int part) {
  if (compaction()) listeners_->SubcompactionBegin(PartInfo(part));
}

void JobListener::PartEnds(int part, const JobReport& done, const Status& status) {
  if (!compaction()) return;
  rocksdb::SubcompactionJobInfo info = PartInfo(part);
  info.status = status;
  AddRecords(done, &info.stats);
  info.stats.num_output_files = done.output_files.size();
  info.stats.total_output_bytes = done.bytes_written - done.value_bytes_written();
  listeners_->SubcompactionCompleted(info);
}

bool JobListener::TakeFile(std::set<std::string>* files, const std::string& path) {
  MutexLock lock(&mu_);
  return files->erase(path) != 0;
}

void JobListener::NotifyFiles(const JobReport& done, const Status& status) NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = 0; i < done.output_paths.size(); ++i) {
    if (TakeFile(&tables_, done.output_paths[i])) NotifyTable(done.output_paths[i], done, i, status);
  }
  for (const JobReport::ValueFile& file : done.value_files) {
    if (TakeFile(&value_files_, file.path)) NotifyValueFile(file, done, status);
  }
}

void JobListener::NotifyTable(const std::string& path, const JobReport& done, size_t at,
                            const Status& status) const {
  const bool written = at < done.output_files.size();
  const uint64_t number = written ? done.output_files[at] : 0;
  rocksdb::TableFileCreationInfo info(written ? PropertiesOfOutput(job_, done, number)
                                              : rocksdb::TableProperties());
  static_cast<rocksdb::TableFileCreationBriefInfo&>(info) = Table(path);
  info.file_size = written ? done.output_bytes[at] : 0;
  info.status = status;
  const FileChecksum checksum = KnownChecksum(done, number);
  info.file_checksum = checksum.checksum;
  info.file_checksum_func_name = checksum.function;
  listeners_->TableFileCreated(info);
}

void JobListener::NotifyValueFile(const JobReport::ValueFile& file, const JobReport& done,
                                const Status& status) const {
  const rocksdb::BlobFileCreationBriefInfo brief = ValueFile(file.path);
  const FileChecksum checksum = KnownChecksum(done, file.number);
  listeners_->ValueFileCreated({brief.db_name, brief.cf_name, brief.file_path, brief.job_id,
                                brief.reason, file.values, file.bytes, status, checksum.checksum,
                                checksum.function});
}

void JobListener::JobEnded(const JobReport& report, const Status& status) {
  if (listeners_->empty()) return;
  if (status.ok()) NotifyFiles(report, status);
  std::set<std::string> tables, value_files;
  {
    MutexLock lock(&mu_);
    tables.swap(tables_);
    value_files.swap(value_files_);
  }
  const Status why = status.ok() ? Status::Aborted("Empty SST file not kept") : status;
  const JobReport nothing;
  for (const std::string& path : tables) NotifyTable(path, nothing, 0, why);
  for (const std::string& path : value_files) NotifyValueFile({0, path, 0, 0}, nothing, why);
}

}  // namespace compassdb
