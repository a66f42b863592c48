// SPDX-License-Identifier: Apache-2.0
// The SstFileManager of NewSstFileManager: it tracks the compaction files of the databases that
// share it, and deletes obsolete ones at a rate.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/sst_file_manager.h"
#include "services/trash_bin.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

class FileSpace final : public rocksdb::SstFileManager {
 public:
  FileSpace(std::shared_ptr<rocksdb::Logger> log, int64_t delete_rate, double trash_ratio,
            uint64_t chunk_bytes);
  COMPASSDB_DELETED_BY_ITS_PROCESS(FileSpace, process_)

  // By the databases.
  void Track(const std::string& path, uint64_t bytes);
  void Untrack(const std::string& path);
  void UntrackDirectory(const std::string& dir);
  // An obsolete file: becomes trash, to be deleted in its turn, or is deleted at once if there is no
  // rate or too much trash already.
  Status Delete(const std::shared_ptr<FileSystem>& fs, const std::string& path);
  // A file that is trash already.
  Status DeleteTrash(const std::shared_ptr<FileSystem>& fs, const std::string& path);

  void SetMaxAllowedSpaceUsage(uint64_t bytes) override { max_space_ = bytes; }
  void SetCompactionBufferSize(uint64_t bytes) override { compaction_buffer_ = bytes; }
  bool IsMaxAllowedSpaceReached() override;
  // The compaction buffer counts as used.
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  // Including trash.
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override { return delete_rate_; }
  void SetDeleteRateBytesPerSecond(int64_t rate) override;
  double GetMaxTrashDBRatio() override { return trash_ratio_; }
  void SetMaxTrashDBRatio(double ratio) override { trash_ratio_ = ratio; }
  uint64_t GetTotalTrashSize() override { return process_.Inherited() ? 0 : trash_.bytes(); }
  void SetStatisticsPtr(const std::shared_ptr<rocksdb::Statistics>& statistics) override;

 private:
  bool DeletesAtOnce();
  Status DeleteAtOnce(FileSystem* fs, const std::string& path);
  void Count(uint32_t ticker);

  // In a child of fork() its thread is missing: it knows of no files, and deletes at once.
  const ProcessMark process_;
  const std::shared_ptr<rocksdb::Logger> log_;  // may be null
  std::atomic<uint64_t> max_space_{0};
  std::atomic<uint64_t> compaction_buffer_{0};
  std::atomic<int64_t> delete_rate_;
  std::atomic<double> trash_ratio_;
  Mutex mu_;
  std::unordered_map<std::string, uint64_t> files_ GUARDED_BY(mu_);
  uint64_t total_ GUARDED_BY(mu_) = 0;
  std::shared_ptr<rocksdb::Statistics> statistics_ GUARDED_BY(mu_);
  TrashBin trash_;  // last: its thread uses the others
};

}  // namespace compassdb
