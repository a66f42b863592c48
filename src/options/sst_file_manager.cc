// SPDX-License-Identifier: Apache-2.0
// A file manager can be made and configured, so that programs that share one
// between components keep compiling and starting; a database that is opened
// with one is refused (db_option_table.cc), as its files belong to many tables.
#include "rocksdb/sst_file_manager.h"

#include <atomic>

namespace ROCKSDB_NAMESPACE {

namespace {

class DetachedFileManager : public SstFileManager {
 public:
  DetachedFileManager(int64_t delete_rate, double trash_ratio)
      : delete_rate_(delete_rate), trash_ratio_(trash_ratio) {}
  void SetMaxAllowedSpaceUsage(uint64_t bytes) override { max_space_.store(bytes); }
  void SetCompactionBufferSize(uint64_t bytes) override { compaction_buffer_.store(bytes); }
  bool IsMaxAllowedSpaceReached() override { return false; }
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override { return false; }
  uint64_t GetTotalSize() override { return 0; }
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override { return {}; }
  int64_t GetDeleteRateBytesPerSecond() override { return delete_rate_.load(); }
  void SetDeleteRateBytesPerSecond(int64_t rate) override { delete_rate_.store(rate); }
  double GetMaxTrashDBRatio() override { return trash_ratio_.load(); }
  void SetMaxTrashDBRatio(double ratio) override { trash_ratio_.store(ratio); }
  uint64_t GetTotalTrashSize() override { return 0; }
  void SetStatisticsPtr(const std::shared_ptr<Statistics>&) override {}

 private:
  std::atomic<uint64_t> max_space_{0};
  std::atomic<uint64_t> compaction_buffer_{0};
  std::atomic<int64_t> delete_rate_;
  std::atomic<double> trash_ratio_;
};

}  // namespace

SstFileManager* NewSstFileManager(Env*, std::shared_ptr<FileSystem>, std::shared_ptr<Logger>,
                                  const std::string&, int64_t rate_bytes_per_sec, bool,
                                  Status* status, double max_trash_db_ratio, uint64_t) {
  if (status != nullptr) *status = Status::OK();
  return new DetachedFileManager(rate_bytes_per_sec, max_trash_db_ratio);
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<Logger> info_log,
                                  std::string trash_dir, int64_t rate_bytes_per_sec,
                                  bool delete_existing_trash, Status* status,
                                  double max_trash_db_ratio, uint64_t bytes_max_delete_chunk) {
  return NewSstFileManager(env, std::shared_ptr<FileSystem>(), std::move(info_log), trash_dir,
                           rate_bytes_per_sec, delete_existing_trash, status, max_trash_db_ratio,
                           bytes_max_delete_chunk);
}

}  // namespace ROCKSDB_NAMESPACE
