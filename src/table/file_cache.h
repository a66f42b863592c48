// SPDX-License-Identifier: Apache-2.0
// Open compaction files and sections of pages, by number. Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "table/compaction_file.h"
#include "table/piece_meta.h"
#include "table/table_dirs.h"
#include "util/mutex.h"

namespace compassdb {

class FileCache {
 public:
  // At most `max_open` descriptors are kept by the cache (0: no limit); files
  // in use beyond that stay open until they are released.
  FileCache(FileSystem* fs, std::string dir, const FileOptions& options, size_t max_open);
  Status Get(uint64_t file_number, std::shared_ptr<CompactionFile>* file);
  // The same of a file that `open` opens, if it is not open.
  using Opener = std::function<Status(std::shared_ptr<CompactionFile>*)>;
  Status Get(uint64_t file_number, const Opener& open, std::shared_ptr<CompactionFile>* file);
  // The file that holds an extent and was written with `file_id`. Never NotFound, which means something else to those
  // who look for keys; Corruption if the file is another one, or ends before the extent does.
  Status GetExtent(const Extent& extent, uint64_t file_id, std::shared_ptr<CompactionFile>* file);
  // Null where it is not open.
  std::shared_ptr<CompactionFile> IfOpen(uint64_t file_number);
  // A file that is open already, whatever its name.
  void Insert(std::shared_ptr<CompactionFile> file);
  void Evict(uint64_t file_number);  // before the file is deleted
  std::string PathOf(uint64_t file_number) { return dirs_.PathOf(file_number); }
  // Where files are; `dir` at first.
  TableDirs* dirs() { return &dirs_; }
  FileSystem* fs() const { return fs_; }
  const FileOptions& options() const { return options_; }
  // True if every open file may stay open, so that pieces may hold theirs.
  bool unlimited() const { return max_open_.load(std::memory_order_relaxed) == 0; }
  // Who holds files beyond a read is to let go of them now: half of what may be open is.
  bool scarce() const {
    const size_t most = max_open_.load(std::memory_order_relaxed);
    return most != 0 && 2 * open_.load(std::memory_order_relaxed) >= most;
  }
  // Pieces that hold their files already go on to do so.
  void SetMaxOpen(size_t max_open);

 private:
  FileSystem* const fs_;
  TableDirs dirs_;
  const FileOptions options_;
  std::atomic<size_t> max_open_;
  std::atomic<size_t> open_{0};  // files_.size()
  using Entries = std::list<std::shared_ptr<CompactionFile>>;
  // Keeps the one in `added`, unless there is a file of its number; that which is kept.
  const std::shared_ptr<CompactionFile>& Keep(Entries* added) REQUIRES(mu_);
  // Moves what is too much, where so many more are to come, to `closed`, to be closed without the lock. Never allocates.
  void Limit(size_t more, Entries* closed) REQUIRES(mu_);

  Mutex mu_;
  Entries lru_ GUARDED_BY(mu_);  // newest first
  std::unordered_map<uint64_t, Entries::iterator> files_ GUARDED_BY(mu_);
};

}  // namespace compassdb
