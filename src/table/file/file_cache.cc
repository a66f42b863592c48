// SPDX-License-Identifier: Apache-2.0
#include "table/file/file_cache.h"

namespace compassdb {

FileCache::FileCache(FileSystem* fs, std::string dir, const FileOptions& options, Limits limits)
    : fs_(fs), dirs_(fs, std::move(dir)), options_(options), most_(limits.most), held_(limits.held) {}

Status FileCache::Get(uint64_t file_number, std::shared_ptr<CompactionFile>* file) {
  const auto open = [this, file_number](std::shared_ptr<CompactionFile>* opened) {
    return dirs_.Explain(CompactionFile::Open(fs_, PathOf(file_number), file_number, options_, opened), file_number);
  };
  return Get(file_number, open, file);
}

Status FileCache::Get(uint64_t file_number, const Opener& open, std::shared_ptr<CompactionFile>* file) {
  Entries closed;
  {
    MutexLock lock(&mu_);
    auto it = files_.find(file_number);
    if (it != files_.end()) {
      lru_.splice(lru_.begin(), lru_, it->second);
      *file = *it->second;
      return Status::OK();
    }
    Limit(/*more=*/1, &closed);
  }
  closed.clear();
  // Opened without the lock: two threads may open one file, the first to
  // return here wins and the other's descriptor is closed.
  std::shared_ptr<CompactionFile> opened;
  Status s = open(&opened);
  if (!s.ok()) return s;
  Entries added{std::move(opened)};
  MutexLock lock(&mu_);
  *file = Keep(&added);
  Limit(/*more=*/0, &closed);  // closed without the lock
  return Status::OK();
}

Status FileCache::GetExtent(const Extent& extent, uint64_t file_id, std::shared_ptr<CompactionFile>* file) {
  const Status s = Get(extent.file_number, file);
  if (s.IsNotFound()) return Status::IOError(PathOf(extent.file_number), s.ToString());
  if (!s.ok()) return s;
  const uint64_t size = (*file)->size();
  if ((*file)->file_id() != file_id) {
    return Status::Corruption((*file)->path(), "not the file that the manifest names (file id)");
  }
  if (extent.offset > size || extent.length > size - extent.offset) {
    return Status::Corruption((*file)->path(), "extent of " + std::to_string(extent.length) + " bytes at offset " +
                                                   std::to_string(extent.offset) + " does not fit the file of " +
                                                   std::to_string(size));
  }
  return s;
}

std::shared_ptr<CompactionFile> FileCache::IfOpen(uint64_t file_number) {
  MutexLock lock(&mu_);
  const auto it = files_.find(file_number);
  return it == files_.end() ? nullptr : *it->second;
}

void FileCache::SetLimits(Limits limits) {
  Entries closed;  // outside of the lock
  MutexLock lock(&mu_);
  most_ = limits.most;
  held_ = limits.held;
  Limit(/*more=*/0, &closed);
}

void FileCache::Insert(std::shared_ptr<CompactionFile> file) {
  Entries added{std::move(file)};
  MutexLock lock(&mu_);
  Keep(&added);
}

void FileCache::Evict(uint64_t file_number) {
  Entries closed;  // outside of the lock
  MutexLock lock(&mu_);
  auto it = files_.find(file_number);
  if (it == files_.end()) return;
  closed.splice(closed.begin(), lru_, it->second);
  files_.erase(it);
  open_.store(files_.size(), std::memory_order_relaxed);
}

// The map's node is the only allocation: if it fails, nothing has changed.
const std::shared_ptr<CompactionFile>& FileCache::Keep(Entries* added) {
  auto [it, inserted] = files_.try_emplace(added->front()->file_number(), added->begin());
  if (inserted) lru_.splice(lru_.begin(), *added);
  open_.store(files_.size(), std::memory_order_relaxed);
  return *it->second;
}

void FileCache::Limit(size_t more, Entries* closed) {
  while (files_.size() + more > most_) {
    // A file that a piece or a read holds stays. Without its entry its open descriptor would not be counted.
    for (size_t i = files_.size(); i > 0 && lru_.back().use_count() > 1; --i) {
      lru_.splice(lru_.begin(), lru_, std::prev(lru_.end()));
    }
    if (lru_.empty() || lru_.back().use_count() > 1) break;
    files_.erase(lru_.back()->file_number());
    closed->splice(closed->begin(), lru_, std::prev(lru_.end()));
  }
  open_.store(files_.size(), std::memory_order_relaxed);
}

}  // namespace compassdb
