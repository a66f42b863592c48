// SPDX-License-Identifier: Apache-2.0
// The files that a copy of the database is made of.
//
// A copy is consistent because of the order in which its parts are looked at,
// with deletions disabled: first, under the mutex, the manifest's length and the
// compaction files of that very state; then the logs. What is committed or
// written in between is in the logs, too.
#include "base/file_names.h"
#include "db/db_impl.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/transaction_log.h"
#include "util/coding.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

class WalFile final : public rocksdb::LogFile {
 public:
  WalFile(uint64_t number, rocksdb::SequenceNumber start, uint64_t bytes)
      : number_(number), start_(start), bytes_(bytes) {}
  std::string PathName() const override { return "/" + WalFileName("", number_); }
  uint64_t LogNumber() const override { return number_; }
  rocksdb::WalFileType Type() const override { return rocksdb::kAliveLogFile; }
  rocksdb::SequenceNumber StartSequence() const override { return start_; }
  uint64_t SizeFileBytes() const override { return bytes_; }

 private:
  const uint64_t number_;
  const rocksdb::SequenceNumber start_;
  const uint64_t bytes_;
};

// The sequence of the log's first batch; 0 if it has none.
Status FirstSequence(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                     rocksdb::SequenceNumber* sequence) {
  *sequence = 0;
  std::unique_ptr<WalReader> reader;
  if (Status s = WalReader::Open(fs, wal_dir, number, &reader); !s.ok()) return s;
  Slice batch;
  const LogRead read = reader->ReadBatch(&batch);
  if (read == LogRead::kRecord) *sequence = DecodeFixed64(batch.data());
  return read == LogRead::kError ? reader->status() : Status::OK();
}

}  // namespace

// What the manifest's first `manifest_bytes` bytes need.
struct DBImpl::LiveState {
  uint64_t manifest = 0;
  uint64_t manifest_bytes = 0;
  uint64_t options = 0;  // 0: there is no OPTIONS file
  uint64_t min_log = 0;
  std::vector<uint64_t> files;
};

Status DBImpl::CaptureLiveState(LiveState* state) {
  MutexLock lock(&mu_);
  if (commits_.in_doubt()) {
    return Status::IOError(ManifestFileName(config_.name, commits_.manifest_number()),
                           "its last commit failed");
  }
  state->manifest = commits_.manifest_number();
  state->manifest_bytes = commits_.manifest_bytes();
  state->min_log = commits_.min_log_number();
  state->files = ledger_->LiveFiles();
  state->options = options_number_;
  return Status::OK();
}

Status DBImpl::FlushForCopy() {
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  return FlushFamilies(families_.All(), flush, rocksdb::FlushReason::kGetLiveFiles);
}

Status DBImpl::DisableFileDeletions() {
  if (Status s = CheckWritable("DisableFileDeletions"); !s.ok()) return s;
  ledger_->DisableDeletions();
  MutexLock wait_for_purge(&purge_mu_);
  return Status::OK();
}

Status DBImpl::EnableFileDeletions(bool force) {
  if (Status s = CheckWritable("EnableFileDeletions"); !s.ok()) return s;
  ledger_->EnableDeletions(force);
  PurgeObsolete();
  return Status::OK();
}

Status DBImpl::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                            bool flush_memtable) {
  files.clear();
  *manifest_file_size = 0;
  if (flush_memtable && !read_only_) {
    if (Status s = FlushForCopy(); !s.ok()) return s;
  }
  LiveState state;
  if (Status s = CaptureLiveState(&state); !s.ok()) return s;
  for (uint64_t number : state.files) files.push_back("/" + PieceFileName("", number));
  files.push_back("/" + CurrentFileName(""));
  files.push_back("/" + ManifestFileName("", state.manifest));
  if (state.options != 0) files.push_back("/" + OptionsFileName("", state.options));
  *manifest_file_size = state.manifest_bytes;
  return Status::OK();
}

