// SPDX-License-Identifier: Apache-2.0
#include "services/sst_file_manager.h"

#include "env/rocksdb/env_adapter.h"
#include "rocksdb/statistics.h"

namespace compassdb {

FileSpace::FileSpace(std::shared_ptr<rocksdb::Logger> log, int64_t delete_rate, double trash_ratio,
                     uint64_t chunk_bytes)
    : log_(std::move(log)),
      delete_rate_(delete_rate),
      trash_ratio_(trash_ratio),
      trash_(chunk_bytes, [this](const std::string& path, const Status& status) {
        if (status.ok()) {
          Untrack(path);
        } else {
          rocksdb::Warn(log_.get(), "cannot delete %s: %s", path.c_str(),
                        status.ToString().c_str());
        }
      }) {
  trash_.SetRate(delete_rate);
}

void FileSpace::SetDeleteRateBytesPerSecond(int64_t rate) {
  delete_rate_ = rate;
  if (!process_.Inherited()) trash_.SetRate(rate);
}

void FileSpace::SetStatisticsPtr(const std::shared_ptr<rocksdb::Statistics>& statistics) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  statistics_ = statistics;
}

void FileSpace::Count(uint32_t ticker) {
  if (process_.Inherited()) return;
  std::shared_ptr<rocksdb::Statistics> statistics;
  {
    MutexLock lock(&mu_);
    statistics = statistics_;
  }
  if (statistics != nullptr) statistics->recordTick(ticker, 1);
}

bool FileSpace::DeletesAtOnce() {
  return process_.Inherited() || delete_rate_ <= 0 ||
         static_cast<double>(trash_.bytes()) >
                                  static_cast<double>(GetTotalSize()) * trash_ratio_;
}

Status FileSpace::DeleteAtOnce(FileSystem* fs, const std::string& path) {
  Status s = fs->DeleteFile(path);
  if (!s.ok()) return s;
  Untrack(path);
  Count(rocksdb::FILES_DELETED_IMMEDIATELY);
  return s;
}

Status FileSpace::Delete(const std::shared_ptr<FileSystem>& fs, const std::string& path) {
  if (DeletesAtOnce()) return DeleteAtOnce(fs.get(), path);
  uint64_t bytes = 0;
  Status s = fs->GetFileSize(path, &bytes);
  if (!s.ok()) return s;
  const std::string trash = path + kTrashSuffix;
  if (!fs->RenameFile(path, trash).ok()) return DeleteAtOnce(fs.get(), path);
  Untrack(path);
  Track(trash, bytes);
  Count(rocksdb::FILES_MARKED_TRASH);
  trash_.Add(fs, trash, bytes);
  return s;
}

Status FileSpace::DeleteTrash(const std::shared_ptr<FileSystem>& fs, const std::string& path) {
  uint64_t bytes = 0;
  Status s = fs->GetFileSize(path, &bytes);
  if (!s.ok()) return s;
  Track(path, bytes);
  if (DeletesAtOnce()) return DeleteAtOnce(fs.get(), path);
  trash_.Add(fs, path, bytes);
  return s;
}

void FileSpace::Track(const std::string& path, uint64_t bytes) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  uint64_t& held = files_[path];
  total_ += bytes - held;
  held = bytes;
}

void FileSpace::Untrack(const std::string& path) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  const auto file = files_.find(path);
  if (file == files_.end()) return;
  total_ -= file->second;
  files_.erase(file);
}

void FileSpace::UntrackDirectory(const std::string& dir) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  for (auto file = files_.begin(); file != files_.end();) {
    if (file->first.compare(0, dir.size() + 1, dir + "/") == 0) {
      total_ -= file->second;
      file = files_.erase(file);
    } else {
      ++file;
    }
  }
}

uint64_t FileSpace::GetTotalSize() {
  if (process_.Inherited()) return 0;
  MutexLock lock(&mu_);
  return total_;
}

std::unordered_map<std::string, uint64_t> FileSpace::GetTrackedFiles() {
  if (process_.Inherited()) return {};
  MutexLock lock(&mu_);
  return files_;
}

bool FileSpace::IsMaxAllowedSpaceReached() {
  return max_space_ > 0 && GetTotalSize() >= max_space_;
}

bool FileSpace::IsMaxAllowedSpaceReachedIncludingCompactions() {
  return max_space_ > 0 && GetTotalSize() + compaction_buffer_ >= max_space_;
}

}  // namespace compassdb

namespace rocksdb {
namespace {

// All files in a directory that was once given for trash are trash.
Status EmptyTrashDirectory(const std::shared_ptr<compassdb::FileSystem>& fs,
                           const std::string& dir, compassdb::FileSpace* space) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  for (const std::string& name : names) {
    Status deleted = space->DeleteTrash(fs, dir + "/" + name);
    if (s.ok()) s = deleted;
  }
  return s;
}

// The Env is destroyed with its file system.
std::shared_ptr<compassdb::FileSystem> Adapted(std::shared_ptr<FileSystem> fs) {
  struct Held {
    std::unique_ptr<Env> env;
    std::shared_ptr<compassdb::FileSystem> fs;
  };
  auto held = std::make_shared<Held>();
  held->env = NewCompositeEnv(std::move(fs));
  held->fs = compassdb::FileSystemOfEnv(held->env.get());
  return {held, held->fs.get()};
}

}  // namespace

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<FileSystem> fs,
                                  std::shared_ptr<Logger> info_log, const std::string& trash_dir,
                                  int64_t rate_bytes_per_sec, bool delete_existing_trash,
                                  Status* status, double max_trash_db_ratio,
                                  uint64_t bytes_max_delete_chunk) {
  auto space = std::make_unique<compassdb::FileSpace>(std::move(info_log), rate_bytes_per_sec,
                                                      max_trash_db_ratio, bytes_max_delete_chunk);
  Status s;
  if (delete_existing_trash && !trash_dir.empty()) {
    s = EmptyTrashDirectory(
        fs != nullptr ? Adapted(std::move(fs)) : compassdb::FileSystemOfEnv(env), trash_dir,
        space.get());
  }
  if (status != nullptr) *status = s;
  return space.release();
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<Logger> info_log,
                                  std::string trash_dir, int64_t rate_bytes_per_sec,
                                  bool delete_existing_trash, Status* status,
                                  double max_trash_db_ratio, uint64_t bytes_max_delete_chunk) {
  return NewSstFileManager(env, std::shared_ptr<FileSystem>(), std::move(info_log), trash_dir,
                           rate_bytes_per_sec, delete_existing_trash, status, max_trash_db_ratio,
                           bytes_max_delete_chunk);
}

}  // namespace rocksdb
