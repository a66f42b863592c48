// SPDX-License-Identifier: Apache-2.0
//
// Keeps the size of a database's tables under a limit and deletes files slowly, so that the device
// is not busy with it.
//
// Thread safety: every function may be called concurrently. One object may serve several databases.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/file_system.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Env;
class Logger;

// Made by NewSstFileManager().
class SstFileManager {
 public:
  virtual ~SstFileManager() {}

  // Bytes of tables from which writes fail with SpaceLimit; 0 for no limit.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;

  // Bytes that must stay free for compactions to run.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;

  // Whether the limit is reached; whether it is when running compactions are counted.
  virtual bool IsMaxAllowedSpaceReached() = 0;
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;

  // Bytes of all tracked files; size by path.
  virtual uint64_t GetTotalSize() = 0;
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;

  // Rate of deletion; 0 for at once.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;

  // Share of bytes waiting to be deleted from which files are deleted at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;

  // Bytes waiting to be deleted.
  virtual uint64_t GetTotalTrashSize() = 0;

  // Where deletions are counted.
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// The caller owns the result. Files wait for deletion under a name that ends in ".trash" and are
// cut by bytes_max_delete_chunk at a time. trash_dir is only looked through for files that are
// left. *status, if not null, says whether that worked.
extern SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<FileSystem> fs,
    std::shared_ptr<Logger> info_log = nullptr,
    const std::string& trash_dir = "", int64_t rate_bytes_per_sec = 0,
    bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25,
    uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);

extern SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<Logger> info_log = nullptr,
    std::string trash_dir = "", int64_t rate_bytes_per_sec = 0,
    bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25,
    uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);

}  // namespace ROCKSDB_NAMESPACE