Status DBImpl::GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                       std::vector<rocksdb::LiveFileStorageInfo>* files) {
  files->clear();
  if (!read_only_) {
    uint64_t logged = 0;
    for (const WalSet::LogInfo& log : wals_.Logs()) logged += log.bytes;
    const bool flush = config_.options.allow_2pc || options.wal_size_for_flush == 0 ||
                       (options.wal_size_for_flush != UINT64_MAX &&
                        logged >= options.wal_size_for_flush);
    if (flush) {
      if (Status s = FlushForCopy(); !s.ok()) return s;
    }
  }
  LiveState state;
  if (Status s = CaptureLiveState(&state); !s.ok()) return s;

  const auto add = [&](const std::string& path, uint64_t number, rocksdb::FileType type,
                       uint64_t size) {
    rocksdb::LiveFileStorageInfo& file = files->emplace_back();
    const size_t slash = path.rfind('/');
    file.directory = path.substr(0, slash);
    file.relative_filename = path.substr(slash + 1);
    file.file_number = number;
    file.file_type = type;
    file.size = size;
    if (options.include_checksum_info) {
      file.file_checksum_func_name = rocksdb::kUnknownFileChecksumFuncName;
    }
    return &file;
  };
  for (uint64_t number : state.files) {
    const std::string path = PieceFileName(config_.name, number);
    uint64_t size = 0;
    if (Status s = config_.fs->GetFileSize(path, &size); !s.ok()) return s;
    add(path, number, rocksdb::kTableFile, size);
  }
  add(ManifestFileName(config_.name, state.manifest), state.manifest, rocksdb::kDescriptorFile,
      state.manifest_bytes)
      ->trim_to_size = true;
  const std::string current = Manifest::CurrentContents(state.manifest);
  add(CurrentFileName(config_.name), 0, rocksdb::kCurrentFile, current.size())
      ->replacement_contents = current;
  if (state.options != 0) {
    const std::string path = OptionsFileName(config_.name, state.options);
    uint64_t size = 0;
    if (Status s = config_.fs->GetFileSize(path, &size); !s.ok()) return s;
    add(path, state.options, rocksdb::kOptionsFile, size);
  }
  if (read_only_) return Status::OK();
  std::vector<WalSet::LogInfo> logs;
  const bool current_is_empty = wals_.CurrentIsEmpty();
  if (Status s = wals_.FlushedLogs(&logs); !s.ok()) return s;
  // A current log that had no record before it was listed has none that was written before this call.
  if (current_is_empty && !logs.empty()) logs.pop_back();
  for (const WalSet::LogInfo& log : logs) {
    if (log.number < state.min_log) continue;
    add(WalFileName(config_.wal_dir, log.number), log.number, rocksdb::kWalFile, log.bytes)
        ->trim_to_size = &log == &logs.back();
  }
  return Status::OK();
}

// Files are punched as their pieces die, so none has a checksum that stays true.
Status DBImpl::GetLiveFilesChecksumInfo(rocksdb::FileChecksumList* list) {
  if (list == nullptr) return Status::InvalidArgument("checksum_list is nullptr");
  list->reset();
  for (uint64_t number : ledger_->LiveFiles()) {
    Status s = list->InsertOneFileChecksum(number, rocksdb::kUnknownFileChecksum,
                                           rocksdb::kUnknownFileChecksumFuncName);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status DBImpl::GetSortedWalFiles(rocksdb::VectorLogPtr& files) {
  files.clear();
  std::vector<WalSet::LogInfo> logs;
  if (read_only_) {
    std::vector<uint64_t> numbers;
    if (Status s = ListWals(config_.fs, config_.wal_dir, 0, &numbers); !s.ok()) return s;
    for (uint64_t number : numbers) {
      uint64_t bytes = 0;
      Status s = config_.fs->GetFileSize(WalFileName(config_.wal_dir, number), &bytes);
      if (!s.ok()) return s;
      logs.push_back({number, bytes});
    }
  } else {
    logs = wals_.Logs();
  }
  for (const WalSet::LogInfo& log : logs) {
    rocksdb::SequenceNumber first = 0;
    Status s = FirstSequence(config_.fs, config_.wal_dir, log.number, &first);
    if (s.IsNotFound() || s.IsPathNotFound()) continue;  // deleted meanwhile
    if (!s.ok()) return s;
    if (first != 0) files.push_back(std::make_unique<WalFile>(log.number, first, log.bytes));
  }
  return Status::OK();
}

Status DBImpl::GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) {
  const std::vector<WalSet::LogInfo> logs = wals_.Logs();
  if (logs.empty()) return Status::PathNotFound(config_.wal_dir, "no log is being written");
  *file = std::make_unique<WalFile>(logs.back().number, 0, logs.back().bytes);
  return Status::OK();
}

}  // namespace compassdb
