// SPDX-License-Identifier: Apache-2.0
#include "table/file_cache.h"

namespace compassdb {

FileCache::FileCache(FileSystem* fs, std::string dir, const FileOptions& options, size_t max_open)
    : fs_(fs), dirs_(fs, std::move(dir)), options_(options), max_open_(max_open) {}

Status FileCache::Get(uint64_t file_number, std::shared_ptr<CompactionFile>* file) {
  {
    MutexLock lock(&mu_);
    auto it = files_.find(file_number);
    if (it != files_.end()) {
      if (!unlimited()) lru_.splice(lru_.begin(), lru_, it->second.position);
      *file = it->second.file;
      return Status::OK();
    }
  }
  // Opened without the lock: two threads may open one file, the first to
  // return here wins and the other's descriptor is closed.
  std::shared_ptr<CompactionFile> opened;
  Status s =
      CompactionFile::Open(fs_, PathOf(file_number), file_number, options_, &opened);
  if (!s.ok()) return dirs_.Explain(s, file_number);
  std::shared_ptr<CompactionFile> closed;  // outside of the lock
  MutexLock lock(&mu_);
  auto [it, inserted] = files_.try_emplace(file_number);
  if (inserted) {
    lru_.push_front(file_number);
    it->second = Entry{std::move(opened), lru_.begin()};
  }
  *file = it->second.file;
  if (!unlimited() && files_.size() > max_open_) {
    auto oldest = files_.find(lru_.back());
    closed = std::move(oldest->second.file);
    files_.erase(oldest);
    lru_.pop_back();
  }
  open_.store(files_.size(), std::memory_order_relaxed);
  return Status::OK();
}

void FileCache::SetMaxOpen(size_t max_open) {
  std::vector<std::shared_ptr<CompactionFile>> closed;  // outside of the lock
  MutexLock lock(&mu_);
  max_open_ = max_open;
  while (max_open != 0 && files_.size() > max_open) {
    auto oldest = files_.find(lru_.back());
    closed.push_back(std::move(oldest->second.file));
    files_.erase(oldest);
    lru_.pop_back();
  }
  open_.store(files_.size(), std::memory_order_relaxed);
}

void FileCache::Insert(std::shared_ptr<CompactionFile> file) {
  MutexLock lock(&mu_);
  const uint64_t number = file->file_number();
  lru_.push_front(number);
  files_[number] = Entry{std::move(file), lru_.begin()};
  open_.store(files_.size(), std::memory_order_relaxed);
}

void FileCache::Evict(uint64_t file_number) {
  std::shared_ptr<CompactionFile> closed;
  MutexLock lock(&mu_);
  auto it = files_.find(file_number);
  if (it == files_.end()) return;
  closed = std::move(it->second.file);
  lru_.erase(it->second.position);
  files_.erase(it);
  open_.store(files_.size(), std::memory_order_relaxed);
}

}  // namespace compassdb
