// SPDX-License-Identifier: Apache-2.0
#include "options/sst_file_manager.h"

namespace compassdb {

void FileSpace::Track(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mu_);
  uint64_t& held = files_[path];
  total_ += bytes - held;
  held = bytes;
}

void FileSpace::Untrack(const std::string& path) {
  MutexLock lock(&mu_);
  const auto file = files_.find(path);
  if (file == files_.end()) return;
  total_ -= file->second;
  files_.erase(file);
}

void FileSpace::UntrackDirectory(const std::string& dir) {
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
  MutexLock lock(&mu_);
  return total_;
}

std::unordered_map<std::string, uint64_t> FileSpace::GetTrackedFiles() {
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

SstFileManager* NewSstFileManager(Env*, std::shared_ptr<FileSystem>, std::shared_ptr<Logger>,
                                  const std::string&, int64_t rate_bytes_per_sec, bool,
                                  Status* status, double max_trash_db_ratio, uint64_t) {
  if (status != nullptr) *status = Status::OK();
  return new compassdb::FileSpace(rate_bytes_per_sec, max_trash_db_ratio);
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
