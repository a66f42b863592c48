// SPDX-License-Identifier: Apache-2.0
// The SstFileManager that NewSstFileManager gives: it knows the compaction files of the databases
// that share it.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <string>
#include <unordered_map>

#include "rocksdb/sst_file_manager.h"
#include "util/mutex.h"

namespace compassdb {

class FileSpace final : public rocksdb::SstFileManager {
 public:
  FileSpace(int64_t delete_rate, double trash_ratio)
      : delete_rate_(delete_rate), trash_ratio_(trash_ratio) {}

  // By the databases.
  void Track(const std::string& path, uint64_t bytes);
  void Untrack(const std::string& path);
  void UntrackDirectory(const std::string& dir);

  void SetMaxAllowedSpaceUsage(uint64_t bytes) override { max_space_ = bytes; }
  void SetCompactionBufferSize(uint64_t bytes) override { compaction_buffer_ = bytes; }
  bool IsMaxAllowedSpaceReached() override;
  // The compaction buffer counts as used.
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override { return delete_rate_; }
  void SetDeleteRateBytesPerSecond(int64_t rate) override { delete_rate_ = rate; }
  double GetMaxTrashDBRatio() override { return trash_ratio_; }
  void SetMaxTrashDBRatio(double ratio) override { trash_ratio_ = ratio; }
  uint64_t GetTotalTrashSize() override { return 0; }
  void SetStatisticsPtr(const std::shared_ptr<rocksdb::Statistics>&) override {}

 private:
  std::atomic<uint64_t> max_space_{0};
  std::atomic<uint64_t> compaction_buffer_{0};
  std::atomic<int64_t> delete_rate_;
  std::atomic<double> trash_ratio_;
  Mutex mu_;
  std::unordered_map<std::string, uint64_t> files_ GUARDED_BY(mu_);
  uint64_t total_ GUARDED_BY(mu_) = 0;
};

}  // namespace compassdb
