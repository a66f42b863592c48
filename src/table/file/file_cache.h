// SPDX-License-Identifier: Apache-2.0
// Open compaction files and sections of pages, by number. Thread safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "table/file/compaction_file.h"
#include "table/file/table_dirs.h"
#include "table/piece/piece_meta.h"
#include "util/mutex.h"

namespace compassdb {

class FileCache {
 public:
  // How many descriptors the cache keeps. Files in use beyond that stay open until they are released.
  struct Limits {
    Limits(size_t max_open = 0, size_t held = 0)  // NOLINT: a number is the usual limit
        : most(max_open == 0 ? SIZE_MAX : max_open), held(max_open == 0 ? SIZE_MAX : held) {}
    size_t most;  // 0 in the constructor: no limit
    size_t held;  // while fewer are open, pieces hold theirs without the cache
  };
  FileCache(FileSystem* fs, std::string dir, const FileOptions& options, Limits limits);
  Status Get(uint64_t file_number, std::shared_ptr<CompactionFile>* file);
  // The same of a file that `open` opens, if it is not open.
  using Opener = std::function<Status(std::shared_ptr<CompactionFile>*)>;
  Status Get(uint64_t file_number, const Opener& open, std::shared_ptr<CompactionFile>* file);
  // The file that holds an extent and was written with `file_id`. Never NotFound, which means a missing key to the
  // callers; Corruption if the file is another one, or ends before the extent.
  Status GetExtent(const Extent& extent, uint64_t file_id, std::shared_ptr<CompactionFile>* file);
  // Null if it is not open.
  std::shared_ptr<CompactionFile> IfOpen(uint64_t file_number);
  // A file that is open already, under any name.
  void Insert(std::shared_ptr<CompactionFile> file);
  void Evict(uint64_t file_number);  // before the file is deleted
  std::string PathOf(uint64_t file_number) { return dirs_.PathOf(file_number); }
  // Where files are; `dir` at first.
  TableDirs* dirs() { return &dirs_; }
  FileSystem* fs() const { return fs_; }
  const FileOptions& options() const { return options_; }
  // Whether a piece that has just opened its file may keep it.
  bool MayHold() const { return open_.load(std::memory_order_relaxed) < held_.load(std::memory_order_relaxed); }
  // Callers that hold files between reads must release them now: half of the limit is open.
  bool scarce() const {
    const size_t most = most_.load(std::memory_order_relaxed);
    const size_t few = std::max(most - most / 2, held_.load(std::memory_order_relaxed));
    return open_.load(std::memory_order_relaxed) >= few;
  }
  // Pieces that hold their files keep them.
  void SetLimits(Limits limits);

 private:
  FileSystem* const fs_;
  TableDirs dirs_;
  const FileOptions options_;
  std::atomic<size_t> most_, held_;
  std::atomic<size_t> open_{0};  // files_.size()
  using Entries = std::list<std::shared_ptr<CompactionFile>>;
  // Keeps the one in `added`, unless there is a file of its number. Returns the kept one.
  const std::shared_ptr<CompactionFile>& Keep(Entries* added) REQUIRES(mu_);
  // Moves files above the limit (with `more` to be added) to `closed`, to be closed without the lock. Never allocates.
  void Limit(size_t more, Entries* closed) REQUIRES(mu_);

  Mutex mu_;
  Entries lru_ GUARDED_BY(mu_);  // newest first
  std::unordered_map<uint64_t, Entries::iterator> files_ GUARDED_BY(mu_);
};

}  // namespace compassdb
