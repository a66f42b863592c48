// SPDX-License-Identifier: Apache-2.0
#include "db/copy/live_files.h"

#include "db/copy/whole_file_checksum.h"
#include "format/file_names.h"
#include "options/options_file.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/utilities/options_util.h"
#include "store/pages.h"

namespace compassdb {

// The files that the manifest's first `manifest_bytes` bytes need.
struct LiveFiles::State {
  uint64_t manifest = 0;
  uint64_t manifest_bytes = 0;
  uint64_t options = 0;  // 0: there is no OPTIONS file
  uint64_t min_log = 0;
  std::vector<uint64_t> files;
  std::vector<std::string> pages;  // paths of files that are written in place
};

Status LiveFiles::Capture(State* state) const {
  state->options = read_only_ ? NewestOptionsFile() : options_number_.load();
  if (!refused_.ok()) return refused_;
  const CommitQueue& commits = files_.commits;
  MutexLock lock(mu_);
  if (commits.in_doubt()) {
    return Status::IOError(ManifestFileName(config_.name, commits.manifest_number()),
                           "its last commit failed: " + commits.why_in_doubt().ToString());
  }
  state->manifest = commits.manifest_number();
  state->manifest_bytes = commits.manifest_bytes();
  state->min_log = commits.min_log_number();
  state->files = files_.ledger.LiveFiles();
  for (const auto& family : families_.All()) {
    const Pages* const pages = family->store()->pages();
    if (pages == nullptr) continue;
    for (std::string& path : pages->FilesInPlace()) {
      state->pages.push_back(std::move(path));
    }
  }
  return Status::OK();
}

Status LiveFiles::CaptureWithLogs(State* state, std::vector<WalSet::LogInfo>* logs) {
  if (read_only_) {
    *logs = replayed_logs_;
    return Capture(state);
  }
  if (Status s = log_lock_.LockLog(); !s.ok()) return s;
  Status s = files_.logs.FlushedLogs(logs);
  // A log without records is copied without its header, as in RocksDB: as an empty file.
  if (s.ok() && files_.logs.CurrentIsEmpty() && !logs->empty()) logs->back().bytes = 0;
  if (s.ok()) s = Capture(state);
  Status unlocked = log_lock_.UnlockLog();
  return s.ok() ? unlocked : s;
}

// The newest in the directory; 0 if there is none.
uint64_t LiveFiles::NewestOptionsFile() const {
  std::string name;
  uint64_t number = 0;
  FileType type;
  Status s = rocksdb::GetLatestOptionsFileName(config_.name, config_.options.env, &name);
  return s.ok() && ParseFileName(name, &number, &type) ? number : 0;
}

void LiveFiles::DisableDeletions() {
  files_.ledger.DisableDeletions();
  jobs_.AwaitDeletions();
}

void LiveFiles::EnableDeletions(bool force) {
  files_.ledger.EnableDeletions(force);
  jobs_.ResumeDeletions();
}

Status LiveFiles::GetLiveFiles(std::vector<std::string>* files, uint64_t* manifest_file_size, bool flush_memtable) {
  files->clear();
  *manifest_file_size = 0;
  if (flush_memtable && !read_only_) {
    if (Status s = jobs_.FlushAll(); !s.ok()) return s;
  }
  State state;
  if (Status s = Capture(&state); !s.ok()) return s;
  for (uint64_t number : state.files) files->push_back("/" + PieceFileName("", number));
  for (const std::string& path : state.pages) files->push_back(path.substr(path.rfind('/')));
  files->push_back("/" + CurrentFileName(""));
  files->push_back("/" + ManifestFileName("", state.manifest));
  if (state.options != 0) files->push_back("/" + OptionsFileName("", state.options));
  *manifest_file_size = state.manifest_bytes;
  return Status::OK();
}

Status LiveFiles::GetStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                 std::vector<rocksdb::LiveFileStorageInfo>* files) {
  files->clear();
  if (!read_only_) {
    uint64_t logged = 0;
    for (const WalSet::LogInfo& log : files_.logs.Logs()) logged += log.bytes;
    const bool flush = config_.options.allow_2pc || options.wal_size_for_flush == 0 ||
                       (options.wal_size_for_flush != UINT64_MAX &&
                        logged >= options.wal_size_for_flush);
    if (flush) {
      if (Status s = jobs_.FlushAll(); !s.ok()) return s;
    }
  }
  State state;
  std::vector<WalSet::LogInfo> logs;
  if (Status s = CaptureWithLogs(&state, &logs); !s.ok()) return s;

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
      const FileChecksum checksum =
          type == rocksdb::kTableFile
              ? ChecksumOf(files_.ledger, number)
              : FileChecksum{0, rocksdb::kUnknownFileChecksum, rocksdb::kUnknownFileChecksumFuncName};
      file.file_checksum = checksum.checksum;
      file.file_checksum_func_name = checksum.function;
    }
    return &file;
  };
  for (uint64_t number : state.files) {
    const std::string path = files_.tables.PathOf(number);
    uint64_t size = 0;
    if (Status s = config_.fs->GetFileSize(path, &size); !s.ok()) return s;
    add(path, number, rocksdb::kTableFile, size);
  }
  // A type that Checkpoint does not link. Other copies use trim_to_size alone.
  for (const std::string& path : state.pages) {
    uint64_t size = 0, number = 0;
    FileType type;
    if (Status s = config_.fs->GetFileSize(path, &size); !s.ok()) return s;
    ParseFilePath(path, &number, &type);
    add(path, number, rocksdb::kBlobFile, size)->trim_to_size = true;
  }
  add(ManifestFileName(config_.name, state.manifest), state.manifest, rocksdb::kDescriptorFile,
      state.manifest_bytes)
      ->trim_to_size = true;
  const std::string current = Manifest::CurrentContents(state.manifest);
  add(CurrentFileName(config_.name), 0, rocksdb::kCurrentFile, current.size())
      ->replacement_contents = current;
  if (state.options != 0) {
    const std::string path = OptionsFileName(config_.name, state.options);
    std::string text;
    if (Status s = ReadFileToString(config_.fs, path, &text); !s.ok()) return s;
    std::string copy = OptionsOfCopy(text);
    rocksdb::LiveFileStorageInfo* const file = add(path, state.options, rocksdb::kOptionsFile, copy.size());
    if (copy != text) file->replacement_contents = std::move(copy);
  }
  if (read_only_) {
    for (const WalSet::LogInfo& log : logs) {
      const std::string path = WalFileName(config_.wal_dir, log.number);
      uint64_t size = 0;
      if (Status s = config_.fs->GetFileSize(path, &size); !s.ok()) return s;
      add(path, log.number, rocksdb::kWalFile, log.bytes)->trim_to_size = true;
    }
    return Status::OK();
  }
  for (const WalSet::LogInfo& log : logs) {
    if (log.number < state.min_log) continue;
    add(WalFileName(config_.wal_dir, log.number), log.number, rocksdb::kWalFile, log.bytes)
        ->trim_to_size = &log == &logs.back() || config_.options.recycle_log_file_num > 0;
  }
  return Status::OK();
}

}  // namespace compassdb
