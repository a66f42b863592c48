// SPDX-License-Identifier: Apache-2.0
#include "store/job_file.h"

#include <random>

#include "format/file_names.h"
#include "rocksdb/file_checksum.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/no_memory.h"

namespace compassdb {

JobFile::JobFile(const StoreContext* context, const StoreOptions* options, size_t path, bool flush,
                 JobObserver* observer, bool values)
    : context_(context),
      options_(options),
      dir_(options->paths.empty() ? context->files->dirs()->All().front()
                                  : options->paths[path].dir),
      flush_(flush),
      observer_(observer),
      values_(values) {}

JobFile::~JobFile() {
  MutexLock lock(&mu_);
  if (writer_ != nullptr && !finished_) {
    const uint64_t number = writer_->file_number();
    writer_.reset();
    context_->ledger->UnpinFile(number);
  }
}

Status JobFile::Writer(CompactionFileWriter** writer) {
  MutexLock lock(&mu_);
  if (writer_ == nullptr) {
    if (Status s = Create(); !s.ok()) return s;
  }
  *writer = writer_.get();
  return Status::OK();
}

Status JobFile::Create() {
  uint64_t number = 0;
  if (context_->spare_files == nullptr) {
    number = context_->new_number();
  } else if (Status s = context_->spare_files->Take(dir_, &number); !s.ok()) {
    return s;
  }
  std::random_device device;
  const uint64_t id = (static_cast<uint64_t>(device()) << 32) | device();
  context_->ledger->PinFile(number);
  context_->files->dirs()->Put(number, dir_);
  path_ = PieceFileName(dir_, number);
  if (observer_ != nullptr) observer_->FileBegins(path_, values_);
  FileOptions options = context_->write_options;
  options.bytes_per_sync = context_->bytes_per_sync;
  std::unique_ptr<rocksdb::FileChecksumGenerator> checksum;
  if (context_->checksums != nullptr) {
    checksum = context_->checksums->CreateFileChecksumGenerator({path_, ""});
  }
  Status s = CompactionFileWriter::Create(context_->fs, path_, number, id, options, &writer_,
                                          std::move(checksum));
  if (!s.ok()) {
    context_->ledger->UnpinFile(number);
    return s;
  }
  if (most_held_) writer_->Share(*most_held_);
  if (context_->throttle) writer_->SetPace([this] { Throttle(); });
  return s;
}

void JobFile::Throttle() {
  if (!context_->throttle) return;
  uint64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    if (writer_ == nullptr) return;
    bytes = writer_->offset() - throttled_;
    if (bytes < (64 << 10)) return;
    throttled_ += bytes;
  }
  context_->throttle(bytes, flush_);
}

Status JobFile::Describe(const VersionEdit& edit, CompactionFileWriter* writer) const {
  if (values_ || !context_->describe_job) return Status::OK();
  return CatchOutOfMemory("a job's record", [&] {
    JobRecord record;
    record.job = edit;
    record.job.column_family = options_->column_family_id;
    return context_->describe_job(&record) ? AppendJobRecord(record, writer) : Status::OK();
  });
}

Status JobFile::Finish(VersionEdit* edit) {
  CompactionFileWriter* const writer = Created();
  if (writer == nullptr) return Status::OK();
  rocksdb::Statistics* const statistics = context_->statistics;
  Status s = Describe(*edit, writer);
  if (s.ok()) {
    const StatTimer timer(statistics, values_ ? rocksdb::BLOB_DB_BLOB_FILE_SYNC_MICROS
                                      : flush_ ? rocksdb::TABLE_SYNC_MICROS
                                               : rocksdb::COMPACTION_OUTFILE_SYNC_MICROS);
    s = writer->Finish();
  }
  if (s.ok() && values_) Tick(statistics, rocksdb::BLOB_DB_BLOB_FILE_SYNCED);
  if (s.ok() && context_->spare_files == nullptr) s = context_->fs->SyncDir(dir_);
  if (!s.ok()) return s;
  finished_ = true;
  if (const rocksdb::FileChecksumGenerator* const sum = writer->checksum(); sum != nullptr) {
    edit->file_checksums.push_back({writer->file_number(), sum->GetChecksum(), sum->Name()});
  }
  return s;
}

}  // namespace compassdb
